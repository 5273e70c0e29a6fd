import Foundation

/// Copies all rows of one store to another, empty one, in one transaction.
///
/// Rows are copied in blocks if the source reads and the destination writes in blocks. Then only
/// the keys of all rows are held. Rows keep their keys in a new file and get new ones elsewhere,
/// and each reference gets the new key of its destination. References to rows that do not exist
/// are dropped.
struct StoreCopy {
    private let sourceStore: NSPersistentStore
    private let destinationStore: NSPersistentStore
    private let source: any SnapshotStore
    private let destination: any SnapshotStore
    /// The number of rows that are read and written at once.
    private static let blockSize = 10_000
    /// The approximate number of bytes of texts and blobs that are read and written at once. Files
    /// beside the store count, too.
    private static let blockBytes = 8 << 20
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
            "Objects of the store \(StoreName.text(type: store.type, url: store.url)) cannot be copied: its class "
                + "gives no "
                + "access to its rows.", userInfo: StoreOpeningErrors.userInfo(type: store.type, url: store.url))
    }

    /// The rows of one entity.
    private struct Table {
        let layout: EntityLayout
        let keys: [Int64]
        /// The keys in the destination, in the order of `keys`.
        var newKeys: [Int64] = []
        /// All rows, if the source returns them at once.
        var snapshots: [Snapshot]?
    }

    private typealias NewKeys = [MovedRows.FormerKey: RowReference]

    func run() throws -> MovedRows {
        var tables = try entities.filter { !$0.isAbstract }.compactMap(table)
        for root in Set(tables.map(\.layout.rootIndex)).sorted() { try reserveKeys(inHierarchy: root, &tables) }
        var newKeys: NewKeys = [:]
        for table in tables {
            for (key, newKey) in zip(table.keys, table.newKeys) {
                newKeys[MovedRows.FormerKey(root: table.layout.rootIndex, key: key)] =
                    RowReference(key: newKey, layoutIndex: table.layout.index)
            }
        }
        try destination.saveBlocks { save in
            // All rows are written before the relationships that refer to them.
            for table in tables { try copyRows(of: table, newKeys, save) }
            for table in tables { try copyRelationships(of: table, newKeys, save) }
        }
        let objectIDs = tables.flatMap { table in
            zip(table.keys, table.newKeys).flatMap { key, newKey in
                [
                    NSManagedObjectID(key: key, layout: table.layout, store: sourceStore),
                    NSManagedObjectID(key: newKey, layout: table.layout, store: destinationStore),
                ]
            }
        }
        return MovedRows(from: sourceStore, to: destinationStore, newKeys, objectIDs: objectIDs)
    }

    /// Reads the keys of an entity's own rows; nil if there are no rows.
    private func table(of entity: EntityLayout) throws -> Table? {
        var plan = StoreFetch(entity: entity)
        plan.includesSubentities = false
        let keys: [Int64]
        var snapshots: [Snapshot]?
        if source.readsRowsInBatches {
            plan.shape = .references
            guard case .references(let references) = try source.fetch(plan) else { return nil }
            keys = references.map(\.key).sorted()
        } else {
            guard case .rows(let fetched) = try source.fetch(plan) else { return nil }
            // Rows are read by address: their pages must live until each has a reference of its
            // own.
            defer { withExtendedLifetime(fetched) {} }
            snapshots = fetched.rows.map { Snapshot(retaining: $0) }
            keys = fetched.rows.map(\.rowKey)
        }
        return keys.isEmpty ? nil : Table(layout: entity, keys: keys, snapshots: snapshots)
    }

    /// Reserves the keys in the destination for all rows of a hierarchy.
    private func reserveKeys(inHierarchy root: Int, _ tables: inout [Table]) throws {
        let members = tables.indices.filter { tables[$0].layout.rootIndex == root }
        for member in members {
            let first = try destination.reserveKeys(tables[member].keys.count, for: tables[member].layout)
            tables[member].newKeys = tables[member].keys.indices.map { first + Int64($0) }
        }
        // A file counts keys from 1. In a new one all keys up to the rows' highest can be theirs,
        // unless that would leave too few for new rows.
        guard destination is SQLiteStore, tables[members[0]].newKeys.first == 1 else { return }
        let keys = members.map { tables[$0].keys }.joined()
        guard let lowest = keys.min(), lowest > 0, let highest = keys.max(), highest <= Int64.max / 2 else { return }
        let rest = Int(highest) - keys.count
        if rest > 0 {
            let first = try destination.reserveKeys(rest, for: tables[members[0]].layout)
            // Another program has taken some meanwhile.
            if first != Int64(keys.count) + 1 { return }
        }
        for member in members { tables[member].newKeys = tables[member].keys }
    }

    // MARK: Rows

    private func copyRows(of table: Table, _ newKeys: NewKeys, _ save: (SaveBatch) throws -> Void) throws {
        if let snapshots = table.snapshots { return try save(batch(snapshots, table.layout, newKeys)) }
        for start in stride(from: 0, to: table.keys.count, by: Self.blockSize) {
            var keys = Array(table.keys[start..<min(start + Self.blockSize, table.keys.count)])
            while !keys.isEmpty {
                let (read, rest) = try source.readRows(keys, of: table.layout, upTo: Self.blockBytes)
                defer { withExtendedLifetime(read) {} }
                let rows = read.rows.sorted { $0.rowKey < $1.rowKey }
                try save(batch(rows.map { Snapshot(retaining: $0) }, table.layout, newKeys))
                keys = rest
            }
        }
    }

    private func batch(_ rows: [Snapshot], _ layout: EntityLayout, _ newKeys: NewKeys) -> SaveBatch {
        var batch = SaveBatch()
        for row in rows {
            guard let key = newKeys[MovedRows.FormerKey(root: layout.rootIndex, key: row.key)]?.key else { continue }
            let values = RowValues.make(slotCount: layout.slots.count)
            for slot in 0..<layout.storedCount {
                var value = row.value(slot)
                if case .reference(let reference) = value {
                    value = moved(reference, from: layout, newKeys).map(StoredValue.reference) ?? .null
                }
                values[slot] = value
            }
            batch.inserts.append(RowChange(layout: layout, key: key, base: nil, values: values))
        }
        return batch
    }

    // MARK: Relationships

    private func copyRelationships(of table: Table, _ newKeys: NewKeys, _ save: (SaveBatch) throws -> Void) throws {
        for slot in table.layout.slots where needsOwnCopy(slot) {
            for start in stride(from: 0, to: table.keys.count, by: Self.blockSize) {
                let range = start..<min(start + Self.blockSize, table.keys.count)
                var batch = SaveBatch()
                for (index, references) in zip(
                    range, try related(to: Array(table.keys[range]), slot, table.layout, newKeys))
                where !references.isEmpty {
                    var change = RelationshipChange(
                        layout: table.layout, slot: slot.index, ownerKey: table.newKeys[index])
                    change.added = references
                    if slot.kind == .orderedToMany { change.order = references }
                    batch.relationshipChanges.append(change)
                }
                if !batch.relationshipChanges.isEmpty { try save(batch) }
            }
        }
    }

    private func related(
        to keys: [Int64], _ slot: PropertySlot, _ layout: EntityLayout, _ newKeys: NewKeys
    ) throws -> [[RowReference]] {
        let related = try source.relatedReferences(toAll: keys, through: slot, of: layout)
        return keys.map { key in (related[key] ?? []).compactMap { moved($0, from: layout, newKeys) } }
    }

    /// Whether the to-one values of rows do not express all of a relationship.
    private func needsOwnCopy(_ slot: PropertySlot) -> Bool {
        guard slot.kind.isToMany, !slot.isTransient else { return false }
        return slot.kind == .orderedToMany || !slot.inverseIsToOne
    }

    private func moved(
        _ reference: RowReference, from owner: EntityLayout, _ keys: NewKeys
    ) -> RowReference? {
        let layouts = owner.model.layouts
        guard layouts.indices.contains(reference.layoutIndex) else { return nil }
        return keys[MovedRows.FormerKey(root: layouts[reference.layoutIndex].rootIndex, key: reference.key)]
    }
}
