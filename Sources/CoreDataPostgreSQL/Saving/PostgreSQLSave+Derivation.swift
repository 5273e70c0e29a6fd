import CoreData

// Reading rows again after triggers have changed them.
extension PostgreSQLSave {
    /// Empties the triggers' lists of changed rows, which would grow from block to block.
    func forgetTouchedRows() {
        guard backend.external == nil else { return }
        for (place, table) in backend.mapping.tables.enumerated() where backend.derivingTables.contains(place) {
            waiting.append(WireStatement("SELECT set_config('\(PostgreSQLDialect.touchedRows(table.name))', '', true)"))
        }
    }

    /// Returns the SQL for the given keys and those of rows that triggers have changed.
    private static func touchedKeys(_ table: SQLTable) -> String {
        "$1 || COALESCE(string_to_array(NULLIF(current_setting('\(PostgreSQLDialect.touchedRows(table.name))', "
            + "true), ''), ',')::int8[], '{}')"
    }

    /// Adds statements to the next round trip that read rows whose derived values triggers may have
    /// changed.
    func readDerivedRows() {
        let mapping = backend.mapping
        for (place, table) in mapping.tables.enumerated() where backend.derivingTables.contains(place) {
            let root = table.root.index
            var keys: [Int64] = []
            for change in batch.inserts where change.layout.rootIndex == root { keys.append(change.key) }
            for change in batch.updates where change.layout.rootIndex == root { keys.append(change.key) }
            guard let entity = mapping.entity(table.root), backend.external == nil || !keys.isEmpty else { continue }
            let select = backend.selectPlan(entity, includesSubentities: true)
            let all = backend.external == nil ? Self.touchedKeys(table) : "$1"
            let sql =
                "SELECT \(select.columns.sql) FROM \(dialect.identifier(table.name)) \(SQLScope.firstAlias) "
                + "WHERE \(SQLScope.firstAlias).\(statements.key(entity)) = ANY(\(all))"
            derivedRows[root] = PostgreSQLRowCollector(select, expectedRows: max(1, keys.count))
            derivedReads[sql] = root
            waiting.append(WireStatement(sql, WireArguments(keys: keys), isKept: true))
        }
    }

    /// Publishes a save that was committed although its answer was lost, together with the rows as
    /// triggers have left them.
    func publishAfterLostAnswer() -> SaveOutcome {
        guard backend.external == nil, !backend.derivingTables.isEmpty else { return publish() }
        // Which other rows triggers have changed is not known: those rows are read again when they
        // are needed.
        for place in backend.derivingTables { backend.rowCaches[backend.mapping.tables[place].root.index].removeAll() }
        do {
            try backend.pool.withConnection(repeats: true) { connection in
                (waiting, derivedRows, derivedReads) = (PostgreSQLStatementQueue(), [:], [:])
                readDerivedRows()
                let reads = waiting.take().statements
                try connection.executeAll(reads) { index, row in take(row, of: reads[index]) }
            }
        } catch {
            // The save is done in any case: a refresh reads the derived values when the server is
            // back.
            derivedRows = [:]
        }
        waiting = PostgreSQLStatementQueue()
        return publish()
    }
}
