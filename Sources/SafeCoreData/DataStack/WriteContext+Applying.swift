// Overloads for a write block whose only expression applies snapshots, since the block's result
// must be `Sendable`: `stack.write { try $0.apply(snapshots) }`. The compiler chooses these only
// where it cannot choose the functions that return the objects.
extension WriteContext {
    /// Gives an object the values of a snapshot, like the function of the same name that returns
    /// the object.
    @_disfavoredOverload
    public func apply<Snapshot: EntitySnapshot>(_ snapshot: Snapshot, danglingReferences: DanglingReferences = .refuse)
        throws
    {
        try applyAll([snapshot], danglingReferences: danglingReferences) as Void
    }

    /// Applies snapshots that may refer to each other, like the function of the same name that
    /// returns the objects.
    @_disfavoredOverload
    public func apply<Snapshot: EntitySnapshot>(
        _ snapshots: [Snapshot], danglingReferences: DanglingReferences = .refuse
    ) throws {
        try applyAll(snapshots, danglingReferences: danglingReferences) as Void
    }

    /// Applies all snapshots of a graph, like the function of the same name that returns the root's
    /// object.
    @_disfavoredOverload
    public func apply<Root: EntitySnapshot>(
        _ graph: SnapshotGraph<Root>, danglingReferences: DanglingReferences = .refuse
    ) throws {
        let _: Root.Object = try apply(graph, danglingReferences: danglingReferences)
    }

    /// Applies snapshots of several classes, like the function of the same name that returns the
    /// objects.
    @_disfavoredOverload
    public func applyAll(_ snapshots: [any EntitySnapshot], danglingReferences: DanglingReferences = .refuse) throws {
        let _: [NSManagedObject] = try applyAll(snapshots, danglingReferences: danglingReferences)
    }
}
