/// What happens to references to objects that neither the store has nor the applied snapshots show.
///
/// ```swift
/// try context.apply(snapshot, danglingReferences: .drop)  // without the supplier, where that is not in the store
/// ```
public enum DanglingReferences: Sendable {
    /// They are an error.
    case refuse
    /// They are left out: a relationship with one object stays as it is, one with several gets the others. A new object that
    /// needs what was left out fails when it is saved.
    case drop
}

extension NSManagedObjectContext {
    /// Gives an object the values of a snapshot; makes the object if the store has none of that identity.
    ///
    /// What the snapshot has no value of is left alone, and in a new object has its initial value. Equal values are not set
    /// again: an object that has them all is not changed. Derived attributes are the store's. Nothing is saved.
    ///
    /// ```swift
    /// var snapshot = item.snapshot()
    /// snapshot.stockCount = 12
    /// try context.apply(snapshot)                             // the object of its ID has the values; save() writes them
    /// ```
    ///
    /// - Parameter danglingReferences: what to do about references to objects that do not exist.
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(
        _ snapshot: Snapshot, danglingReferences: DanglingReferences = .refuse
    ) throws -> Snapshot.Object {
        let object = try applyAll([snapshot], danglingReferences: danglingReferences)[0]
        // The application has checked the class.
        return unsafeDowncast(object, to: Snapshot.Object.self)
    }

    /// Applies snapshots that may lead to each other in any order: first all new objects are made, then all values set.
    ///
    /// Cost: one fetch for each entity and some hundreds of objects.
    ///
    /// ```swift
    /// let items = try context.apply(JSONDecoder().decode([Item.Snapshot].self, from: data))
    /// try context.save()
    /// ```
    ///
    /// - Parameter danglingReferences: what to do about references to objects that do not exist.
    /// - Returns: the objects, in the order of the snapshots.
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(
        _ snapshots: [Snapshot], danglingReferences: DanglingReferences = .refuse
    ) throws -> [Snapshot.Object] {
        try applyAll(snapshots, danglingReferences: danglingReferences).map { unsafeDowncast($0, to: Snapshot.Object.self) }
    }

    /// Applies snapshots of several classes, as `apply(_:danglingReferences:)` does.
    ///
    /// ```swift
    /// try context.applyAll([item.snapshot(), supplier.snapshot()])
    /// ```
    ///
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func applyAll(
        _ snapshots: [any EntitySnapshot], danglingReferences: DanglingReferences = .refuse
    ) throws -> [NSManagedObject] {
        var application = SnapshotApplication(context: self, danglingReferences: danglingReferences)
        return try application.apply(snapshots)
    }
}
