import Foundation

/// Checks that objects and contexts are used on the queues they belong to.
///
/// They are on if the program starts with `OPENCOREDATA_CONCURRENCY_DEBUG=1` in its environment, or
/// with the arguments `-com.apple.CoreData.ConcurrencyDebug 1`. A wrong use stops the program with
/// a message that names the object, the queue it belongs to, and the caller. If they are off they
/// cost nothing: only when they are on do objects carry a flag that sends each access to the check.
enum ConcurrencyDebug {
    static let isOn =
        LaunchSetting(variable: "OPENCOREDATA_CONCURRENCY_DEBUG", argument: "-com.apple.CoreData.ConcurrencyDebug")
        .text(CommandLine.arguments, ProcessInfo.processInfo.environment).map(isYes) ?? false

    private static func isYes(_ text: String) -> Bool { !["", "0", "no", "false"].contains(text.lowercased()) }
}
