/// The location of a stack's store.
///
/// ```swift
/// let stack = DataStack(entities: Item.self, store: .file(URL(fileURLWithPath: "Shop.sqlite")))
/// let test = DataStack(entities: Item.self, store: .inMemory)
/// let shared = DataStack(
///     entities: Item.self, store: .postgreSQL(URL(string: "postgresql://app@db.example/shop")!))
/// ```
public enum StoreLocation: Hashable, Sendable {
    /// In memory: the objects are lost when the stack is closed.
    case inMemory
    /// In a SQLite file. The file and its directory are created if they do not exist.
    ///
    /// The stack merges changes that other programs save there: views, sequences of results and
    /// their observers follow them (``DataStackOptions/followsOtherPrograms``).
    case file(URL)
    /// In a schema of a PostgreSQL database, which is created if it does not exist. The program
    /// needs the product `CoreDataPostgreSQL`.
    ///
    /// The stack merges changes that other programs save there: views, sequences of results and
    /// their observers follow them (``DataStackOptions/followsOtherPrograms``).
    case postgreSQL(URL)

    /// The URL of the store, including the password if it was given one; nil in memory.
    public var url: URL? {
        switch self {
        case .inMemory: nil
        case .file(let url), .postgreSQL(let url): url
        }
    }
}

/// Options for opening and writing the store of a stack.
///
/// ```swift
/// var options = DataStackOptions()
/// options.tracksHistory = true
/// let stack = DataStack(entities: Item.self, store: .file(url), options: options)
/// ```
public struct DataStackOptions: Sendable {
    /// Whether a store of another version of the model is migrated when it is opened, with an
    /// inferred mapping.
    ///
    /// True by default. During the migration the stack's state is `migrating`, and requests wait.
    /// If the store cannot be migrated, every caller gets the error with the reason, and the store
    /// stays unchanged.
    ///
    /// ```swift
    /// options.migratesAutomatically = false  // requests get 134100 for a store of another version
    /// ```
    public var migratesAutomatically = true
    /// The model configuration whose entities the store holds; nil for all.
    public var configuration: String?
    /// Whether every save is recorded in the store's persistent history. A store that already has a
    /// history is always recorded, so that the history has no gap.
    public var tracksHistory = false
    /// How much of the history is kept, where there is one; nil for everything.
    ///
    /// By default a month, and at most 100,000 transactions; what a named reader has not read
    /// stays.
    ///
    /// ```swift
    /// options.historyRetention = HistoryRetention(maximumAge: 7 * 24 * 3600)
    /// ```
    public var historyRetention: HistoryRetention? = HistoryRetention(
        maximumAge: 30 * 24 * 3600, maximumCount: 100_000)
    /// Whether views and sequences follow what other programs, and other stacks of this program,
    /// save to the store.
    ///
    /// True by default. If false, they show such changes after ``DataStack/refresh()``, and loops
    /// over the history read only what was committed before they began.
    ///
    /// ```swift
    /// options.followsOtherPrograms = false  // a tool that is the only one to write
    /// ```
    public var followsOtherPrograms = true
    /// The merge policy for conflicts of a write with changes that were saved to the same file
    /// meanwhile. By default the error policy: the write throws.
    ///
    /// ```swift
    /// options.mergePolicy = .mergeByPropertyObjectTrump       // what the write has changed wins
    /// ```
    public var mergePolicy: NSMergePolicy = .error

    /// Returns the password for each connection to a PostgreSQL database, if the URL, a password
    /// file or the environment do not have it; nil for none. Called on any thread.
    ///
    /// ```swift
    /// options.password = { try vault.token(for: "shop") }     // one that expires, for instance
    /// ```
    public var password: (@Sendable () throws -> String)?

    /// The greatest number of open connections to the store, one of which is for writing. Nil means
    /// 8 for a PostgreSQL database, and no limit for a file. Without a limit, as many queries of a
    /// file run at once as there are processors, at least 4.
    ///
    /// ```swift
    /// options.maximumConnections = 17                         // 16 queries beside a write
    /// ```
    public var maximumConnections: Int?

    /// Creates options that migrate, begin no history and throw on conflicts.
    public init() {}

    func description(of location: StoreLocation) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription()
        description.url = location.url
        switch location {
        case .inMemory: description.type = NSInMemoryStoreType
        case .file: description.type = NSSQLiteStoreType
        case .postgreSQL:
            description.type = "PostgreSQL"
            if let password { description.setOption(PasswordClosure(password), forKey: PasswordClosure.option) }
        }
        description.setOption(
            NSNumber(value: followsOtherPrograms), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        if let maximumConnections, location != .inMemory {
            description.setOption(
                NSNumber(value: maximumConnections), forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        }
        description.configuration = configuration
        description.shouldMigrateStoreAutomatically = migratesAutomatically
        description.shouldInferMappingModelAutomatically = migratesAutomatically
        let history = tracksHistory ? NSPersistentHistoryTrackingKey : HistoryTracking.continuingOption
        description.setOption(NSNumber(value: true), forKey: history)
        description.historyRetention = historyRetention
        return description
    }
}
