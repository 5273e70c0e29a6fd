import Foundation

/// Checks that objects and contexts are used on the queues they belong to.
///
/// They are on if the program starts with `OPENCOREDATA_CONCURRENCY_DEBUG=1` in its environment, or
/// with the arguments `-com.apple.CoreData.ConcurrencyDebug 1`. A wrong use stops the program with
/// a message that names the object, the queue it belongs to, and the caller. If they are off they
/// cost nothing: only when they are on do objects carry a flag that sends each access to the check.
enum ConcurrencyDebug {
    static let isOn: Bool = {
        if let value = ProcessInfo.processInfo.environment["OPENCOREDATA_CONCURRENCY_DEBUG"] { return isYes(value) }
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), index + 1 < arguments.count
        else {
            return false
        }
        return isYes(arguments[index + 1])
    }()

    private static func isYes(_ text: String) -> Bool { !["", "0", "no", "false"].contains(text.lowercased()) }
}
