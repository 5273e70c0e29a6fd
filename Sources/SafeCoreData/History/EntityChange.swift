/// One change of an object by a transaction of a store's history.
///
/// ```swift
/// for change in transaction.changes(of: Item.self) {
///     switch change {
///     case .inserted(let objectID): try await upload(objectID)
///     case .updated(let objectID, let properties) where properties.contains(\.name): try await upload(objectID)
///     case .updated: break
///     case .deleted(_, let last): try await remove(sku: last.sku)
///     }
/// }
/// ```
public enum EntityChange<Snapshot: EntitySnapshot>: Hashable, Sendable {
    /// The object was inserted.
    case inserted(NSManagedObjectID)
    /// The named properties of the object were changed.
    case updated(NSManagedObjectID, ChangedProperties<Snapshot.Object>)
    /// The object was deleted. The snapshot is partial: it has the values of the attributes that
    /// are marked with `.preservedOnDeletion`, and no others. `has(_:)` tells which those are.
    case deleted(NSManagedObjectID, Snapshot)

    /// The ID of the object. That of a deleted object leads to no object any more.
    public var objectID: NSManagedObjectID {
        switch self {
        case .inserted(let objectID), .updated(let objectID, _), .deleted(let objectID, _): objectID
        }
    }
}

/// The properties that an update changed.
public struct ChangedProperties<Object: EntityObject>: Hashable, Sendable {
    /// The names of the properties, also of those that only the object's own subclass has.
    public let names: Set<String>

    /// Whether the update changed a property.
    ///
    /// ```swift
    /// if properties.contains(\.stockCount) { refreshStock() }
    /// ```
    public func contains(_ keyPath: PartialKeyPath<Object>) -> Bool {
        Object.keyName(for: keyPath).map(names.contains) ?? false
    }
}

extension NSPersistentHistoryTransaction {
    /// The changes of objects of a class and its subclasses, in the order in which they were
    /// recorded.
    ///
    /// ```swift
    /// let transactions = try await stack.history(after: token)
    /// let inserted = transactions.flatMap { $0.changes(of: Item.self) }.filter {
    ///     if case .inserted = $0 { true } else { false }
    /// }
    /// ```
    ///
    /// Empty where the request asked for transactions alone. For a subclass, name its snapshot
    /// type: its class alone gives the snapshots of its root.
    ///
    /// Cost: O(number of all changes of the transaction).
    public func changes<Object: EntityObject>(of type: Object.Type) -> [EntityChange<Object.Snapshot>] {
        changes(type, Object.Snapshot.self)
    }

    /// The changes of objects by the type of their snapshots; otherwise as `changes(of:)`.
    ///
    /// ```swift
    /// let changes = transaction.changes(of: Novel.Snapshot.self)
    /// ```
    public func changes<Snapshot: EntitySnapshot>(of type: Snapshot.Type) -> [EntityChange<Snapshot>] {
        changes(Snapshot.Object.self, type)
    }

    private func changes<Object: EntityObject, Snapshot: EntitySnapshot>(
        _ objectClass: Object.Type, _ type: Snapshot.Type
    ) -> [EntityChange<Snapshot>] {
        let name = objectClass.describeEntity().name
        return (changes ?? []).compactMap { change in
            let ancestors = sequence(first: change.changedObjectID.entity, next: \.superentity)
            guard let entity = ancestors.first(where: { $0.name == name }) else { return nil }
            let objectID = change.changedObjectID
            switch change.changeType {
            case .insert: return .inserted(objectID)
            case .update:
                let names = (change.updatedProperties ?? []).map(\.name)
                return .updated(objectID, ChangedProperties(names: Set(names)))
            case .delete:
                // An object without a context, to convert the values by the properties of its
                // class.
                let object = Object(entity: entity, insertInto: nil)
                let preserved = entity.attributesByName.filter { $0.value.preservesValueInHistoryOnDeletion }.keys
                for name in preserved { object.setValue(change.tombstone?[name], forKey: name) }
                var snapshot = type.init(_reading: _SnapshotReader(object, names: Set(preserved)))
                snapshot.objectID = ObjectReference(objectID)
                return .deleted(objectID, snapshot)
            }
        }
    }
}
