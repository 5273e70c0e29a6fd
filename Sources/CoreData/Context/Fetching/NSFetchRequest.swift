import Foundation
import Synchronization

/// A result of a fetch: a managed object, an object ID, a dictionary or a number.
///
/// ```swift
/// // of any kind of result
/// let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
/// ```
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of the results of a fetch.
///
/// ```swift
/// let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
/// request.resultType = .managedObjectIDResultType
/// let ids = try context.fetch(request)                    // reads no other column
/// ```
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Managed objects.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// Object IDs.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of the values in `propertiesToFetch`.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// The number of matches.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A description of what to fetch: entity, predicate, order, range and form of the results.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsfetchrequest>
///
/// ```swift
/// let request = NSFetchRequest<Item>(entityName: "Item")
/// request.predicate = NSPredicate(format: "supplier.name == %@", "Smith")
/// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
/// request.fetchLimit = 20
/// let items = try context.fetch(request)
/// ```
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    // `ResultType` has no constraint, because off Apple's platforms `any NSFetchRequestResult` does
    // not conform to its own protocol, and `NSFetchRequest<NSFetchRequestResult>` must be a type.

    private let storage: FetchRequestStorage

    /// All settings but the entity.
    final var settings: FetchSettings {
        get { storage.settings }
        set { storage.settings = newValue }
    }

    /// A request without an entity, which is set before it is executed.
    public required init() {
        storage = FetchRequestStorage()
        super.init()
    }

    /// A request for an entity by name; the name is looked up when the request is executed.
    ///
    /// ```swift
    /// // a wrong name is an error of the fetch
    /// let request = NSFetchRequest<Item>(entityName: "Item")
    /// ```
    public init(entityName: String) {
        storage = FetchRequestStorage()
        storage.entityName = entityName
        super.init()
    }

    /// A form of a request for another result type, which reads and writes the same settings.
    init<Other>(sharing original: NSFetchRequest<Other>) {
        storage = original.storage
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    open override var affectedStores: [NSPersistentStore]? {
        get { storage.settings.affectedStores as? [NSPersistentStore] }
        set { storage.settings.affectedStores = newValue }
    }

    /// The entity whose objects are fetched. Setting it replaces a name that was given before.
    ///
    /// A request that was made with a name has no entity until a context executes it.
    open var entity: NSEntityDescription? {
        get { storage.entity ?? storage.foundEntity.withLock { $0 } }
        set {
            storage.entity = newValue
            storage.foundEntity.withLock { $0 = nil }
            if newValue != nil { storage.entityName = nil }
        }
    }

    /// The name of the entity.
    open var entityName: String? { storage.entityName ?? entity?.name }

    final func setEntityName(_ name: String) { storage.entityName = name }

    /// Notes the entity that a context has found for the name. The name stays: another context may
    /// find another entity.
    final func noteEntity(_ entity: NSEntityDescription) {
        if storage.entityName != nil { storage.foundEntity.withLock { $0 = entity } }
    }

    /// Which objects match; nil for all.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(
    ///     format: "stockCount < %d AND supplier.name == %@", 5, "Smith")
    /// ```
    open var predicate: NSPredicate? {
        get { storage.settings.predicate }
        set { storage.settings.predicate = newValue }
    }
    /// The order of the results.
    ///
    /// ```swift
    /// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    /// ```
    open var sortDescriptors: [NSSortDescriptor]? {
        get { storage.settings.sortDescriptors }
        set { storage.settings.sortDescriptors = newValue }
    }
    /// The greatest number of results; 0 for all.
    open var fetchLimit: Int {
        get { storage.settings.fetchLimit }
        set { storage.settings.fetchLimit = newValue }
    }
    /// How many matches to skip.
    ///
    /// ```swift
    /// request.fetchOffset = 40                                // the third page
    /// request.fetchLimit = 20
    /// ```
    open var fetchOffset: Int {
        get { storage.settings.fetchOffset }
        set { storage.settings.fetchOffset = newValue }
    }
    /// How many rows to load at a time; 0 for all at once.
    ///
    /// With a size, the fetch reads only the identities of its matches, and gives faults. The first
    /// fault that is used loads its row together with those of its neighbours in the result. Rows
    /// that were loaded some batches ago are dropped again when nothing but the fetched array
    /// refers to their objects, which turn into faults. Stores that keep their rows in memory, and
    /// sorted fetches from several stores, ignore the size.
    ///
    /// ```swift
    /// request.fetchBatchSize = 50
    /// for item in try context.fetch(request) { print(item.name) }     // one statement for each 50
    /// ```
    open var fetchBatchSize: Int {
        get { storage.settings.fetchBatchSize }
        set { storage.settings.fetchBatchSize = newValue }
    }
    /// The form of the results.
    open var resultType: NSFetchRequestResultType {
        get { NSFetchRequestResultType(rawValue: storage.settings.resultType) }
        set { storage.settings.resultType = newValue.rawValue }
    }
    /// Whether objects of subentities match too.
    open var includesSubentities: Bool {
        get { storage.settings.includesSubentities }
        set { storage.settings.includesSubentities = newValue }
    }
    /// Whether unsaved changes of the context count.
    ///
    /// ```swift
    /// request.includesPendingChanges = false      // stored rows, without this context's changes
    /// ```
    open var includesPendingChanges: Bool {
        get { storage.settings.includesPendingChanges }
        set { storage.settings.includesPendingChanges = newValue }
    }
    /// Whether rows are read with the fetch; otherwise only IDs are.
    open var includesPropertyValues: Bool {
        get { storage.settings.includesPropertyValues }
        set { storage.settings.includesPropertyValues = newValue }
    }
    /// Whether objects come as faults whose rows are cached, or loaded.
    ///
    /// ```swift
    /// request.returnsObjectsAsFaults = false      // for results that are all used at once
    /// ```
    open var returnsObjectsAsFaults: Bool {
        get { storage.settings.returnsObjectsAsFaults }
        set { storage.settings.returnsObjectsAsFaults = newValue }
    }
    /// Whether objects that are loaded already and have no changes adopt the fetched values.
    open var shouldRefreshRefetchedObjects: Bool {
        get { storage.settings.shouldRefreshRefetchedObjects }
        set { storage.settings.shouldRefreshRefetchedObjects = newValue }
    }
    /// Relationships to load together with the results, as key paths.
    ///
    /// ```swift
    /// // one statement for each
    /// request.relationshipKeyPathsForPrefetching = ["supplier", "supplier.address"]
    /// ```
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { storage.settings.relationshipKeyPathsForPrefetching }
        set { storage.settings.relationshipKeyPathsForPrefetching = newValue }
    }
    /// Properties of dictionary results: names or descriptions, attributes, to-one relationships
    /// and expressions.
    ///
    /// A fetch for objects reads all of their properties, whatever is listed here. None of them is
    /// left to be read later. Once the entity is known, the names of its properties read as their
    /// descriptions.
    ///
    /// Aggregates such as `sum:` alone give one dictionary. Beside other columns, and without
    /// ``propertiesToGroupBy``, there is one dictionary for each object. It contains the aggregate
    /// over all objects that match the predicate, whatever the limit. The store gets two requests
    /// for this.
    ///
    /// ```swift
    /// let request = NSFetchRequest<NSDictionary>(entityName: "Item")
    /// request.resultType = .dictionaryResultType
    /// request.propertiesToFetch = ["name", "supplier.name"]
    /// let names = try context.fetch(request).map { $0["name"] as? String }
    /// ```
    open var propertiesToFetch: [Any]? {
        get { described(storage.settings.propertiesToFetch) }
        set { storage.settings.propertiesToFetch = newValue }
    }
    /// Properties that dictionary results are grouped by.
    ///
    /// The other columns are then aggregates. An aggregate over a relationship, such as
    /// `books.@count`, covers all objects of the group; averages over relationships are refused.
    /// Names read as descriptions, as in ``propertiesToFetch``.
    ///
    /// ```swift
    /// request.resultType = .dictionaryResultType
    /// request.propertiesToGroupBy = ["supplier.name"]
    /// // total: an NSExpressionDescription of sum:
    /// request.propertiesToFetch = ["supplier.name", total]
    /// ```
    open var propertiesToGroupBy: [Any]? {
        get { described(storage.settings.propertiesToGroupBy) }
        set { storage.settings.propertiesToGroupBy = newValue }
    }

    /// Returns the properties with descriptions in place of names that the entity has.
    private func described(_ properties: [Any]?) -> [Any]? {
        guard let properties, !properties.isEmpty, let entity else { return properties }
        return properties.map { ($0 as? String).flatMap { entity.propertiesByName[$0] } ?? $0 }
    }

    /// The condition for the groups to keep; nil for all.
    open var havingPredicate: NSPredicate? {
        get { storage.settings.havingPredicate }
        set { storage.settings.havingPredicate = newValue }
    }
    /// Whether equal dictionaries are given once.
    ///
    /// ```swift
    /// request.resultType = .dictionaryResultType
    /// request.propertiesToFetch = ["supplier.name"]
    /// request.returnsDistinctResults = true
    /// ```
    open var returnsDistinctResults: Bool {
        get { storage.settings.returnsDistinctResults }
        set { storage.settings.returnsDistinctResults = newValue }
    }

    /// Executes the request in the context whose `perform` block is running.
    ///
    /// ```swift
    /// let names = try await context.perform {
    ///     try NSFetchRequest<Item>(entityName: "Item").execute().map(\.name)
    /// }
    /// ```
    ///
    /// - Throws: the errors of the fetch, and code 134060 outside of such a block.
    open func execute() throws -> [ResultType] {
        guard let context = CurrentContext.innermost else {
            throw CoreDataErrors.noCurrentContext()
        }
        return try context.fetch(self)
    }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let request = NSAsynchronousFetchRequest(fetchRequest: self)
        let result = NSAsynchronousFetchResult(request, context: context, progress: nil)
        result.finish(with: try context.fetch(self))
        return result
    }

    override func answer(for context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let copy = copy as? NSFetchRequest<ResultType> { copyValues(to: copy) }
        return copy
    }

    /// Copies the settings to another request, of any result type.
    final func copyValues<Other>(to copy: NSFetchRequest<Other>) {
        copy.settings = settings
        copy.storage.entityName = storage.entityName
        copy.storage.entity = storage.entity
        let found = storage.foundEntity.withLock { $0 }
        copy.storage.foundEntity.withLock { $0 = found }
    }

    // MARK: - Equality

    /// Whether the other request has the same settings: the same objects in the same order and
    /// form.
    ///
    /// The result types of the two requests may differ.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? any AnyFetchRequest else { return false }
        return self === other || entityName == other.entityName && settings == other.settings
    }

    // The hash covers the entity alone: all other settings may change.
    open override var hash: Int { entityName?.hashValue ?? 0 }

    open override var description: String {
        var text =
            "<NSFetchRequest> (entity: \(entityName ?? "none"); predicate: (\(predicate?.predicateFormat ?? "none"))"
        if let sortDescriptors, !sortDescriptors.isEmpty { text += "; sort: \(sortDescriptors)" }
        if fetchLimit > 0 { text += "; limit: \(fetchLimit)" }
        if fetchOffset > 0 { text += "; offset: \(fetchOffset)" }
        return text + ")"
    }
}

/// A fetch request of any result type.
private protocol AnyFetchRequest: AnyObject {
    var entityName: String? { get }
    var settings: FetchSettings { get }
}

extension NSFetchRequest: AnyFetchRequest {}

/// The settings of a request, shared by its forms for other result types.
private final class FetchRequestStorage {
    var settings = FetchSettings()
    var entityName: String?
    var entity: NSEntityDescription?
    /// The entity that a context has found for the name. Guarded, because contexts on several
    /// threads may share a request that nobody changes.
    let foundEntity = Mutex<NSEntityDescription?>(nil)
}
