// Read access to the state of an object; `ObjectState` explains its parts.

extension ObjectState {
    /// The committed row if it may be read directly, as in a loaded object without unsaved values.
    /// Nil for faults and new objects.
    @inlinable @inline(__always) var row: RowPointer? {
        RowPointer(bitPattern: rowAddress & 1 == 0 ? rowAddress : 0)
    }

    /// The committed row whether or not the fault has fired.
    @inline(__always) var committedRow: RowPointer? { RowPointer(bitPattern: rowAddress & ~1) }
}

extension NSManagedObject {
    @inlinable @inline(__always) final var row: RowPointer? { state.row }
    @inlinable @inline(__always) final var accessorTable: AccessorTable { state.accessorTable }
    @inline(__always) final var flags: ObjectFlags { state.flags }
    @inline(__always) final var storeNumber: Int16 { state.storeNumber }
    @inline(__always) final var key: Int64 { state.key }
    @inline(__always) final var committedRow: RowPointer? { state.committedRow }
    @inline(__always) final var pendingReference: Retained<PendingValues>? { state.pendingReference }
    @inline(__always) final var extrasReference: Retained<ObjectExtras>? { state.extrasReference }
    @inline(__always) final var heldRegistry: Retained<ObjectRegistry>? { state.heldRegistry }

    /// The layout of the object's properties.
    @inline(__always)
    final var layout: EntityLayout { state.accessorTable.owner.withObject { $0 } }

    /// Keeps `committedRow` alive.
    final var page: RowPage? { state.heldPage?.object }

    /// The registry of the object's context.
    final var registry: ObjectRegistry? { state.heldRegistry?.object }

    /// Unsaved values of stored properties; a missing slot of a new object has its default.
    @inline(__always)
    final var pending: PendingValues? { state.pendingReference?.object }

    /// The state that an object needs only once its relationships or its temporary ID are used.
    @inline(__always)
    final var extras: ObjectExtras? { state.extrasReference?.object }
}

// MARK: What programs ask

extension NSManagedObject {
    /// Whether the object's values are not loaded yet. True also for an object whose deletion was
    /// saved, which keeps the values that it has.
    public final var isFault: Bool { !flags.isDisjoint(with: [.fault, .deletionSaved]) }

    /// Whether the object is new in its context and not saved yet.
    public final var isInserted: Bool { flags.contains(.inserted) && !flags.contains(.deleted) }

    /// Whether the object has unsaved changes (and is neither new nor deleted).
    public final var isUpdated: Bool { flags.contains(.updated) && !flags.contains(.deleted) }

    /// Whether the object will be deleted by the next save.
    public final var isDeleted: Bool { flags.contains(.deleted) }

    /// Whether the object is inserted, updated or deleted.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// Whether a persistent property differs from its committed value, or the object is new or
    /// deleted.
    public final var hasPersistentChangedValues: Bool {
        guard flags.isDisjoint(with: [.inserted, .deleted]) else {
            return flags.contains(.inserted) ? !changedValues().isEmpty : true
        }
        return hasPersistentChanges
    }

    /// 0 for a loaded object that is not being turned into a fault, another number otherwise.
    public final var faultingState: Int { isFault ? 1 : 0 }
}
