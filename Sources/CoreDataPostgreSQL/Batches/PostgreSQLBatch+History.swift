import CoreData

// The changes that batch requests record.
extension PostgreSQLBatch {
    func noteInsertions(_ keys: some Sequence<Int64>, of entity: SQLEntity) {
        guard tracksHistory else { return }
        changes += keys.map { PostgreSQLChange(.insert, entity, $0) }
    }

    /// - Parameters:
    ///   - slots: the changed slots.
    ///   - layout: the layout that the slots are of: that of the row, or of an entity above it.
    func noteUpdate(_ row: RowReference, _ slots: some Sequence<Int>, of layout: EntityLayout) throws {
        guard tracksHistory else { return }
        let entity = try entity(row)
        let slots = slots.map { entity.layout.slot($0, ofAncestor: layout.index) }
        changes.append(
            PostgreSQLChange(.update, entity, row.key, properties: try properties.text(slots, of: entity.layout)))
    }

    func noteDeletion(_ outcome: BatchOutcome, _ losses: [RowReference: [Int]]) throws {
        guard tracksHistory else { return }
        for row in outcome.deleted + outcome.alsoDeleted {
            let entity = try entity(row)
            let tombstone = try tombstones[row].map { try Tombstone.text($0, of: entity.layout) }
            changes.append(PostgreSQLChange(.delete, entity, row.key, tombstone: tombstone))
        }
        for (row, slots) in losses.sorted(by: {
            ($0.key.layoutIndex, $0.key.key) < ($1.key.layoutIndex, $1.key.key)
        }) {
            try noteUpdate(row, slots, of: mapping.layouts.layouts[row.layoutIndex])
        }
    }

    /// Reads what the history preserves of rows to delete.
    func willDelete(_ keys: Set<Int64>, of entity: SQLEntity) throws {
        guard tracksHistory, !entity.layout.preservedSlots.isEmpty else { return }
        try execute(preservedValues(of: entity, keys.sorted())) { row in
            let reference = RowReference(key: row.int64(0), layoutIndex: entity.layout.index)
            tombstones[reference] = preservedValues(row, of: entity)
        }
    }

    private func entity(_ row: RowReference) throws -> SQLEntity {
        try backend.entity(mapping.layouts.layouts[row.layoutIndex])
    }
}
