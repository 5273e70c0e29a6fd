import Foundation

// Deletions of many rows in a database file.
extension SQLiteBatch: DeletingBatch {
    var mapping: SQLMapping { backend.mapping }
    var generator: SQLGenerator { SQLGenerator(mapping: backend.mapping, store: store) }
    // One connection writes at a time.
    var meetsOthers: Bool { false }
    var hasFiles: Bool { true }

    func delete(_ deletion: RowDeletion) throws -> BatchOutcome {
        let rows = BatchDeletion(deletion, self)
        var outcome = try rows.run()
        if tracksHistory { noteHistory(outcome, rows.losses) }
        if !deletion.wantsReferences { outcome.deleted = [] }
        return outcome
    }

    @discardableResult
    func run(_ sql: String, _ arguments: [SQLArgument]) throws -> Int {
        try connection.run(sql, arguments.map(\.value))
        return Int(connection.changes)
    }

    func references(_ sql: String, _ arguments: [SQLArgument], only: EntityLayout?) throws -> [RowReference] {
        guard let only else { return try references(sql, arguments.map(\.value)) }
        var references: [RowReference] = []
        try connection.query(sql, arguments.map(\.value)) { row in
            references.append(RowReference(key: row.int64(1), layoutIndex: only.index))
        }
        return references
    }

    func lock(_ rows: [RowReference]) -> [RowReference] { rows }

    func lockRows(holding column: SQLColumn, of entity: SQLEntity, _ keys: [SQLArgument]) {}

    func willDelete(_ keys: Set<Int64>, of entity: SQLEntity) throws {
        files?.supersede(try externalFileNames(entity, keys))
        if tracksHistory { try noteTombstones(entity, keys) }
    }

    // MARK: History

    private func noteTombstones(_ entity: SQLEntity, _ keys: Set<Int64>) throws {
        let slots = entity.layout.preservedSlots
        let columns = slots.compactMap { entity.columns[$0]?.name }
        guard !slots.isEmpty, columns.count == slots.count else { return }
        try connection.query(statements.values(columns, of: entity), list(keys)) { row in
            tombstones[RowReference(key: row.int64(0), layoutIndex: entity.layout.index)] = slots.indices.map {
                row.storedValue(Int32($0 + 1))
            }
        }
    }

    private func noteHistory(_ outcome: BatchOutcome, _ losses: [RowReference: [Int]]) {
        func number(_ reference: RowReference) -> Int { mapping.entities[reference.layoutIndex]?.number ?? 0 }
        for reference in outcome.deleted + outcome.alsoDeleted {
            history.append(
                .delete, entityNumber: number(reference), key: reference.key, tombstones: tombstones[reference] ?? [])
        }
        for (reference, slots) in losses.sorted(by: {
            ($0.key.layoutIndex, $0.key.key) < ($1.key.layoutIndex, $1.key.key)
        }) {
            let columns =
                mapping.entities[reference.layoutIndex].map { self.columns(ofHistory: $0).changes(slots) } ?? .null
            history.append(.update, entityNumber: number(reference), key: reference.key, columns: columns)
        }
    }
}
