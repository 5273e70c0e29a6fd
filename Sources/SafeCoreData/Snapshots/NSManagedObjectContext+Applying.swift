/// The treatment of references to objects that are neither in the store nor among the applied
/// snapshots.
///
/// ```swift
/// // without the supplier, where that is not in the store
/// try context.apply(snapshot, danglingReferences: .drop)
/// ```
public enum DanglingReferences: Sendable {
    /// Dangling references are an error.
    case refuse
    /// Dangling references are dropped: a to-one relationship stays as it is, a to-many
    /// relationship gets the other references. A new object that requires a dropped reference fails
    /// when it is saved.
    case drop
}

extension NSManagedObjectContext {
    /// Gives an object the values of a snapshot; creates the object if the store has none with this
    /// identity.
    ///
    /// Properties without a value in the snapshot are unchanged, and have their initial value in a
    /// new object. Equal values are not set again: an object that already has all values is not
    /// changed. Derived attributes are computed by the store. Nothing is saved.
    ///
    /// ```swift
    /// var snapshot = item.snapshot()
    /// snapshot.stockCount = 12
    /// try context.apply(snapshot)       // the object of its ID has the values; save() writes them
    /// ```
    ///
    /// - Parameter danglingReferences: the treatment of references to objects that do not exist.
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(
        _ snapshot: Snapshot, danglingReferences: DanglingReferences = .refuse
    ) throws -> Snapshot.Object {
        let object = try applyAll([snapshot], danglingReferences: danglingReferences)[0]
        // `applyAll` has checked the class.
        return unsafeDowncast(object, to: Snapshot.Object.self)
    }

    /// Applies snapshots that may refer to each other in any order: first creates all new objects,
    /// then sets all values.
    ///
    /// Cost: one fetch for each entity and each 400 of its objects.
    ///
    /// ```swift
    /// let items = try context.apply(JSONDecoder().decode([Item.Snapshot].self, from: data))
    /// try context.save()
    /// ```
    ///
    /// - Parameter danglingReferences: the treatment of references to objects that do not exist.
    /// - Returns: the objects, in the order of the snapshots.
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Snapshot: EntitySnapshot>(
        _ snapshots: [Snapshot], danglingReferences: DanglingReferences = .refuse
    ) throws -> [Snapshot.Object] {
        try applyAll(snapshots, danglingReferences: danglingReferences).map {
            unsafeDowncast($0, to: Snapshot.Object.self)
        }
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
