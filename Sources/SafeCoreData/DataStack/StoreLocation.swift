/// Where a stack keeps its objects.
///
/// ```swift
/// let stack = DataStack(entities: Item.self, store: .file(URL(fileURLWithPath: "Shop.sqlite")))
/// let test = DataStack(entities: Item.self, store: .inMemory)
/// let shared = DataStack(entities: Item.self, store: .postgreSQL(URL(string: "postgresql://app@db.example/shop")!))
/// ```
public enum StoreLocation: Hashable, Sendable {
    /// In memory: gone when the stack is closed.
    case inMemory
    /// In a SQLite file, which is made with its directory when there is none.
    case file(URL)
    /// In a schema of a PostgreSQL database, which is made when there is none. The program needs the product `CoreDataPostgreSQL`.
    ///
    /// The stack follows what other programs save there: views, sequences of results and their observers change with it.
    case postgreSQL(URL)

    /// The place of the store, with a password if it was given one; nil in memory.
    public var url: URL? {
        switch self {
        case .inMemory: nil
        case .file(let url), .postgreSQL(let url): url
        }
    }
}

/// How a stack opens its store.
///
/// ```swift
/// var options = DataStackOptions()
/// options.tracksHistory = true
/// let stack = DataStack(entities: Item.self, store: .file(url), options: options)
/// ```
public struct DataStackOptions: Sendable {
    /// Whether a store made with another version of the model is migrated when it is opened, with a mapping that is inferred.
    ///
    /// True by default. The stack's state is `migrating` meanwhile, and requests wait. Where the store cannot be migrated, every
    /// caller gets the error that says why, and the store stays as it was.
    ///
    /// ```swift
    /// options.migratesAutomatically = false                   // requests get 134100 for a store of another version
    /// ```
    public var migratesAutomatically = true
    /// The model configuration whose entities the store holds; nil for all.
    public var configuration: String?
    /// Whether every save is recorded in the store's persistent history. A store that has history is recorded in any case, so that
    /// the history gets no gap.
    public var tracksHistory = false
    /// How a write resolves conflicts with what others saved to the same file meanwhile. The error policy by default: the
    /// write throws.
    ///
    /// ```swift
    /// options.mergePolicy = .mergeByPropertyObjectTrump       // what the write has changed wins
    /// ```
    public var mergePolicy: NSMergePolicy = .error

    /// Gives the password of each connection to a PostgreSQL database, where the URL, a password file or the environment do not; nil for
    /// none. Called on any thread.
    ///
    /// ```swift
    /// options.password = { try vault.token(for: "shop") }     // one that expires, for instance
    /// ```
    public var password: (@Sendable () throws -> String)?

    /// How many connections to the store are open at once at most, of which one is for writing; nil for 8 to a PostgreSQL database, and for as
    /// many to a file as are used. Without a limit 8 queries of a file run at once.
    ///
    /// ```swift
    /// options.maximumConnections = 17                         // 16 queries beside a write
    /// ```
    public var maximumConnections: Int?

    /// Options that migrate, record no history and throw on conflicts.
    public init() {}

    func description(of location: StoreLocation) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription()
        description.url = location.url
        switch location {
        case .inMemory: description.type = NSInMemoryStoreType
        case .file: description.type = NSSQLiteStoreType
        case .postgreSQL:
            description.type = "PostgreSQL"
            description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            if let password { description.setOption(PasswordClosure(password), forKey: PasswordClosure.option) }
        }
        if let maximumConnections, location != .inMemory {
            description.setOption(NSNumber(value: maximumConnections), forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        }
        description.configuration = configuration
        description.shouldMigrateStoreAutomatically = migratesAutomatically
        description.shouldInferMappingModelAutomatically = migratesAutomatically
        let history = tracksHistory ? NSPersistentHistoryTrackingKey : HistoryTracking.continuingOption
        description.setOption(NSNumber(value: true), forKey: history)
        return description
    }
}
