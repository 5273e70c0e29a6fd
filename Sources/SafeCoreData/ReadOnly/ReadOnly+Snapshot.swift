extension ReadOnly where Object: EntityObject, Object._Subclasses == Never {
    /// A copy of the object's present values, for use on other threads; see
    /// ``EntityObject/snapshot(_:)``.
    ///
    /// ```swift
    /// let snapshot = view.snapshot()                    // Item.Snapshot: may leave the main actor
    /// ```
    public func snapshot() -> Object.Snapshot { object.snapshot() }

    /// Snapshots of the object and of the objects up to `depth` relationships away; see
    /// ``EntityObject/snapshotGraph(depth:)``.
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Object.Snapshot> { object.snapshotGraph(depth: depth) }
}

extension ReadOnly where Object: EntityObject {
    /// A copy of the object's present values, for use on other threads, in the snapshot type of the
    /// root class of its hierarchy.
    ///
    /// - Throws: `SnapshotError.losesProperties` for an object whose class has further properties:
    ///   name the snapshot type, `view.snapshot(Novel.Snapshot.self)`, or use `snapshotOfOwnClass`.
    @_disfavoredOverload
    public func snapshot() throws -> Object.Snapshot { try object.wholeSnapshot() }

    /// A copy of the object's present values in a given snapshot type. With key paths, only of
    /// those properties.
    public func snapshot<Snapshot: EntitySnapshot>(_ type: Snapshot.Type, _ keyPaths: PartialKeyPath<Object>...)
        -> Snapshot
    where Snapshot.Object == Object {
        object._snapshot(type, keyPaths)
    }

    /// A copy of all present values, in the snapshot type of the object's own class, which may be a
    /// subclass of the view's class.
    public var snapshotOfOwnClass: any EntitySnapshot { object.snapshotOfOwnClass }

    /// Snapshots of the object and of the objects up to `depth` relationships away. The root has
    /// the snapshot type of the root class of its hierarchy. The graph still has all properties:
    /// `graph.rootOfOwnClass`.
    @_disfavoredOverload
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Object.Snapshot> {
        object._snapshotGraph(Object.Snapshot.self, depth)
    }

    /// A snapshot graph whose root has the snapshot type of the view's class.
    ///
    /// ```swift
    /// let graph = view.snapshotGraph(Novel.Snapshot.self, depth: 1)   // view is a ReadOnly<Novel>
    /// ```
    public func snapshotGraph<Snapshot: EntitySnapshot>(_ type: Snapshot.Type, depth: Int) -> SnapshotGraph<Snapshot>
    where Snapshot.Object == Object {
        object._snapshotGraph(type, depth)
    }
}

extension ReadContext {
    /// Snapshots of the objects that a request finds, read directly from rows; see
    /// `NSManagedObjectContext.snapshots(of:)`.
    ///
    /// ```swift
    /// let items = try await stack.read { try $0.snapshots(of: Item.fetchRequest()) }
    /// ```
    ///
    /// - Throws: errors of the fetch, and `SnapshotError.losesProperties`.
    @inlinable
    public func snapshots<Object: EntityObject>(
        of request: NSFetchRequest<Object>, _ keyPaths: PartialKeyPath<Object>...
    ) throws -> [Object.Snapshot] {
        try context._snapshots(Object.Snapshot.self, request, names: Object._names(of: keyPaths), mustHaveAll: true)
    }

    /// Snapshots of a given type of the objects that a request finds; see
    /// `NSManagedObjectContext.snapshots(_:of:)`.
    ///
    /// - Throws: errors of the fetch.
    @inlinable
    public func snapshots<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, of request: NSFetchRequest<Snapshot.Object>,
        _ keyPaths: PartialKeyPath<Snapshot.Object>...
    ) throws -> [Snapshot] {
        try context._snapshots(type, request, names: Snapshot.Object._names(of: keyPaths), mustHaveAll: false)
    }

    /// Snapshots of the objects that a request finds, each in the type of its object's own class;
    /// see `NSManagedObjectContext.snapshotsOfOwnClasses(of:)`.
    ///
    /// - Throws: errors of the fetch.
    public func snapshotsOfOwnClasses<Object: EntityObject>(of request: NSFetchRequest<Object>) throws
        -> [any EntitySnapshot]
    {
        try context.snapshotsOfOwnClasses(of: request)
    }
}
