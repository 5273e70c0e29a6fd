extension NSPersistentStore {
    /// The kinds of stores a coordinator can open.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstore/storetype>
    ///
    /// ```swift
    /// try coordinator.addPersistentStore(type: .inMemory, at: url)
    /// let list = NSPersistentStore.StoreType(rawValue: "List")
    /// ```
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        /// A type of the application's own: see
        /// `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A SQLite database: reads and writes single rows.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// Nothing on disk; the data lives as long as the store.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// One binary file, which is read when the store is added and written anew by each save.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// One XML file, which is read when the store is added and written anew by each save.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }
}
