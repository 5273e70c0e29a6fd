// Applying snapshots as the only expression of a write's block, whose result must be able to leave it: `stack.write { try $0.apply(snapshots) }`.
// The compiler takes these where it cannot take the functions that give the objects, and nowhere else.
extension WriteContext {
    /// Gives an object the values of a snapshot, as the function of that name that gives the object.
    @_disfavoredOverload
    public func apply<Snapshot: EntitySnapshot>(_ snapshot: Snapshot, danglingReferences: DanglingReferences = .refuse) throws {
        try applyAll([snapshot], danglingReferences: danglingReferences) as Void
    }

    /// Applies snapshots that may lead to each other, as the function of that name that gives the objects.
    @_disfavoredOverload
    public func apply<Snapshot: EntitySnapshot>(_ snapshots: [Snapshot], danglingReferences: DanglingReferences = .refuse) throws {
        try applyAll(snapshots, danglingReferences: danglingReferences) as Void
    }

    /// Applies all snapshots of a graph, as the function of that name that gives the object of its root.
    @_disfavoredOverload
    public func apply<Root: EntitySnapshot>(_ graph: SnapshotGraph<Root>, danglingReferences: DanglingReferences = .refuse) throws {
        let _: Root.Object = try apply(graph, danglingReferences: danglingReferences)
    }

    /// Applies snapshots of several classes, as the function of that name that gives the objects.
    @_disfavoredOverload
    public func applyAll(_ snapshots: [any EntitySnapshot], danglingReferences: DanglingReferences = .refuse) throws {
        let _: [NSManagedObject] = try applyAll(snapshots, danglingReferences: danglingReferences)
    }
}
