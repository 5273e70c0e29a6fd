// Conflicts of a save: rows that another context or process changed, and unique values that other
// rows have.
extension SaveSession {
    /// Returns the current row; not published, as it may be part of this unfinished save.
    private func currentRow(_ key: Int64, of layout: EntityLayout) throws -> Snapshot? {
        let root = try backend.entity(backend.mapping.layouts.layouts[layout.rootIndex])
        let select = backend.selectPlan(root, includesSubentities: true)
        var collector = RowCollector(select, expectedRows: 1)
        try connection.read(select.columns.statement(for: .one), key) { try collector.readAll($0) }
        let rows = collector.finishUnpublished()
        guard let row = rows.rows.first, let page = rows.pages.first else { return nil }
        return Snapshot(row: row, page: page)
    }

    func addConflict(_ change: SaveConflicts.RowConflict.Change, _ index: Int, _ row: RowChange) throws {
        conflicts.rows.append(
            .init(change: change, index: index, current: try currentRow(row.key, of: row.layout)))
    }

    func addViolation(insert: Int? = nil, update: Int? = nil) throws {
        guard let change = insert.map({ batch.inserts[$0] }) ?? update.map({ batch.updates[$0] }) else { return }
        let entity = try backend.entity(change.layout)
        for constraint in backend.mapping.constraints(of: change.layout) {
            let values = constraint.names.map { name -> StoredValue in
                guard let slot = change.layout.slotByPath[name] else { return .null }
                if let values = change.values, values.has(slot) { return values[slot] }
                return change.base?.value(slot) ?? .null
            }
            if values.contains(where: \.isNull) { continue }
            let owner = try connection.integer(
                statements.owner(of: constraint.columns, in: entity), values + [.integer(change.key)])
            guard let owner else { continue }
            let root = change.layout.rootIndex
            // The other row may be one that this batch wrote.
            let otherInserts = batch.inserts.indices.filter {
                batch.inserts[$0].key == owner && batch.inserts[$0].layout.rootIndex == root
            }
            let otherUpdates = batch.updates.indices.filter {
                batch.updates[$0].key == owner && batch.updates[$0].layout.rootIndex == root && rows.updated[$0] != nil
            }
            let isInBatch = !otherInserts.isEmpty || !otherUpdates.isEmpty
            conflicts.violations.append(
                .init(
                    constraint: constraint.names, values: values, layout: constraint.layout,
                    existing: isInBatch ? nil : try currentRow(owner, of: change.layout),
                    inserts: otherInserts + (insert.map { [$0] } ?? []),
                    updates: otherUpdates + (update.map { [$0] } ?? [])))
            return
        }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "A unique index that is not in the model refuses a row of '\(change.layout.name)' (key \(change.key)).")
    }
}
