extension NSManagedObjectContext {
    /// Gives an object the values of a snapshot; makes the object if the store has none of that identity.
    ///
    /// What the snapshot has no value of is left alone, and in a new object has its initial value. Equal values are not set
    /// again: an object that has them all is not changed. Derived attributes are the store's. Nothing is saved.
    ///
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(_ snapshot: Snapshot) throws -> Snapshot.Object {
        let object = try applyAll([snapshot])[0]
        // The application has checked the class.
        return unsafeDowncast(object, to: Snapshot.Object.self)
    }

    /// Applies snapshots that may lead to each other in any order: first all new objects are made, then all values set.
    ///
    /// Cost: one fetch for each entity and some hundreds of objects.
    ///
    /// - Returns: the objects, in the order of the snapshots.
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(_ snapshots: [Snapshot]) throws -> [Snapshot.Object] {
        try applyAll(snapshots).map { unsafeDowncast($0, to: Snapshot.Object.self) }
    }

    /// Applies snapshots of several classes, as `apply(_:)` does.
    @discardableResult
    public func applyAll(_ snapshots: [any EntitySnapshot]) throws -> [NSManagedObject] {
        var application = SnapshotApplication(context: self)
        return try application.apply(snapshots)
    }
}
