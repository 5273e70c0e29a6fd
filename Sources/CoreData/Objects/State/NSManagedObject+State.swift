// Read access to the state of an object; `ObjectState` explains its parts.

extension NSManagedObject {
    @inlinable @inline(__always) final var row: RowPointer? { state.row }
    @inlinable @inline(__always) final var accessorTable: AccessorTable { state.accessorTable }
    @inline(__always) final var flags: ObjectFlags { state.flags }
    @inline(__always) final var storeNumber: Int16 { state.storeNumber }
    @inline(__always) final var key: Int64 { state.key }
    @inline(__always) final var committedRow: RowPointer? { state.committedRow }
    @inline(__always) final var pendingReference: Unmanaged<PendingValues>? { state.pendingReference }
    @inline(__always) final var extrasReference: Unmanaged<ObjectExtras>? { state.extrasReference }
    @inline(__always) final var heldRegistry: Unmanaged<ObjectRegistry>? { state.heldRegistry }

    /// The layout of the object's properties.
    @inline(__always)
    final var layout: EntityLayout { state.accessorTable.owner._withUnsafeGuaranteedRef { $0 } }

    /// Keeps `committedRow` alive.
    final var page: RowPage? { state.heldPage?.takeUnretainedValue() }

    /// The registry of the object's context.
    final var registry: ObjectRegistry? { state.heldRegistry?.takeUnretainedValue() }

    /// Unsaved values of stored properties; a missing slot of a new object has its default.
    @inline(__always)
    final var pending: PendingValues? { state.pendingReference?.takeUnretainedValue() }

    /// The state that an object needs only once its relationships or its temporary ID are used.
    @inline(__always)
    final var extras: ObjectExtras? { state.extrasReference?.takeUnretainedValue() }
}
