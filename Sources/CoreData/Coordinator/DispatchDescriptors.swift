import Dispatch
import Foundation
import Synchronization

/// The file descriptors that Dispatch opens for its threads, timers and main queue when each is
/// first used.
///
/// Dispatch ends the process if it can open none. So stores make it open them while some are left.
enum DispatchDescriptors {
    private static let areOpen = Mutex(false)
    /// A number greater than that of the descriptors that Dispatch opens.
    private static let count = 8

    /// Makes Dispatch open its descriptors, once in a process. Takes about a millisecond.
    ///
    /// - Throws: the failure of the system if too few descriptors are left.
    static func open() throws(SystemFailure) {
        let failure = areOpen.withLock { areOpen -> SystemFailure? in
            if areOpen { return nil }
            let descriptors = (0..<count).map { _ in Foundation.open("/dev/null", O_RDONLY | O_CLOEXEC) }
            let failure = descriptors.contains(-1) ? SystemFailure() : nil
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            if failure != nil { return failure }
            let group = DispatchGroup()
            group.enter()
            DispatchQueue.main.async {}
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(1)) { group.leave() }
            // The wait has a limit, because all threads of Dispatch may be waiting.
            _ = group.wait(timeout: .now() + 1)
            areOpen = true
            return nil
        }
        if let failure { throw failure }
    }
}
