extension ReadOnly where Object: EntityObject, Object._Subclasses == Never {
    /// The object's values as they are now, for other threads; see ``EntityObject/snapshot(_:)``.
    ///
    /// ```swift
    /// let snapshot = view.snapshot()                          // Item.Snapshot: may leave the main actor
    /// ```
    public func snapshot() -> Object.Snapshot { object.snapshot() }

    /// The object's snapshot and those of the objects up to a number of steps away; see ``EntityObject/snapshotGraph(depth:)``.
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Object.Snapshot> { object.snapshotGraph(depth: depth) }
}

extension ReadOnly where Object: EntityObject {
    /// The object's values as they are now, for other threads, in the snapshot type of the root of its class's hierarchy.
    ///
    /// - Throws: `SnapshotError.losesProperties` for an object whose class has properties besides: name the type,
    ///   `view.snapshot(Novel.Snapshot.self)`, or take `snapshotOfOwnClass`.
    @_disfavoredOverload
    public func snapshot() throws -> Object.Snapshot {
        try Object.Snapshot._requireAll(of: type(of: object))
        return object._snapshot(Object.Snapshot.self, [])
    }

    /// The object's values of the properties of a class, as they are now; with key paths only of those properties.
    public func snapshot<Snapshot: EntitySnapshot>(_ type: Snapshot.Type, _ keyPaths: PartialKeyPath<Object>...) -> Snapshot
    where Snapshot.Object == Object {
        object._snapshot(type, keyPaths)
    }

    /// All values of the object as they are now, in the snapshot type of its own class, which may be a subclass of the view's.
    public var snapshotOfOwnClass: any EntitySnapshot { object.snapshotOfOwnClass }

    /// The object's snapshot and those of the objects up to a number of steps away, with a root in the snapshot type of the root of its
    /// class's hierarchy. The graph has all properties all the same: `graph.rootOfOwnClass`.
    @_disfavoredOverload
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Object.Snapshot> { object._snapshotGraph(Object.Snapshot.self, depth) }

    /// The same with a root in the snapshot type of the view's class.
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
    /// Snapshots of what a request finds, straight from rows; see `NSManagedObjectContext.snapshots(of:)`.
    ///
    /// ```swift
    /// let items = try await stack.read { try $0.snapshots(of: Item.fetchRequest()) }
    /// ```
    ///
    /// - Throws: what the fetch throws, and `SnapshotError.losesProperties`.
    @inlinable
    public func snapshots<Object: EntityObject>(
        of request: NSFetchRequest<Object>, _ keyPaths: PartialKeyPath<Object>...
    ) throws -> [Object.Snapshot] {
        try context._snapshots(Object.Snapshot.self, request, names: Object._names(of: keyPaths), mustHaveAll: true)
    }

    /// Snapshots of a type of what a request finds; see `NSManagedObjectContext.snapshots(_:of:)`.
    ///
    /// - Throws: what the fetch throws.
    @inlinable
    public func snapshots<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, of request: NSFetchRequest<Snapshot.Object>, _ keyPaths: PartialKeyPath<Snapshot.Object>...
    ) throws -> [Snapshot] {
        try context._snapshots(type, request, names: Snapshot.Object._names(of: keyPaths), mustHaveAll: false)
    }

    /// Snapshots of what a request finds, each in the type of its object's own class; see
    /// `NSManagedObjectContext.snapshotsOfOwnClasses(of:)`.
    ///
    /// - Throws: what the fetch throws.
    public func snapshotsOfOwnClasses<Object: EntityObject>(of request: NSFetchRequest<Object>) throws -> [any EntitySnapshot] {
        try context.snapshotsOfOwnClasses(of: request)
    }
}
