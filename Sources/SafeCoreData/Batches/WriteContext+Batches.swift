// Changes of many rows that the store makes by itself.
//
// They take effect at once, in a transaction of their own, and are merged into this context and the stack's main one. So they are not
// taken back when the block throws later, and they do not mix with unsaved changes: these have to be saved first.
extension WriteContext {
    /// Inserts an object for each of some values, in one transaction and without keeping objects.
    ///
    /// ```swift
    /// let count = try context.insertAll(Item.self, rows) { row, draft in
    ///     Item(context: draft, name: row.name, sku: row.sku)
    /// }
    /// ```
    ///
    /// The closure makes an object with the class's initializer, which asks for all required values; its values become the row's, and the
    /// object goes. Nothing is validated, and to-many relationships cannot be set. Where a unique value is taken, the stack's merge policy
    /// decides, as for `NSBatchInsertRequest`. Takes effect at once, also when the block throws later.
    ///
    /// - Parameters:
    ///   - type: the class of the new objects.
    ///   - rows: the values, one for each object; gone through once.
    ///   - makeObject: is given one of the values and the context for its object, which is never saved. It must not use this
    ///     context.
    /// - Returns: how many rows were inserted, or changed because of their unique values.
    /// - Throws: code 134060 when the context has unsaved changes; what the store throws, with nothing inserted.
    @discardableResult
    public func insertAll<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, _ rows: Rows, _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> Int {
        let (inserted, updated) = try insert(type, rows, makeObject, by: nil, updating: nil)
        return inserted + updated
    }

    /// Inserts an object for each of some values, or changes the one that has its unique value: one transaction, and one statement for
    /// each value.
    ///
    /// ```swift
    /// let numbers = try context.upsert(Item.self, by: \.sku, rows) { row, draft in
    ///     Item(context: draft, name: row.name, sku: row.sku)
    /// }
    /// ```
    ///
    /// Otherwise as `insertAll(_:_:_:)`.
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - unique: the property by which objects are found, which must be unique by itself in the model.
    ///   - rows: the values, one for each object; gone through once.
    ///   - properties: what changes in objects that are there already; nil for all properties.
    ///   - makeObject: as in `insertAll(_:_:_:)`.
    /// - Throws: code 134060 also when the property is not unique, 133021 when another unique value is taken, or the unique value by an
    ///   object that is not of the type.
    @discardableResult
    public func upsert<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, by unique: PartialKeyPath<Object>, _ rows: Rows, updating properties: [PartialKeyPath<Object>]? = nil,
        _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> UpsertCount {
        try upsert(type, by: [unique], rows, updating: properties, makeObject)
    }

    /// Inserts an object for each of some values, or changes the one that has its values of several properties which are unique together;
    /// otherwise as with one property.
    ///
    /// ```swift
    /// try context.upsert(Seat.self, by: [\.row, \.number], rows) { row, draft in
    ///     Seat(context: draft, row: row.row, number: row.number, guest: row.guest)
    /// }
    /// ```
    ///
    /// - Parameter unique: the properties of one uniqueness constraint of the model, in its order.
    @discardableResult
    public func upsert<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, by unique: [PartialKeyPath<Object>], _ rows: Rows, updating properties: [PartialKeyPath<Object>]? = nil,
        _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> UpsertCount {
        let (inserted, updated) = try insert(
            type, rows, makeObject, by: unique.map(name), updating: try properties.map { try $0.map(name) })
        return UpsertCount(inserted: inserted, updated: updated)
    }

    /// Gives all objects that match a predicate new values, in one transaction and without reading them.
    ///
    /// ```swift
    /// try context.update(Item.self, where: #Predicate { $0.isDiscontinued }, set: .set(\.stockCount, to: 0))
    /// try context.update(Item.self, set: .increment(\.stockCount, by: 1))
    /// ```
    ///
    /// Nothing is validated. Takes effect at once, also when the block throws later.
    ///
    /// - Returns: how many objects were changed.
    /// - Throws: `PredicateTranslationError` for what no store can be asked; code 134060 when the context has unsaved changes or a
    ///   property cannot be set so; what the store throws, with nothing changed.
    @discardableResult
    public func update<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, set changes: PropertyUpdate<Object>...
    ) throws -> Int {
        try requireNoChanges()
        let entity = try NSEntityDescription.entity(of: type, in: self)
        let values = try changes.map { change -> (name: String, value: BatchValue) in
            let name = try name(of: change.keyPath)
            switch change.change {
            case .destination(let objectID): return (name, .destination(objectID))
            case .summand(let summand):
                let sum = NSExpression(
                    forFunction: "add:to:", arguments: [NSExpression(forKeyPath: name), NSExpression(forConstantValue: summand)])
                return (name, .expression(sum))
            case .assignment(let assign):
                if entity.relationshipsByName[name] != nil { throw SafeCoreDataErrors.toManyRelationship(name, of: entity) }
                let object = type.init(entity: entity, insertInto: nil)
                assign(object)
                return (name, .ofObject(object))
            }
        }
        let count = try updateRows(of: entity.name ?? "", where: try predicate.map { try NSPredicate.translating($0) }, values)
        noteBatch()
        return count
    }

    /// Deletes all objects that match a predicate, in one transaction and without reading them.
    ///
    /// ```swift
    /// try context.deleteAll(Item.self, where: #Predicate { $0.stockCount == 0 })
    /// ```
    ///
    /// Delete rules are followed in the store, as for `NSBatchDeleteRequest`. Takes effect at once, also when the block throws later.
    ///
    /// - Returns: how many objects matched and were deleted, without those that delete rules have deleted.
    /// - Throws: `PredicateTranslationError` for what no store can be asked; code 134060 when the context has unsaved changes, 134050 when
    ///   a delete rule forbids it, with nothing deleted.
    @discardableResult
    public func deleteAll<Object: NSManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>? = nil) throws -> Int {
        try requireNoChanges()
        let entity = try NSEntityDescription.entity(of: type, in: self)
        let count = try deleteRows(of: entity.name ?? "", where: try predicate.map { try NSPredicate.translating($0) })
        noteBatch()
        return count
    }

    // MARK: Within

    private func insert<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, _ rows: Rows, _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object,
        by constraint: [String]?, updating properties: [String]?
    ) throws -> (inserted: Int, updated: Int) {
        try requireNoChanges()
        let entity = try NSEntityDescription.entity(of: type, in: self)
        let drafts = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        drafts.persistentStoreCoordinator = persistentStoreCoordinator
        drafts.name = "Drafts of a batch"
        defer { noteBatch() }
        return try drafts.performAndWait {
            defer { drafts.reset() }
            var remaining = rows.makeIterator()
            var count = 0
            return try insertRows(of: entity.name ?? "", updatingBy: constraint, properties) {
                guard let row = remaining.next() else { return nil }
                count += 1
                // The objects before are of no use any more.
                if count % 1000 == 0 { drafts.reset() }
                return try makeObject(row, drafts)
            }
        }
    }

    private func requireNoChanges() throws {
        try requireNoDraft()
        processPendingChanges()
        if hasChangesToWrite { throw SafeCoreDataErrors.unsavedChanges }
    }

    private func name<Object: NSManagedObject>(of keyPath: PartialKeyPath<Object>) throws -> String {
        guard let name = KeyPathNames.name(of: keyPath) else { throw QueryError.unknownProperty(of: Object.self, keyPath) }
        return name
    }
}

/// What ``WriteContext/upsert(_:by:_:updating:_:)`` has done.
///
/// ```swift
/// let count = try context.upsert(Item.self, by: \.code, rows) { row, context in Item(context: context, code: row.code, name: row.name) }
/// print("\(count.inserted) new, \(count.updated) changed")
/// ```
public struct UpsertCount: Hashable, Sendable {
    /// How many objects are new.
    public let inserted: Int
    /// How many were there already and have new values.
    public let updated: Int
}
