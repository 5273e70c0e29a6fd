import Foundation

/// The form of the result of a batch insertion.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchinsertrequestresulttype>
///
/// ```swift
/// request.resultType = .count
/// let count = (try context.execute(request) as? NSBatchInsertResult)?.result as? Int
/// ```
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a `Bool`.
    case statusOnly = 0
    /// The IDs of the rows that were inserted, or changed because of their unique values:
    /// `[NSManagedObjectID]`.
    case objectIDs = 1
    /// The number of these rows: an `Int`.
    case count = 2
}

/// Inserts many objects into a store without making objects of them.
///
/// The rows are written in one transaction. Attributes without a given value get their default
/// values. A row that lacks a required value without a default is refused (code 1570), and all
/// other rows with it. Nothing else is validated, no life cycle method is called, and no context is
/// notified: merge the object IDs of the result with
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// A to-one relationship takes the ID of a saved object of the same store, unless the inverse is
/// to-one or ordered. To-many relationships are refused.
///
/// Where a uniqueness constraint is violated, the context's merge policy decides. The error policy
/// refuses the request. With `NSMergeByPropertyObjectTrumpMergePolicy` the existing row gets the
/// given values, with `NSOverwriteMergePolicy` all values, but keeps the destinations of
/// relationships that are not given. The other two policies leave it as it is. The existing row may
/// be of a subentity. If it is of any other entity of the hierarchy, the object-trump and overwrite
/// policies refuse the request with code 133021.
///
/// Unlike on a Mac, stores in memory can be used too.
///
/// Handlers are called while the store is locked for writing: they must not save to it. They may
/// read it.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchinsertrequest>
///
/// ```swift
/// let request = NSBatchInsertRequest(
///     entityName: "Item", objects: [["name": "Bolt"], ["name": "Nut", "stockCount": 7]])
/// try context.execute(request)
/// ```
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private var target = BatchEntity()

    /// The form of the result; the status alone to begin with.
    open var resultType = NSBatchInsertRequestResultType.statusOnly

    /// The values of each new object by the names of its properties.
    open var objectsToInsert: [[String: Any]]?

    /// Called for each object with an empty dictionary to fill in; true ends the insertion without
    /// it.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?

    /// Called for each object with an object that belongs to no context; true ends the insertion
    /// without it.
    ///
    /// All values of the object count as given, including those that the handler did not set.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?

    /// The entity. Nil for a request created with an entity name until a context has executed it.
    open var entity: NSEntityDescription? { target.entity }

    /// The name of the entity.
    open var entityName: String { target.name ?? "" }

    /// A request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// A request to insert objects whose values are given.
    ///
    /// All dictionaries are in memory at once; a handler supplies them one at a time. `execute(_:)`
    /// throws if the model lacks the entity.
    ///
    /// ```swift
    /// let request = NSBatchInsertRequest(
    ///     entityName: "Item", objects: [["name": "Bolt"], ["name": "Nut", "stockCount": 7]])
    /// request.resultType = .count
    /// let count = (try context.execute(request) as? NSBatchInsertResult)?.result as? Int
    /// ```
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        target = BatchEntity(givenName: entityName)
        objectsToInsert = dictionaries
        super.init()
    }

    /// A request to insert objects whose values are given.
    ///
    /// ```swift
    /// try context.execute(
    ///     NSBatchInsertRequest(
    ///         entity: Item.entity(), objects: [["name": "Bolt"], ["name": "Nut"]]))
    /// ```
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        target = BatchEntity(entity: entity)
        objectsToInsert = dictionaries
        super.init()
    }

    /// A request to insert objects until a handler returns true. Memory does not grow with their
    /// number.
    ///
    /// ```swift
    /// var number = 0
    /// let request = NSBatchInsertRequest(entity: Item.entity()) { (values: NSMutableDictionary) in
    ///     number += 1
    ///     values["name"] = "Bolt \(number)"
    ///     return number > 1_000                               // this call inserts nothing
    /// }
    /// try context.execute(request)
    /// ```
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init()
        target = BatchEntity(entity: entity)
        dictionaryHandler = handler
    }

    /// A request to insert objects until a handler returns true.
    ///
    /// The objects belong to no context and are not kept.
    ///
    /// ```swift
    /// var names = ["Bolt", "Nut"].makeIterator()
    /// let request = NSBatchInsertRequest(entity: Item.entity()) { (object: NSManagedObject) in
    ///     guard let name = names.next(), let item = object as? Item else { return true }
    ///     item.name = name
    ///     return false
    /// }
    /// try context.execute(request)
    /// ```
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init()
        target = BatchEntity(entity: entity)
        managedObjectHandler = handler
    }

    /// A request to insert objects until a handler returns true.
    ///
    /// One dictionary at a time: memory does not grow with the number of rows.
    ///
    /// ```swift
    /// var rest = rows.makeIterator()
    /// let request = NSBatchInsertRequest(entityName: "Item") { (values: NSMutableDictionary) in
    ///     guard let row = rest.next() else { return true }    // the end
    ///     values.setValue(row.name, forKey: "name")
    ///     return false
    /// }
    /// ```
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        target = BatchEntity(givenName: entityName)
        dictionaryHandler = handler
    }

    /// A request to insert objects until a handler returns true.
    ///
    /// ```swift
    /// var rest = rows.makeIterator()
    /// let request = NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
    ///     guard let row = rest.next() else { return true }
    ///     object.setValue(row.name, forKey: "name")
    ///     return false
    /// }
    /// ```
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        target = BatchEntity(givenName: entityName)
        managedObjectHandler = handler
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let execution = try BatchExecution(self, &target, context)
        let store = try execution.storeForNewRows()
        guard let rows = try execution.rows(of: store) else {
            return try execution.ownAnswer(of: store).map { answer in
                answer as? NSBatchInsertResult ?? NSBatchInsertResult(resultType, answer)
            } ?? NSBatchInsertResult(resultType, nil)
        }
        let outcome = try execution.refusing(in: store) { try rows.insert(insertion(execution, store)) }
        let totals = BatchTotals(
            count: outcome.insertedCount + outcome.updatedCount,
            objectIDs: execution.objectIDs(outcome.inserted + outcome.updated, store))
        return NSBatchInsertResult(resultType, totals.result(resultType.rawValue))
    }

    private func insertion(_ execution: BatchExecution, _ store: NSPersistentStore) throws -> RowInsertion {
        let layout = execution.layout
        let values = BatchValues(layout, store)
        let nextRow: (RowValues) throws -> Bool
        if let handler = managedObjectHandler {
            nextRow = { row in
                let object = layout.managedObjectClass.init(entity: layout.entity, insertInto: nil)
                if handler(object) { return false }
                try values.fill(row, from: object)
                return true
            }
        } else if let handler = dictionaryHandler {
            let dictionary = NSMutableDictionary()
            nextRow = { row in
                dictionary.removeAllObjects()
                if handler(dictionary) { return false }
                for (key, value) in dictionary { try values.set(value, for: key as? String ?? "\(key)", in: row) }
                return true
            }
        } else {
            var remaining = (objectsToInsert ?? []).makeIterator()
            nextRow = { row in
                guard let next = remaining.next() else { return false }
                for (name, value) in next { try values.set(value, for: name, in: row) }
                return true
            }
        }
        var insertion = RowInsertion(layout: layout, nextRow: nextRow)
        insertion.rule = execution.uniquenessRule
        insertion.author = execution.author
        insertion.wantsReferences = resultType == .objectIDs
        return values.requiringValues(insertion)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let request = copy as? NSBatchInsertRequest {
            request.target = target
            request.resultType = resultType
            request.objectsToInsert = objectsToInsert
            request.dictionaryHandler = dictionaryHandler
            request.managedObjectHandler = managedObjectHandler
        }
        return copy
    }
}

/// The result of a batch insertion.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsbatchinsertresult>
///
/// ```swift
/// request.resultType = .objectIDs
/// let result = try context.execute(request) as? NSBatchInsertResult
/// let objectIDs = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSInsertedObjectIDsKey: objectIDs], into: [context])
/// ```
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the type says.
    public let result: Any?
    /// The requested form of the result.
    public let resultType: NSBatchInsertRequestResultType

    init(_ type: NSBatchInsertRequestResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}
