import CDispatch
import Foundation

// Checks that work runs on the right queue.
extension ConcurrencyDebug {
    /// Stops the program if the calling thread does not run work of the object's context.
    static func check(_ object: NSManagedObject, slot: Int) {
        guard let context = object.registeredContext, !context.isOnQueue else { return }
        let property = slot >= 0 && slot < object.layout.slots.count ? ".\(object.layout.slots[slot].name)" : ""
        stop("\(object.layout.name)\(property) of \(object.descriptionOfIdentity)", context)
    }

    /// Stops the program if the calling thread does not run work of the context.
    static func check(_ context: NSManagedObjectContext, _ action: String) {
        if isOn { requireQueue(of: context, action) }
    }

    /// Stops the program, also with the checks off, if the calling thread does not run work of the
    /// context.
    static func requireQueue(of context: NSManagedObjectContext, _ action: String) {
        if context.isOnQueue { return }
        stop("A context that was asked to \(action)", context)
    }

    private static func stop(_ subject: String, _ context: NSManagedObjectContext) -> Never {
        let isMain = context.concurrencyType == .mainQueueConcurrencyType
        // Optimized code prints this message, too, unlike the message of a failed precondition.
        fatalError(
            "Concurrency violation: \(subject) belongs to the \(isMain ? "main" : "private") queue of the context"
                + "\(context.nameInMessages), but was used on \(currentPlace). Use it within perform or "
                + "performAndWait of its "
                + "context. Called by:\n" + callers.joined(separator: "\n"))
    }

    private static var currentPlace: String {
        if let other = CurrentContext.innermost { return "the queue of another context\(other.nameInMessages)" }
        if Thread.isMainThread { return "the main thread" }
        if let queueName { return "the queue '\(queueName)'" }
        let name = Thread.current.name.flatMap { $0.isEmpty ? nil : "the thread '\($0)'" }
        return name ?? "a thread that runs no work of a context"
    }

    /// The label of the dispatch queue that the thread works for; nil for other threads.
    private static var queueName: String? {
        let label = String(cString: CDispatch.dispatch_queue_get_label(nil))
        // Dispatch names this queue on threads that are not its own.
        return label.isEmpty || label == "com.apple.root.default-qos.overcommit" ? nil : label
    }

    /// The innermost frames outside the framework.
    private static var callers: [String] {
        // The mangled names of this module begin with its name and the length of the name.
        let frames = Thread.callStackSymbols.filter { !$0.contains("$s8CoreData") }
        return Array(frames.prefix(6))
    }
}
