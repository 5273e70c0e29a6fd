/// How a context's work is scheduled.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue; for code that predates queues.
    @available(*, deprecated, message: "Use a queue")
    case confinementConcurrencyType = 0
    /// A private serial queue.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
    /// How a context's work is scheduled.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private serial queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When an asynchronous block runs.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already, else like `enqueued`.
        case immediate
        /// After the blocks enqueued before.
        case enqueued
    }
}
