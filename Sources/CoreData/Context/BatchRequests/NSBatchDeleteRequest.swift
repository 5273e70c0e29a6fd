import Foundation

/// The form of the result of a batch deletion.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchdeleterequestresulttype>
///
/// ```swift
/// request.resultType = .resultTypeObjectIDs
/// let result = try context.execute(request) as? NSBatchDeleteResult
/// let ids = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
/// ```
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a `Bool`.
    case resultTypeStatusOnly = 0
    /// The IDs of the objects that were asked to be deleted: `[NSManagedObjectID]`.
    case resultTypeObjectIDs = 1
    /// The number of these objects: an `Int`.
    case resultTypeCount = 2
}

/// Deletes many objects in the stores without making objects of them.
///
/// The rows of a store are deleted in one transaction. Where one of several stores fails, code
/// 134040 names the stores that were changed before. Delete rules are followed in the database:
/// cascade also deletes the destinations, which the result does not list; nullify takes the objects
/// out of their relationships.
///
/// The request fails with code 134050, and nothing is deleted, if a relationship with the deny rule
/// refers to an object that stays, or if a relationship is nullified whose inverse is not optional.
/// Nothing else is validated, and no context is notified: merge the object IDs of the result with
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Unlike on a Mac, stores in
/// memory can be used too.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchdeleterequest>
///
/// ```swift
/// let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
/// old.predicate = NSPredicate(format: "stockCount == 0")
/// try context.execute(NSBatchDeleteRequest(fetchRequest: old))
/// ```
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private var fetch = NSFetchRequest<any NSFetchRequestResult>()
    private var objectIDs: [NSManagedObjectID]?

    /// The form of the result; the status alone to begin with.
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

    /// A copy of the request that finds the objects to delete, with their IDs as its result type.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        let copy = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> ?? fetch
        copy.resultType = .managedObjectIDResultType
        return copy
    }

    /// A request that deletes nothing and cannot be executed.
    public required init() { super.init() }

    /// A request for the objects that a fetch request finds.
    ///
    /// The fetch request's entity, predicate, order, limit and offset apply.
    ///
    /// ```swift
    /// let old: NSFetchRequest<any NSFetchRequestResult> = Item.fetchRequest()
    /// old.predicate = NSPredicate(format: "stockCount == 0")
    /// let request = NSBatchDeleteRequest(fetchRequest: old)
    /// request.resultType = .resultTypeCount
    /// let count = (try context.execute(request) as? NSBatchDeleteResult)?.result as? Int
    /// ```
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        self.fetch = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> ?? fetch
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// A request for the objects that a fetch request of any result type finds.
    ///
    /// On a Mac a request of one result type can be cast to another. On other platforms the two are
    /// different classes.
    ///
    /// ```swift
    /// let all = NSFetchRequest<Item>(entityName: "Item")
    /// try context.execute(NSBatchDeleteRequest(fetchRequest: all))
    /// ```
    public convenience init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let entity = fetch.entity {
            request.entity = entity
        } else if let name = fetch.entityName {
            request.setEntityName(name)
        }
        request.predicate = fetch.predicate
        request.sortDescriptors = fetch.sortDescriptors
        request.fetchLimit = fetch.fetchLimit
        request.fetchOffset = fetch.fetchOffset
        request.includesSubentities = fetch.includesSubentities
        request.affectedStores = fetch.affectedStores
        self.init(fetchRequest: request)
    }

    /// A request for objects by their IDs.
    ///
    /// The IDs must be permanent, all of one entity, and of stores that the request goes to.
    /// Otherwise `execute(_:)` throws. Without IDs the request does nothing.
    ///
    /// ```swift
    /// try context.execute(NSBatchDeleteRequest(objectIDs: items.map(\.objectID)))
    /// ```
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = objects.first?.entity
        request.predicate = NSPredicate(format: "SELF IN %@", objects)
        self.init(fetchRequest: request)
        objectIDs = objects
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        var totals = BatchTotals()
        if objectIDs?.isEmpty == true { return NSBatchDeleteResult(resultType, totals.result(resultType.rawValue)) }
        var target = BatchEntity(givenName: fetch.entityName)
        let execution = try BatchExecution(self, &target, context)
        try BatchExecution.inEach(try rowsByStore(execution, context)) { store, rows in
            guard let batchRows = try execution.rows(of: store) else {
                guard let answer = try execution.ownAnswer(of: store) else { return }
                return totals.ownResults.append((answer as? NSBatchDeleteResult)?.result ?? answer)
            }
            let outcome = try batchRows.delete(
                RowDeletion(rows: rows, author: execution.author, wantsReferences: resultType == .resultTypeObjectIDs))
            totals.count += outcome.deletedCount
            totals.objectIDs += execution.objectIDs(outcome.deleted, store)
        }
        return NSBatchDeleteResult(resultType, totals.result(resultType.rawValue))
    }

    private func rowsByStore(
        _ execution: BatchExecution, _ context: NSManagedObjectContext
    ) throws -> [(store: NSPersistentStore, RowDeletion.Rows)] {
        if let objectIDs {
            return try execution.keys(of: objectIDs).map { ($0.store, .keys($0.keys, of: execution.layout)) }
        }
        let stores = try execution.stores()
        let plan = try context.resolve(fetch).fetch
        // A limit or an offset applies to all stores together.
        if stores.count > 1, plan.limit > 0 || plan.offset > 0,
            try stores.allSatisfy({ try execution.rows(of: $0) != nil })
        {
            let keys = try execution.keys(of: fetch, in: stores)
            return stores.compactMap { store in keys[store.number].map { (store, .keys($0, of: execution.layout)) } }
        }
        return stores.map { ($0, .fetched(plan)) }
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let request = copy as? NSBatchDeleteRequest {
            request.fetch = fetchRequest
            request.objectIDs = objectIDs
            request.resultType = resultType
        }
        return copy
    }
}

/// The result of a batch deletion.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchdeleteresult>
///
/// ```swift
/// request.resultType = .resultTypeObjectIDs
/// let result = try context.execute(request) as? NSBatchDeleteResult
/// let objectIDs = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSDeletedObjectIDsKey: objectIDs], into: [context])
/// ```
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the type says.
    public let result: Any?
    /// The requested form of the result.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ type: NSBatchDeleteRequestResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}
