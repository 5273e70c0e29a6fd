import Foundation

/// The form of the result of a batch update.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchupdaterequestresulttype>
///
/// ```swift
/// request.resultType = .updatedObjectIDsResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// let ids = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
/// ```
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a `Bool`.
    case statusOnlyResultType = 0
    /// The IDs of the rows that were changed: `[NSManagedObjectID]`.
    case updatedObjectIDsResultType = 1
    /// The number of these rows: an `Int`.
    case updatedObjectsCountResultType = 2
}

/// Changes properties of many objects in the stores without making objects of them.
///
/// The rows of a store are changed in one transaction, and their versions count up. Nothing is
/// validated, and no context is notified: merge the object IDs of the result with
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Derived attributes are
/// updated.
///
/// A violated uniqueness constraint refuses the request, whatever the merge policy. Where one of
/// several stores fails, code 134040 names the stores that were changed before. Unlike on a Mac,
/// stores in memory can be used too.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchupdaterequest>
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "Item")
/// request.predicate = NSPredicate(format: "stockCount < 0")
/// request.propertiesToUpdate = ["stockCount": 0]
/// try context.execute(request)
/// ```
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private var target = BatchEntity()

    /// Which objects are changed; nil for all.
    open var predicate: NSPredicate?

    /// Whether objects of subentities are changed too; true to begin with.
    open var includesSubentities = true

    /// The form of the result; the status alone to begin with.
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    /// New values of properties. Keys are names, also of elements of composite attributes, or
    /// property descriptions.
    ///
    /// Values are constants, `NSNull` for nil, or `NSExpression`s, which are evaluated with the
    /// values that the object had before. A to-one relationship takes the ID of a saved object of
    /// the same store, or `NSNull`. Both are refused if the inverse is to-one; an ID is also
    /// refused if the inverse is ordered. To-many relationships, derived and transient attributes
    /// are refused.
    ///
    /// ```swift
    /// request.propertiesToUpdate = [
    ///     "stockCount": NSExpression(format: "stockCount + 1"), "note": NSNull(),
    ///     "supplier": supplier.objectID,
    /// ]
    /// ```
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// The entity.
    ///
    /// - Precondition: the request was made with an entity, or a context has executed it.
    open var entity: NSEntityDescription {
        guard let entity = target.entity else {
            preconditionFailure(
                "The batch update of '\(entityName)' has no entity until a context executes it: it was made with a "
                    + "name."
            )
        }
        return entity
    }

    /// The name of the entity.
    open var entityName: String { target.name ?? "" }

    /// A request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// A request for the objects of an entity.
    ///
    /// `execute(_:)` throws if the model lacks the entity, or if the request has no new values.
    ///
    /// ```swift
    /// let request = NSBatchUpdateRequest(entityName: "Item")
    /// request.propertiesToUpdate = ["stockCount": NSExpression(format: "stockCount + 1")]
    /// request.resultType = .updatedObjectsCountResultType
    /// let count = (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int
    /// ```
    public init(entityName: String) {
        target = BatchEntity(givenName: entityName)
        super.init()
    }

    /// A request for the objects of an entity.
    ///
    /// ```swift
    /// let request = NSBatchUpdateRequest(entity: Item.entity())
    /// request.predicate = NSPredicate(format: "stockCount < 0")
    /// request.propertiesToUpdate = ["stockCount": 0]
    /// try context.execute(request)
    /// ```
    public init(entity: NSEntityDescription) {
        target = BatchEntity(entity: entity)
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let execution = try BatchExecution(self, &target, context)
        var totals = BatchTotals()
        try execution.update {
            try update(execution, $0)
        } ownAnswer: { answer in
            totals.ownResults.append((answer as? NSBatchUpdateResult)?.result ?? answer)
        } outcome: { outcome, store in
            totals.count += outcome.updatedCount
            totals.objectIDs += execution.objectIDs(outcome.updated, store)
        }
        return NSBatchUpdateResult(resultType, totals.result(resultType.rawValue))
    }

    private func update(_ execution: BatchExecution, _ store: NSPersistentStore) throws -> RowUpdate {
        var fetch = StoreFetch(entity: execution.layout)
        fetch.includesSubentities = includesSubentities
        fetch.predicate = predicate
        guard let properties = propertiesToUpdate, !properties.isEmpty else {
            throw CoreDataErrors.nothingToUpdate(of: execution.layout.name)
        }
        let assignments = try BatchValues(execution.layout, store).assignments(properties)
        return RowUpdate(
            rows: fetch, assignments: assignments, author: execution.author,
            wantsReferences: resultType == .updatedObjectIDsResultType)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let request = copy as? NSBatchUpdateRequest {
            request.target = target
            request.predicate = predicate
            request.includesSubentities = includesSubentities
            request.resultType = resultType
            request.propertiesToUpdate = propertiesToUpdate
        }
        return copy
    }
}

/// The result of a batch update.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchupdateresult>
///
/// ```swift
/// request.resultType = .updatedObjectIDsResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// let objectIDs = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSUpdatedObjectIDsKey: objectIDs], into: [context])
/// ```
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the type says.
    public let result: Any?
    /// The requested form of the result.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ type: NSBatchUpdateRequestResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}
