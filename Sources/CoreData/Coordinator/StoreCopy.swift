import Foundation

/// Copies all rows of one store to another, empty one, in one save.
///
/// Rows get new keys; every reference is led to the new key of its destination. References to rows that do not exist are
/// dropped.
struct StoreCopy {
    private let sourceStore: NSPersistentStore
    private let destinationStore: NSPersistentStore
    private let source: any SnapshotStore
    private let destination: any SnapshotStore
    /// What the source store holds.
    private let entities: [EntityLayout]

    init(from source: NSPersistentStore, to destination: NSPersistentStore, entities: [EntityLayout]) throws {
        sourceStore = source
        destinationStore = destination
        self.source = try Self.rows(of: source)
        self.destination = try Self.rows(of: destination)
        self.entities = entities
    }

    private static func rows(of store: NSPersistentStore) throws -> any SnapshotStore {
        if let rows = store.snapshotStore { return rows }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "Objects of the store \(StoreName.text(type: store.type, url: store.url)) cannot be copied: its class gives no "
                + "access to its rows.", userInfo: StoreOpeningErrors.userInfo(type: store.type, url: store.url))
    }

    /// A row's old key in the table of a root entity.
    private struct TableKey: Hashable {
        let rootIndex: Int
        let key: Int64
    }

    /// - Returns: the ID of each row in the source, followed by the one in the destination.
    func run() throws -> [NSManagedObjectID] {
        var keys: [TableKey: RowReference] = [:]
        var rows: [(layout: EntityLayout, snapshot: Snapshot, key: Int64)] = []
        for entity in entities where !entity.isAbstract {
            var plan = StoreFetch(entity: entity)
            plan.includesSubentities = false
            guard case .rows(let fetched) = try source.fetch(plan), !fetched.rows.isEmpty else { continue }
            // Rows are read by address: their pages must live until each has a reference of its own.
            defer { withExtendedLifetime(fetched) {} }
            var key = try destination.reserveKeys(fetched.rows.count, for: entity)
            for row in fetched.rows {
                keys[TableKey(rootIndex: entity.rootIndex, key: row.rowKey)] =
                    RowReference(key: key, layoutIndex: entity.index)
                rows.append((entity, Snapshot(retaining: row), key))
                key += 1
            }
        }

        let batch = SaveBatch()
        for row in rows {
            let values = RowValues.make(slotCount: row.layout.slots.count)
            for slot in 0..<row.layout.storedCount {
                var value = row.snapshot.value(slot)
                if case .reference(let reference) = value {
                    value = moved(reference, from: row.layout, keys).map(StoredValue.reference) ?? .null
                }
                values[slot] = value
            }
            batch.inserts.append(RowChange(layout: row.layout, key: row.key, base: nil, values: values))
            for slot in row.layout.slots where needsOwnCopy(slot) {
                let related = try source.relatedRows(to: row.snapshot.key, through: slot, of: row.layout)
                defer { withExtendedLifetime(related) {} }
                let references = related.rows.compactMap { destination in
                    moved(
                        RowReference(key: destination.rowKey, layoutIndex: destination.rowLayoutIndex),
                        from: row.layout, keys)
                }
                guard !references.isEmpty else { continue }
                var change = RelationshipChange(layout: row.layout, slot: slot.index, ownerKey: row.key)
                change.added = references
                if slot.kind == .orderedToMany { change.order = references }
                batch.relationshipChanges.append(change)
            }
        }
        _ = try destination.save(batch)
        return rows.flatMap { row in
            [
                NSManagedObjectID(key: row.snapshot.key, layout: row.layout, store: sourceStore),
                NSManagedObjectID(key: row.key, layout: row.layout, store: destinationStore),
            ]
        }
    }

    /// Whether the rows' to-one values do not say everything about a relationship.
    private func needsOwnCopy(_ slot: PropertySlot) -> Bool {
        guard slot.kind.isToMany, !slot.isTransient else { return false }
        return slot.kind == .orderedToMany || slot.inverseIsToMany || slot.inverseSlot < 0
    }

    private func moved(
        _ reference: RowReference, from owner: EntityLayout, _ keys: [TableKey: RowReference]
    ) -> RowReference? {
        let layouts = owner.model.layouts
        guard layouts.indices.contains(reference.layoutIndex) else { return nil }
        return keys[TableKey(rootIndex: layouts[reference.layoutIndex].rootIndex, key: reference.key)]
    }
}
