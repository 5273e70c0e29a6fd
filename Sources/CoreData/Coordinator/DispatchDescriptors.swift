import Dispatch
import Foundation
import Synchronization

/// The file descriptors that Dispatch opens for its threads, timers and main queue when each is first used.
///
/// Dispatch ends the process where it can open none. So stores have it open them while there are some.
enum DispatchDescriptors {
    private static let areOpen = Mutex(false)
    /// More than Dispatch opens.
    private static let count = 8

    /// Has Dispatch open its descriptors, once in a process. Takes about a millisecond.
    ///
    /// - Throws: the failure of the system where there are too few left.
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
            // All threads of Dispatch may be waiting.
            _ = group.wait(timeout: .now() + 1)
            areOpen = true
            return nil
        }
        if let failure { throw failure }
    }
}
