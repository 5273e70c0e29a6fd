extension NSManagedObjectContext {
    /// Creates a context that works on the main queue or on a private one.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// The kind of queue that runs a context's work.
    ///
    /// ```swift
    /// let context = NSManagedObjectContext(.privateQueue)
    /// ```
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private serial queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }
}
