/// The kind of queue that runs a context's work.
///
/// ```swift
/// let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
/// context.persistentStoreCoordinator = container.persistentStoreCoordinator
/// ```
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue; for code that was written before contexts had queues.
    @available(*, deprecated, message: "Use a queue")
    case confinementConcurrencyType = 0
    /// A private serial queue.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}
