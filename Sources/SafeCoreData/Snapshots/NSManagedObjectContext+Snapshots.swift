extension NSManagedObjectContext {
    /// Fetches snapshots directly from rows, without creating managed objects.
    ///
    /// Each to-many relationship takes one fetch for all rows. A context with unsaved changes
    /// creates the snapshots from its objects instead, so that they include the changes.
    ///
    /// No property is dropped silently. If objects of a subclass are found, or the request is for a
    /// subclass of an `@Entity` class, name the type that you want, `snapshots(_:of:)`, or use
    /// `snapshotsOfOwnClasses(of:)`.
    ///
    /// ```swift
    /// let items = try context.snapshots(of: Item.fetchRequest())
    /// let names = try context.snapshots(of: Item.fetchRequest(), \.name).map(\.name)
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request for the objects.
    ///   - keyPaths: the properties that the snapshots have; all of them if none is given.
    /// - Throws: errors of a fetch, and `SnapshotError.losesProperties`.
    @inlinable
    public func snapshots<Object: EntityObject>(
        of request: NSFetchRequest<Object>, _ keyPaths: PartialKeyPath<Object>...
    ) throws -> [Object.Snapshot] {
        try _snapshots(Object.Snapshot.self, request, names: Object._names(of: keyPaths), mustHaveAll: true)
    }

    /// Fetches snapshots of a given type, as `snapshots(of:)` does. Snapshots of subclass objects
    /// have the properties of this type only.
    ///
    /// ```swift
    /// let novels = try context.snapshots(Novel.Snapshot.self, of: Novel.fetchRequest())
    /// ```
    ///
    /// - Throws: errors of a fetch.
    @inlinable
    public func snapshots<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, of request: NSFetchRequest<Snapshot.Object>,
        _ keyPaths: PartialKeyPath<Snapshot.Object>...
    ) throws -> [Snapshot] {
        try _snapshots(type, request, names: Snapshot.Object._names(of: keyPaths), mustHaveAll: false)
    }

    /// Fetches the snapshots of objects of a class and its subclasses, each in the type of its
    /// object's own class.
    ///
    /// ```swift
    /// for case let novel as Novel.Snapshot
    /// in try context.snapshotsOfOwnClasses(of: Medium.fetchRequest()) { … }
    /// ```
    ///
    /// Reads rows, as `snapshots(of:)` does.
    ///
    /// - Throws: errors of a fetch.
    public func snapshotsOfOwnClasses<Object: EntityObject>(of request: NSFetchRequest<Object>) throws
        -> [any EntitySnapshot]
    {
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName
        let entity = request.entity ?? request.entityName.flatMap { entities?[$0] }
        let toMany = Set(entity.map(\.toManyNamesOfFamily) ?? [])
        guard let rows = try fetchStoredRows(request, relationships: toMany.sorted()) else {
            return try fetch(request).map(\.snapshotOfOwnClass)
        }
        defer { withExtendedLifetime(rows) {} }
        return (0..<rows._count).map { index in
            let row = rows._row(at: index)
            let type = (row.objectClass as? any EntityObject.Type)?._snapshotType ?? Object._snapshotType
            return type.init(_reading: _SnapshotReader(row, names: nil))
        }
    }

    // Inlinable, so that the creation of snapshots from rows is specialized for their class.
    @inlinable
    func _snapshots<Object: EntityObject, Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, _ request: NSFetchRequest<Object>, names: Set<String>?, mustHaveAll: Bool
    ) throws -> [Snapshot] {
        if mustHaveAll { try _require(names, in: type, of: Object.self) }
        guard let rows = try _storedRows(type, request, names: names, mustHaveAll: mustHaveAll) else {
            return try fetch(request).map { object in
                if mustHaveAll, names == nil { try Snapshot._requireAll(of: Swift.type(of: object)) }
                return Snapshot(_reading: _SnapshotReader(object, names: names))
            }
        }
        defer { withExtendedLifetime(rows) {} }
        // With a capacity of 0 the initializer would write to the storage that all empty arrays
        // share.
        if rows._count == 0 { return [] }
        return Array(unsafeUninitializedCapacity: rows._count) { buffer, count in
            guard let first = buffer.baseAddress else { return }
            var row = rows._row(at: 0)
            while count < rows._count {
                rows._move(&row, to: count)
                // Initialized in place: snapshots are large, and a move would cost time.
                (first + count).initialize(to: Snapshot(_reading: _SnapshotReader(row, names: names)))
                count += 1
            }
        }
    }

    /// Returns the rows of a request with the to-many relationships that the snapshots need; nil if
    /// objects must be fetched instead.
    @usableFromInline
    func _storedRows<Object: EntityObject, Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, _ request: NSFetchRequest<Object>, names: Set<String>?, mustHaveAll: Bool
    ) throws -> _StoredRows? {
        var toMany = ToManyNames(wanted: names)
        try Snapshot.visitAll(&toMany)
        let rows = try fetchStoredRows(request, relationships: toMany.names)
        if mustHaveAll, names == nil, let rows {
            for objectClass in rows.objectClasses { try Snapshot._requireAll(of: objectClass) }
        }
        return rows
    }

    /// Checks that a snapshot type has the properties that key paths of a class name.
    @usableFromInline
    func _require<Snapshot: EntitySnapshot>(
        _ names: Set<String>?, in type: Snapshot.Type, of objectClass: NSManagedObject.Type
    ) throws {
        if let names { try Snapshot.require(names, of: "\(objectClass)") }
    }
}

extension NSEntityDescription {
    /// The names of the non-transient to-many relationships of the entity and of its subentities.
    fileprivate var toManyNamesOfFamily: [String] {
        relationshipsByName.values.filter { $0.isToMany && !$0.isTransient }.map(\.name)
            + subentities.flatMap(\.toManyNamesOfFamily)
    }
}

/// Collects the to-many relationships among the requested properties.
private struct ToManyNames: _SnapshotVisitor {
    let wanted: Set<String>?
    var names: [String] = []

    init(wanted: Set<String>?) { self.wanted = wanted }

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        if Kind._isToMany, wanted?.contains(name.description) ?? true { names.append(name.description) }
    }
}
