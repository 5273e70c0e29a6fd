// The history entries of a save, and the rows whose derived values triggers changed.
extension SaveSession {
    /// Records the values of a row to delete that the history preserves.
    ///
    /// These are the values that the save changed, otherwise the row's values.
    func noteTombstones(of change: RowChange, _ index: Int) throws {
        let slots = change.layout.preservedSlots
        guard !slots.isEmpty else { return }
        let entity = try backend.entity(change.layout)
        var arguments: [StoredValue] = []
        let columns = slots.map { slot in
            guard let column = entity.columns[slot] else { return "NULL" }
            guard let values = change.values, values.has(slot) else { return SQLSchema.identifier(column.name) }
            arguments.append(values[slot])
            // Converted as the column would do.
            return "CAST(? AS \(column.type.declaration))"
        }
        try connection.query(
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLSchema.identifier(entity.table.name)) WHERE Z_PK = ?",
            arguments + [.integer(change.key)]
        ) { row in
            tombstones[index] = slots.indices.map { row.storedValue(Int32($0)) }
        }
    }

    private func historyColumns(of layout: EntityLayout) throws -> HistoryColumns {
        if let known = historyColumns[layout.index] { return known }
        let made = HistoryColumns(try backend.entity(layout))
        historyColumns[layout.index] = made
        return made
    }

    /// - Returns: the number of the transaction; nil where nothing changed.
    func writeHistory() throws -> Int64? {
        var changes = SQLiteHistory.Changes()
        func number(_ layout: EntityLayout) -> Int { backend.mapping.entity(layout)?.number ?? 0 }
        for change in batch.inserts {
            changes.append(.insert, entityNumber: number(change.layout), key: change.key)
        }
        for change in batch.updates {
            let columns = try historyColumns(of: change.layout).changes(change.changedProperties)
            changes.append(.update, entityNumber: number(change.layout), key: change.key, columns: columns)
        }
        for (index, change) in batch.deletes.enumerated() {
            changes.append(
                .delete, entityNumber: number(change.layout), key: change.key, tombstones: tombstones[index] ?? [])
        }
        return try SQLiteHistory.write(
            changes, author: batch.author.transactionAuthor, contextName: batch.author.contextName, in: connection,
            hasStrings: backend.columns["ATRANSACTIONSTRING"] != nil,
            tombstoneColumns: SQLiteHistory.tombstoneCount(backend.columns))
    }

    /// Reads the rows again whose derived values the triggers of this save changed.
    func readDerivedRows() throws -> [RowPage] {
        guard !connection.affectedRows.isEmpty else { return [] }
        var keysByRoot: [Int: Set<Int64>] = [:]
        for affected in connection.affectedRows {
            guard let index = backend.mapping.layoutIndex(forNumber: affected.entityNumber) else { continue }
            keysByRoot[backend.mapping.layouts.layouts[index].rootIndex, default: []].insert(affected.key)
        }
        var pages: [RowPage] = []
        for (root, keys) in keysByRoot {
            let select = backend.selectPlan(
                try backend.entity(backend.mapping.layouts.layouts[root]), includesSubentities: true)
            var collector = RowCollector(select, expectedRows: keys.count)
            let statement = select.columns.statement(for: .list)
            try connection.read(statement, [backend.mapping.dialect.keyList(keys).value]) { try collector.readAll($0) }
            pages += collector.finishUnpublished().pages
        }
        return pages
    }
}
