// Changes of many rows that the store executes itself.
//
// They take effect immediately, in their own transaction, and are merged into this context and the
// stack's main context. They are therefore not rolled back if the block throws later, and the
// context must not have unsaved changes.
extension WriteContext {
    /// Inserts one object for each element of a sequence, in one transaction and without retaining
    /// objects.
    ///
    /// ```swift
    /// let count = try context.insertAll(Item.self, rows) { row, draft in
    ///     Item(context: draft, name: row.name, sku: row.sku)
    /// }
    /// ```
    ///
    /// The closure creates an object with the class's initializer, which requires all required
    /// values. The object's values are written to a row, and the object is released. Nothing is
    /// validated, and to-many relationships cannot be set. If a unique value exists already, the
    /// stack's merge policy decides, as for `NSBatchInsertRequest`. The change takes effect
    /// immediately, even if the block throws later.
    ///
    /// - Parameters:
    ///   - type: the class of the new objects.
    ///   - rows: the values, one for each object; iterated once.
    ///   - makeObject: gets one of the values and a context for the object, which is never saved.
    ///     It must not use this context.
    /// - Returns: the number of rows inserted, or changed because of their unique values.
    /// - Throws: code 134060 when the context has unsaved changes; errors of the store, with
    ///   nothing inserted.
    @discardableResult
    public func insertAll<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, _ rows: Rows, _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> Int {
        let (inserted, updated) = try insert(type, rows, makeObject, by: nil, updating: nil)
        return inserted + updated
    }

    /// Inserts one object for each element of a sequence, or changes the object that has the same
    /// unique value. Cost: one transaction, and one statement for each value.
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
    ///   - unique: the property by which objects are found; it must have a uniqueness constraint of
    ///     its own in the model.
    ///   - rows: the values, one for each object; iterated once.
    ///   - properties: the properties to change in existing objects; nil for all properties.
    ///   - makeObject: as in `insertAll(_:_:_:)`.
    /// - Throws: code 134060 also when the property is not unique, 133021 when another unique value
    ///   exists already, or when an object of another type has the unique value.
    @discardableResult
    public func upsert<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, by unique: PartialKeyPath<Object>, _ rows: Rows,
        updating properties: [PartialKeyPath<Object>]? = nil,
        _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> UpsertCount {
        try upsert(type, by: [unique], rows, updating: properties, makeObject)
    }

    /// Inserts one object for each element of a sequence, or changes the object with the same
    /// values of several properties that are unique together: those of one uniqueness constraint of
    /// the model, in its order. Otherwise as with one property.
    ///
    /// ```swift
    /// try context.upsert(Seat.self, by: [\.row, \.number], rows) { row, draft in
    ///     Seat(context: draft, row: row.row, number: row.number, guest: row.guest)
    /// }
    /// ```
    @discardableResult
    public func upsert<Object: NSManagedObject, Rows: Sequence>(
        _ type: Object.Type, by unique: [PartialKeyPath<Object>], _ rows: Rows,
        updating properties: [PartialKeyPath<Object>]? = nil,
        _ makeObject: (Rows.Element, NSManagedObjectContext) throws -> Object
    ) throws -> UpsertCount {
        let (inserted, updated) = try insert(
            type, rows, makeObject, by: unique.map(name), updating: try properties.map { try $0.map(name) })
        return UpsertCount(inserted: inserted, updated: updated)
    }

    /// Sets values of all objects that match a predicate, in one transaction and without reading
    /// them.
    ///
    /// ```swift
    /// try context.update(
    ///     Item.self, where: #Predicate { $0.isDiscontinued }, set: .set(\.stockCount, to: 0))
    /// try context.update(Item.self, set: .increment(\.stockCount, by: 1))
    /// ```
    ///
    /// Nothing is validated. The change takes effect immediately, even if the block throws later.
    ///
    /// - Returns: the number of changed objects.
    /// - Throws: `PredicateTranslationError` for conditions that no store can evaluate; code 134060
    ///   when the context has unsaved changes or a property cannot be set in this way; errors of
    ///   the store, with nothing changed.
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
                    forFunction: "add:to:",
                    arguments: [NSExpression(forKeyPath: name), NSExpression(forConstantValue: summand)])
                return (name, .expression(sum))
            case .assignment(let assign):
                if entity.relationshipsByName[name] != nil {
                    throw SafeCoreDataErrors.toManyRelationship(name, of: entity)
                }
                let object = type.init(entity: entity, insertInto: nil)
                assign(object)
                return (name, .ofObject(object))
            }
        }
        let count = try updateRows(
            of: entity.name ?? "", where: try predicate.map { try NSPredicate.translating($0) }, values)
        noteBatch()
        return count
    }

    /// Deletes all objects that match a predicate, in one transaction and without reading them.
    ///
    /// ```swift
    /// try context.deleteAll(Item.self, where: #Predicate { $0.stockCount == 0 })
    /// ```
    ///
    /// The store applies delete rules, as for `NSBatchDeleteRequest`. The change takes effect
    /// immediately, even if the block throws later.
    ///
    /// - Returns: the number of deleted objects that matched, not counting those that delete rules
    ///   deleted.
    /// - Throws: `PredicateTranslationError` for conditions that no store can evaluate; code 134060
    ///   when the context has unsaved changes, 134050 when a delete rule forbids it, with nothing
    ///   deleted.
    @discardableResult
    public func deleteAll<Object: NSManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>? = nil)
        throws -> Int
    {
        try requireNoChanges()
        let entity = try NSEntityDescription.entity(of: type, in: self)
        let count = try deleteRows(of: entity.name ?? "", where: try predicate.map { try NSPredicate.translating($0) })
        noteBatch()
        return count
    }

    // MARK: Implementation

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
                // The earlier objects are no longer needed.
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
        guard let name = KeyPathNames.name(of: keyPath) else {
            throw QueryError.unknownProperty(of: Object.self, keyPath)
        }
        return name
    }
}

/// The result of `upsert(_:by:_:updating:_:)` of a `WriteContext`.
///
/// ```swift
/// let count = try context.upsert(Item.self, by: \.code, rows) { row, context in
///     Item(context: context, code: row.code, name: row.name)
/// }
/// print("\(count.inserted) new, \(count.updated) changed")
/// ```
public struct UpsertCount: Hashable, Sendable {
    /// The number of inserted objects.
    public let inserted: Int
    /// The number of existing objects that were updated.
    public let updated: Int
}
