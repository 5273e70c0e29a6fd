// The access of child contexts to this context: its objects as rows, with unsaved values.

extension NSManagedObjectContext {
    /// The key of an object for child contexts: the key of its row, or a provisional one.
    ///
    /// 0 for an object that is not in the context.
    func childKey(of object: NSManagedObject) -> Int64 {
        if object.flags.contains(.inserted) || object.key == 0 {
            let objectID = object.objectID
            return objectID.key ?? objectID.serial(in: registry.identities).map { -$0 } ?? 0
        }
        return object.key
    }

    /// The registered object that has a key for child contexts.
    func object(withChildKey key: Int64, of layout: EntityLayout, store: Int) -> NSManagedObject? {
        if let object = registry.object(store: store, root: layout.rootIndex, key: key) { return object }
        guard key < 0 else { return nil }
        if let object = newObjects.object(registry.identities.identity(ofSerial: 0 &- key)) { return object }
        return registry.object(withSerial: 0 &- key, root: layout.rootIndex)
    }

    /// The object with a key for children, or a fault; nil for a provisional key of none.
    func objectOrFault(withChildKey key: Int64, of layout: EntityLayout, store: Int) -> NSManagedObject? {
        if let object = object(withChildKey: key, of: layout, store: store) { return object }
        // The child may not know yet the permanent key that the root's save gave to the object.
        let latest = latestKey(key)
        guard latest > 0 || parentContext != nil else { return nil }
        return makeFault(key: latest, of: layout, store: store)
    }

    /// The latest key of an object that a child may know by an older, provisional key.
    func latestKey(_ key: Int64) -> Int64 {
        if key > 0 { return key }
        return registry.identities.permanentKey(ofSerial: 0 &- key, amongFirst: registry.permanentKeyCount)?.key ?? key
    }

    /// Returns whether a child's fetch leaves out an object because the child changed it.
    func isExcluded(by fetch: StoreFetch) -> (NSManagedObject) -> Bool {
        let keys = fetch.excludedKeys
        return keys.isEmpty ? { _ in false } : { keys.contains(self.childKey(of: $0)) }
    }

    /// Takes back the deletion of an object that a child, or the program, inserts again.
    func insertFormer(_ object: NSManagedObject) {
        if object.flags.contains(.discarded) { return insertAgain(object) }
        // Others have deleted the row: the deletion is as good as saved.
        if object.isDeleted, !object.flags.isDisjoint(with: .rowIsGone) { endDeletion(of: object) }
        if object.flags.contains(.deletionSaved) {
            revive(object)
            object.joinDestinations()
        } else if object.flags.contains(.deleted) {
            changes.undelete(object)
        }
    }

    /// Whether an object no longer exists, or is to be deleted.
    func isGone(_ object: NSManagedObject) -> Bool {
        !object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved])
    }

    /// The row of an object or fault without unsaved values; nil if the row is not known.
    func knownRow(of object: NSManagedObject) -> Snapshot? {
        object.hasPendingValues ? nil : object.committedRow.map(Snapshot.init(retaining:))
    }
}

/// Makes rows of a context's objects in their present state, with unsaved values.
struct RowsOfObjects {
    private let context: NSManagedObjectContext
    /// By layout index.
    private var builders: [Int: RowPageBuilder] = [:]
    private let expectedRows: Int

    init(_ context: NSManagedObjectContext, expectedRows: Int) {
        self.context = context
        self.expectedRows = expectedRows
    }

    /// The row of an object; nil when it has none any more.
    ///
    /// - Throws: when a fault's row cannot be read, or a transformable value cannot be transformed.
    mutating func row(of object: NSManagedObject) throws -> Snapshot? {
        if context.isGone(object) { return nil }
        if let known = context.knownRow(of: object) { return known }
        if object.flags.contains(.fault), !object.flags.contains(.inserted), !object.hasPendingValues {
            guard let rows = context.rows(near: object) else { return nil }
            if let cached = rows.cachedRow(object.key, of: object.layout) {
                object.keep(cached.row)
                return cached
            }
            let read = try rows.readRows([object.key], of: object.layout)
            defer { withExtendedLifetime(read) {} }
            guard let row = read.rows.first else { return nil }
            object.keep(row)
            return Snapshot(retaining: row)
        }
        return try currentRow(of: object)
    }

    /// The values of an object as a row, also if the object is deleted.
    mutating func currentRow(of object: NSManagedObject) throws -> Snapshot {
        let layout = object.layout
        // Committed values may be references of a row, and are copied as they are.
        let values = try (0..<layout.storedCount).map { try storeForm(object.currentValue($0), layout.slots[$0]) }
        var builder = builders[layout.index] ?? RowPageBuilder(layout: layout, expectedRows: expectedRows)
        let row = builder.appendRow(key: context.childKey(of: object), version: object.committedRow?.rowVersion ?? 1)
        for (slot, value) in values.enumerated() { builder.set(row, slot, value) }
        if let failure = builder.page.failure { throw failure }
        builders[layout.index] = builder
        return Snapshot(retaining: row)
    }

    private func storeForm(_ value: PropertyValue, _ slot: PropertySlot) throws -> StoredValue {
        guard let destination = value.destination else { return try value.stored(slot) }
        if context.isGone(destination) { return .null }
        return .reference(RowReference(key: context.childKey(of: destination), layoutIndex: destination.layout.index))
    }
}
