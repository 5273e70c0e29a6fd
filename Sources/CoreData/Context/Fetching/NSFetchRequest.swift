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

    private var givenEntityName: String?
    private var givenEntity: NSEntityDescription?
    /// The entity that a context has found for the name. Guarded, because contexts on several
    /// threads may share a request that nobody changes.
    private let foundEntity = Mutex<NSEntityDescription?>(nil)

    /// A request without an entity, which is set before it is executed.
    public required init() { super.init() }

    /// A request for an entity by name; the name is looked up when the request is executed.
    ///
    /// ```swift
    /// // a wrong name is an error of the fetch
    /// let request = NSFetchRequest<Item>(entityName: "Item")
    /// ```
    public init(entityName: String) {
        givenEntityName = entityName
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The entity whose objects are fetched. Setting it replaces a name that was given before.
    ///
    /// A request that was made with a name has no entity until a context executes it.
    open var entity: NSEntityDescription? {
        get { givenEntity ?? foundEntity.withLock { $0 } }
        set {
            givenEntity = newValue
            foundEntity.withLock { $0 = nil }
            if newValue != nil { givenEntityName = nil }
        }
    }

    /// The name of the entity.
    open var entityName: String? { givenEntityName ?? entity?.name }

    func setEntityName(_ name: String) { givenEntityName = name }

    /// Notes the entity that a context has found for the name. The name stays: another context may
    /// find another entity.
    func noteEntity(_ entity: NSEntityDescription) {
        if givenEntityName != nil { foundEntity.withLock { $0 = entity } }
    }

    /// Which objects match; nil for all.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(
    ///     format: "stockCount < %d AND supplier.name == %@", 5, "Smith")
    /// ```
    open var predicate: NSPredicate?
    /// The order of the results.
    ///
    /// ```swift
    /// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    /// ```
    open var sortDescriptors: [NSSortDescriptor]?
    /// The greatest number of results; 0 for all.
    open var fetchLimit = 0
    /// How many matches to skip.
    ///
    /// ```swift
    /// request.fetchOffset = 40                                // the third page
    /// request.fetchLimit = 20
    /// ```
    open var fetchOffset = 0
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
    open var fetchBatchSize = 0
    /// The form of the results.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of subentities match too.
    open var includesSubentities = true
    /// Whether unsaved changes of the context count.
    ///
    /// ```swift
    /// request.includesPendingChanges = false      // stored rows, without this context's changes
    /// ```
    open var includesPendingChanges = true
    /// Whether rows are read with the fetch; otherwise only IDs are.
    open var includesPropertyValues = true
    /// Whether objects come as faults whose rows are cached, or loaded.
    ///
    /// ```swift
    /// request.returnsObjectsAsFaults = false      // for results that are all used at once
    /// ```
    open var returnsObjectsAsFaults = true
    /// Whether objects that are loaded already and have no changes adopt the fetched values.
    open var shouldRefreshRefetchedObjects = false
    /// Relationships to load together with the results, as key paths.
    ///
    /// ```swift
    /// // one statement for each
    /// request.relationshipKeyPathsForPrefetching = ["supplier", "supplier.address"]
    /// ```
    open var relationshipKeyPathsForPrefetching: [String]?
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
        get { described(givenPropertiesToFetch) }
        set { givenPropertiesToFetch = newValue }
    }
    private var givenPropertiesToFetch: [Any]?
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
        get { described(givenPropertiesToGroupBy) }
        set { givenPropertiesToGroupBy = newValue }
    }
    private var givenPropertiesToGroupBy: [Any]?

    /// Returns the properties with descriptions in place of names that the entity has.
    private func described(_ properties: [Any]?) -> [Any]? {
        guard let properties, !properties.isEmpty, let entity else { return properties }
        return properties.map { ($0 as? String).flatMap { entity.propertiesByName[$0] } ?? $0 }
    }

    /// The condition for the groups to keep; nil for all.
    open var havingPredicate: NSPredicate?
    /// Whether equal dictionaries are given once.
    ///
    /// ```swift
    /// request.resultType = .dictionaryResultType
    /// request.propertiesToFetch = ["supplier.name"]
    /// request.returnsDistinctResults = true
    /// ```
    open var returnsDistinctResults = false

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
    func copyValues<Other>(to copy: NSFetchRequest<Other>) {
        copy.affectedStores = affectedStores
        copy.givenEntityName = givenEntityName
        copy.givenEntity = givenEntity
        let found = foundEntity.withLock { $0 }
        copy.foundEntity.withLock { $0 = found }
        copy.predicate = predicate
        copy.sortDescriptors = sortDescriptors
        copy.fetchLimit = fetchLimit
        copy.fetchOffset = fetchOffset
        copy.fetchBatchSize = fetchBatchSize
        copy.resultType = resultType
        copy.includesSubentities = includesSubentities
        copy.includesPendingChanges = includesPendingChanges
        copy.includesPropertyValues = includesPropertyValues
        copy.returnsObjectsAsFaults = returnsObjectsAsFaults
        copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        copy.propertiesToFetch = givenPropertiesToFetch
        copy.propertiesToGroupBy = givenPropertiesToGroupBy
        copy.havingPredicate = havingPredicate
        copy.returnsDistinctResults = returnsDistinctResults
    }

    // MARK: - Equality

    /// Whether the other request has the same settings: the same objects in the same order and
    /// form.
    ///
    /// The result types of the two requests may differ.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? any FetchSettings else { return false }
        return self === other || settings == other.settings
    }

    // The hash covers the entity alone: all other settings may change.
    open override var hash: Int { entityName?.hashValue ?? 0 }

    open override var description: String {
        var text = "<NSFetchRequest> (entity: \(entityName ?? "none"); predicate: (\(predicate?.predicateFormat ?? "none"))"
        if let sortDescriptors, !sortDescriptors.isEmpty { text += "; sort: \(sortDescriptors)" }
        if fetchLimit > 0 { text += "; limit: \(fetchLimit)" }
        if fetchOffset > 0 { text += "; offset: \(fetchOffset)" }
        return text + ")"
    }
}

/// The settings by which two fetch requests are compared.
private protocol FetchSettings: AnyObject {
    var settings: [AnyHashable?] { get }
}

extension NSFetchRequest: FetchSettings {
    fileprivate var settings: [AnyHashable?] {
        // A property of the entity is compared by its name, also before the request has been
        // executed.
        func hashable(_ properties: [Any]?) -> AnyHashable? {
            properties.map {
                $0.map { property in
                    (property is NSExpressionDescription ? nil : StoreFetch.DictionaryColumns.name(of: property)) ?? property
                        as? AnyHashable
                }
            }
        }
        return [
            entityName, predicate, sortDescriptors, fetchLimit, fetchOffset, fetchBatchSize, resultType.rawValue, includesSubentities,
            includesPendingChanges, includesPropertyValues, returnsObjectsAsFaults, shouldRefreshRefetchedObjects,
            relationshipKeyPathsForPrefetching, hashable(propertiesToFetch), hashable(propertiesToGroupBy), havingPredicate,
            returnsDistinctResults, affectedStores.map(Set.init),
        ]
    }
}
