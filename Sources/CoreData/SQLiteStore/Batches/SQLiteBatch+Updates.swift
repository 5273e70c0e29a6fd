import CSQLite
import Foundation

// Updates of many rows.
extension SQLiteBatch {
    func update(_ update: RowUpdate) throws -> BatchOutcome {
        let entity = try backend.entity(update.rows.entity)
        let external = update.assignments.filter { entity.columns[$0.slot]?.allowsExternalStorage == true }
        let wantsKeys = update.wantsReferences || tracksHistory || !external.isEmpty
        // An external file belongs to one row, so each row gets its own.
        let replaced = external.isEmpty ? [] : try keysBefore(update)
        let old = try externalFileNames(entity, replaced) { slot in external.contains { $0.slot == slot } }
        let plain = RowUpdate(
            rows: update.rows,
            assignments: update.assignments.filter { entity.columns[$0.slot]?.allowsExternalStorage != true })
        let generator = SQLGenerator(mapping: backend.mapping, store: store)
        let statement = try generator.update(
            plain, entity, returning: wantsKeys ? statements.returningReferences(entity) : ""
        )
        .statement(backend.mapping.dialect)
        var outcome = BatchOutcome()
        do {
            if wantsKeys {
                outcome.updated = try references(statement.sql, statement.values)
                outcome.updatedCount = outcome.updated.count
            } else {
                try connection.run(statement.sql, statement.values)
                outcome.updatedCount = Int(connection.changes)
            }
        } catch let error as SQLiteError where error.isUniquenessViolation {
            let columns = error.uniqueColumns.map(Set.init)
            throw update.uniquenessFailure(in: backend.mapping) { Set($0.columns) == columns } ?? error
        }
        for (slot, value) in external {
            guard let column = entity.columns[slot] else { continue }
            try setExternal(column, value, entity, outcome.updated)
        }
        files?.supersede(old)
        if tracksHistory { noteHistory(update, outcome.updated) }
        if !update.wantsReferences { outcome.updated = [] }
        return outcome
    }

    /// The keys of the rows that an update will change.
    private func keysBefore(_ update: RowUpdate) throws -> [Int64] {
        var fetch = update.rows
        fetch.shape = .references
        let generator = SQLGenerator(mapping: backend.mapping, store: store)
        let entity = try generator.entity(fetch.entity)
        let statement = try generator.fetch(fetch, entity) {
            backend.selectPlan(entity, includesSubentities: true).columns
        }
        .statement(backend.mapping.dialect)
        var keys: [Int64] = []
        try connection.query(statement.sql, statement.values) { keys.append($0.int64(1)) }
        return keys
    }

    private func setExternal(
        _ column: SQLColumn, _ value: RowUpdate.Assignment, _ entity: SQLEntity, _ rows: [RowReference]
    ) throws {
        guard case .constant(let constant) = value else {
            throw CoreDataErrors.expressionForExternalData(column.propertyName, of: entity.layout.name)
        }
        let sql = statements.setValue(column, of: entity)
        for row in rows {
            var stored = constant
            if case .data(let data) = constant { stored = .data(try externalValue(of: data)) }
            try connection.run(sql, [stored, .integer(row.key)])
        }
    }

    private func noteHistory(_ update: RowUpdate, _ rows: [RowReference]) {
        var columns: [Int: StoredValue] = [:]
        for row in rows {
            let layout = backend.mapping.layouts.layouts[row.layoutIndex]
            let known = columns[row.layoutIndex]
            let changed =
                known
                ?? backend.mapping.entity(layout).map { entity in
                    self.columns(ofHistory: entity).changes(
                        update.assignments.map { layout.slot($0.slot, ofAncestor: update.rows.entity.index) })
                } ?? .null
            if known == nil { columns[row.layoutIndex] = changed }
            history.append(
                .update, entityNumber: backend.mapping.entity(layout)?.number ?? 0, key: row.key, columns: changed)
        }
    }
}
