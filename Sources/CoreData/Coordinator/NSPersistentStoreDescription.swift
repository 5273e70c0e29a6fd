import Foundation

/// The settings of one store, with which a container or coordinator adds it.
///
/// A new description is for a SQLite store that is writable, added synchronously, and migrated
/// automatically with an inferred mapping model.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstoredescription>
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: url)
/// description.isReadOnly = true
/// container.persistentStoreDescriptions = [description]
/// ```
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The store's type: `NSSQLiteStoreType` by default.
    ///
    /// For a description that was created with a URL of the scheme `postgresql` it is the type of
    /// PostgreSQL stores.
    open var type = NSSQLiteStoreType

    /// The model configuration whose entities the store holds; nil for all.
    ///
    /// ```swift
    /// let shop = NSPersistentStoreDescription(url: shopURL)
    /// let cache = NSPersistentStoreDescription(url: cacheURL)
    /// // two stores share the entities of the model
    /// shop.configuration = "Shop"
    /// cache.configuration = "Cache"
    /// container.persistentStoreDescriptions = [shop, cache]
    /// ```
    open var configuration: String?

    /// The URL of the store; `/dev/null` for a new description.
    ///
    /// A SQLite store at `/dev/null` is in memory. Stores without a file take a URL of their own,
    /// as they do for nil.
    ///
    /// ```swift
    /// // for tests: nothing is left on the disk
    /// container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
    /// ```
    open var url: URL? = URL(fileURLWithPath: SQLiteStore.nullDevice)

    /// The options the store will be added with.
    open private(set) var options: [String: NSObject] = [:]

    /// Whether `loadPersistentStores` returns before the store is added. False by default.
    ///
    /// ```swift
    /// // the completion handler is called on a background queue
    /// description.shouldAddStoreAsynchronously = true
    /// ```
    open var shouldAddStoreAsynchronously = false

    /// Called while the store is migrated, with the fraction that is done.
    ///
    /// The fraction is 0 first, never less than before, and 1 at last. The handler is nil unless
    /// set, and is not called when the store needs no migration.
    ///
    /// It is called on the thread that adds the store, which waits for it. It must not use the
    /// coordinator. Core Data has no such property.
    ///
    /// ```swift
    /// description.migrationProgressHandler = { fraction in
    ///     print("\(Int(fraction * 100)) per cent")
    /// }
    /// ```
    public final var migrationProgressHandler: (@Sendable (_ fractionCompleted: Double) -> Void)?

    /// A description of the store at a URL.
    ///
    /// ```swift
    /// let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "Shop.sqlite"))
    /// ```
    public init(url: URL) {
        self.url = url
        super.init()
        type = StoreTypeRegistry.type(of: url)
        setDefaultOptions()
    }

    /// A description of a store at `/dev/null`: in memory, until it is given another URL.
    public required override init() {
        super.init()
        setDefaultOptions()
    }

    /// A description of the store at a URL.
    public class func persistentStoreDescription(with url: URL) -> Self {
        let description = self.init()
        description.url = url
        description.type = StoreTypeRegistry.type(of: url)
        return description
    }

    private func setDefaultOptions() {
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    // MARK: - Options

    /// Sets an option of the store; nil removes it.
    ///
    /// ```swift
    /// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    /// ```
    open func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    /// Whether saves of changes to the store are refused: `NSReadOnlyPersistentStoreOption`.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setFlag(NSReadOnlyPersistentStoreOption, newValue) }
    }

    /// The number of seconds to wait for a locked store: `NSPersistentStoreTimeoutOption`.
    ///
    /// Reads as 240 until it is set; a SQLite store waits 60 seconds until then.
    ///
    /// ```swift
    /// description.timeout = 5     // a save throws when others hold the lock for longer
    /// ```
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// Whether a store of another version of the model is migrated:
    /// `NSMigratePersistentStoresAutomaticallyOption`.
    ///
    /// ```swift
    /// // a store of another version is refused (134100)
    /// description.shouldMigrateStoreAutomatically = false
    /// ```
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setFlag(NSMigratePersistentStoresAutomaticallyOption, newValue) }
    }

    /// Whether a missing mapping model is inferred: `NSInferMappingModelAutomaticallyOption`.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setFlag(NSInferMappingModelAutomaticallyOption, newValue) }
    }

    /// How much of the store's persistent history is kept; nil to keep everything. Core Data has no
    /// such property.
    ///
    /// It counts for a store that is added with `NSPersistentHistoryTrackingKey`.
    ///
    /// ```swift
    /// description.historyRetention = HistoryRetention(maximumAge: 30 * 24 * 3600)
    /// ```
    public final var historyRetention: HistoryRetention? {
        get { (options[HistoryRetention.option] as? HistoryRetentionOption)?.retention }
        set { setOption(newValue.map(HistoryRetentionOption.init), forKey: HistoryRetention.option) }
    }

    /// The pragmas for the connections of a SQLite store: `NSSQLitePragmasOption`.
    open var sqlitePragmas: [String: NSObject] {
        guard let pragmas = options[NSSQLitePragmasOption] as? NSDictionary else { return [:] }
        var result: [String: NSObject] = [:]
        for (name, value) in pragmas {
            guard let name = name as? String else { continue }
            result[name] = Self.boxed(value)
        }
        return result
    }

    /// Sets a pragma for the connections of a SQLite store; nil removes it. SQLite takes all values
    /// as text.
    ///
    /// ```swift
    /// description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
    /// ```
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        let dictionary = NSMutableDictionary()
        for (name, value) in pragmas { dictionary.setObject(value, forKey: NSString(string: name)) }
        setOption(pragmas.isEmpty ? nil : dictionary, forKey: NSSQLitePragmasOption)
    }

    private func flag(_ key: String) -> Bool { NSPersistentStore.flag(options, key) }

    private func setFlag(_ key: String, _ value: Bool) {
        setOption(NSNumber(value: value), forKey: key)
    }

    private static func boxed(_ value: Any) -> NSObject {
        switch value {
        case let string as String: NSString(string: string)
        case let object as NSObject: object
        default: NSString(string: "\(value)")
        }
    }

    // MARK: - Copying and comparing

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.migrationProgressHandler = migrationProgressHandler
        return copy
    }

    /// Descriptions are equal when they describe the same store with the same options.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return type == other.type && configuration == other.configuration && url == other.url
            && options == other.options && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(url)
        return hasher.finalize()
    }

    open override var description: String {
        "<\(Swift.type(of: self)): \(type) store at \(url?.withoutPassword.absoluteString ?? "no URL")"
            + (configuration.map { ", configuration \($0)" } ?? "") + ">"
    }
}

extension NSPersistentStoreDescription {
    /// Creates the directory of the store's file. Without it a first start would fail.
    ///
    /// - Throws: a `CocoaError` that names the store.
    package func makeDirectory() throws {
        guard let url, !isReadOnly, StoreFiles.hasFile(ofType: type, at: url) else { return }
        let directory = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            var userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
            userInfo[NSUnderlyingErrorKey] = error
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "The store \(StoreName.text(type: type, url: url)) cannot be opened: its directory cannot be made: "
                    + (error as NSError).localizedDescription,
                recovery: "Choose another directory, or make this one writable.", userInfo: userInfo)
        }
    }
}
