extension NSManagedObjectContext {
    /// Fetches snapshots straight from rows, without making managed objects.
    ///
    /// Each to-many relationship takes one fetch for all rows. A context with unsaved changes makes the snapshots from its
    /// objects instead, so that they show the changes. For a subclass of an `@Entity` class the snapshots are of the
    /// superclass's type: `snapshots(_:of:)` gives its own.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - keyPaths: the properties that the snapshots have; all of them when none is given.
    /// - Throws: what a fetch throws.
    @inlinable
    public func snapshots<Object: EntityObject>(
        of request: NSFetchRequest<Object>, _ keyPaths: PartialKeyPath<Object>...
    ) throws -> [Object.Snapshot] {
        try _snapshots(Object.Snapshot.self, request, names: Object._names(of: keyPaths))
    }

    /// Fetches snapshots of a type, as `snapshots(of:)` does.
    @inlinable
    public func snapshots<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, of request: NSFetchRequest<Snapshot.Object>, _ keyPaths: PartialKeyPath<Snapshot.Object>...
    ) throws -> [Snapshot] {
        try _snapshots(type, request, names: Snapshot.Object._names(of: keyPaths))
    }

    // Inlinable, so that making a snapshot of a row is specialized for its class.
    @inlinable
    func _snapshots<Object: EntityObject, Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, _ request: NSFetchRequest<Object>, names: Set<String>?
    ) throws -> [Snapshot] {
        guard let rows = try _storedRows(type, request, names: names) else {
            return try fetch(request).map { Snapshot(_reading: SnapshotReader($0, names: names)) }
        }
        defer { withExtendedLifetime(rows) {} }
        // An initializer for no elements would write to the storage that all empty arrays share.
        if rows._count == 0 { return [] }
        return Array(unsafeUninitializedCapacity: rows._count) { buffer, count in
            guard let first = buffer.baseAddress else { return }
            var row = rows._row(at: 0)
            while count < rows._count {
                rows._move(&row, to: count)
                // Where it will stay: snapshots are too large to be moved for nothing.
                (first + count).initialize(to: Snapshot(_reading: SnapshotReader(row, names: names)))
                count += 1
            }
        }
    }

    /// The rows of a request with the to-many relationships that the snapshots need; nil where objects must be fetched.
    @usableFromInline
    func _storedRows<Object: EntityObject, Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, _ request: NSFetchRequest<Object>, names: Set<String>?
    ) throws -> _StoredRows? {
        var toMany = ToManyNames(wanted: names)
        var empty = Snapshot(ObjectReference(entityName: "", store: "", local: .text("")))
        try empty._visit(&toMany)
        return try fetchStoredRows(request, relationships: toMany.names)
    }
}

/// The to-many relationships among the properties wanted.
private struct ToManyNames: SnapshotVisitor {
    let wanted: Set<String>?
    var names: [String] = []

    init(wanted: Set<String>?) { self.wanted = wanted }

    mutating func visit<Kind: SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        if Kind._isToMany, wanted?.contains(name.description) ?? true { names.append(name.description) }
    }
}
