import CSQLite
import Foundation

// Reading and deleting the history that the tables of `SQLiteHistory` hold.
extension SQLiteStore: StoreHistory {
    func historySpan() throws -> HistorySpan { try backend().pool.read(SQLiteHistory.span) }

    func history(_ fetch: HistoryFetch) throws -> HistoryRecords {
        let backend = try backend()
        let tombstones = SQLiteHistory.tombstoneCount(backend.columns)
        let statement = try HistoryStatement(
            try fetch.resolved(in: self, backend.mapping), of: SQLiteHistory.tables(backend.columns),
            try historyGenerator())
        var columns: [Int: HistoryColumns] = [:]
        return try backend.pool.read { connection in
            try connection.transaction(.deferred) {
                var records = HistoryRecords()
                try connection.query(statement.transactions.sql, statement.transactions.values) {
                    records.transactions.append(HistoryStatement.transaction($0))
                }
                guard let query = statement.changes else { return records }
                try connection.query(query.sql, query.values) { row in
                    let change = try HistoryStatement.change(row, backend.mapping) { column, layout in
                        guard let bytes = row.data(column) else { return [] }
                        if let known = columns[layout.index] { return known.slots(in: bytes) }
                        let made = HistoryColumns(try backend.entity(layout))
                        columns[layout.index] = made
                        return made.slots(in: bytes)
                    } preserved: { first, layout in
                        layout.preservedSlots.prefix(tombstones).enumerated().map { place, slot in
                            row.storedValue(first + Int32(place), as: layout.slots[slot].kind)
                        }
                    }
                    if let change { records.changes.append(change) }
                }
                return records
            }
        }
    }

    func historyCount(_ fetch: HistoryFetch) throws -> Int {
        let backend = try backend()
        let query = try HistoryStatement.count(
            try fetch.resolved(in: self, backend.mapping), of: SQLiteHistory.tables(backend.columns),
            try historyGenerator())
        return Int(try backend.pool.read { try $0.integer(query.sql, query.values) } ?? 0)
    }

    func deleteHistory(_ range: HistoryRange) throws -> Int {
        let backend = try backend()
        do {
            return try backend.pool.write { connection in
                try requireWritable(connection)
                guard case .exceeding = range else { return try deleteHistory(range, backend, connection) }
                // A save that is done does not wait for other writers: a later one takes the step.
                do {
                    return try connection.withTimeout(0) { try deleteHistory(range, backend, connection) }
                } catch let error as SQLiteError where error.code == SQLITE_BUSY {
                    return 0
                }
            }
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
    }

    private func deleteHistory(
        _ range: HistoryRange, _ backend: SQLiteBackend, _ connection: SQLiteConnection
    ) throws -> Int {
        try backend.pool.transaction(connection) {
            let end: Int64?
            switch range {
            case .all: end = nil
            case .before(let number): end = number
            case .until(let date):
                end = try connection.integer(
                    "SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?",
                    [.double(date.timeIntervalSinceReferenceDate)])
            case .exceeding(let retention):
                end = try self.end(of: retention, connection)
                if end == nil { return 0 }
            }
            let arguments = end.map { [StoredValue.integer($0)] } ?? []
            func condition(_ column: String) -> String { end == nil ? "" : " WHERE \(column) < ?" }
            try connection.run("DELETE FROM ACHANGE" + condition("ZTRANSACTIONID"), arguments)
            try connection.run("DELETE FROM ATRANSACTION" + condition("Z_PK"), arguments)
            return Int(connection.changes)
        }
    }

    /// Returns the number of the first transaction that one step of a retention keeps; nil if it
    /// deletes none.
    private func end(of retention: HistoryRetention, _ connection: SQLiteConnection) throws -> Int64? {
        var oldest: [OldTransaction] = []
        try connection.query(
            "SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK LIMIT ?",
            [.integer(Int64(HistoryRetention.transactionsInStep))]
        ) { row in
            oldest.append(
                OldTransaction(number: row.int64(0), date: Date(timeIntervalSinceReferenceDate: row.double(1))))
        }
        let readers = HistoryReaders.places(in: try StoreMetadata.read(connection) ?? [:])
        return try retention.end(of: oldest, last: try SQLiteHistory.span(connection).last, readers: readers.values) {
            Int(try connection.integer("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID = ?", [.integer($0)]) ?? 0)
        }
    }

    // MARK: - Readers

    func historyReaders() throws -> [String: Int64] {
        try backend().pool.read { HistoryReaders.places(in: try StoreMetadata.read($0) ?? [:]) }
    }

    func setHistoryPlace(
        ofReader name: String, _ place: (_ present: Int64?, HistorySpan) -> Int64?
    ) throws {
        let backend = try backend()
        try backend.pool.write { connection in
            try requireWritable(connection)
            try backend.pool.transaction(connection) {
                try writeChangedMetadata(connection)
                // What other processes have written in the meantime stays.
                var stored = try StoreMetadata.read(connection) ?? [:]
                // Metadata without a UUID have lost their other entries too.
                if stored[NSStoreUUIDKey] == nil { stored = metadata ?? [:] }
                let present = HistoryReaders.places(in: stored)[name]
                let new = place(present, try SQLiteHistory.span(connection))
                if new == present { return }
                stored[HistoryReaders.key(name)] = new.map { NSNumber(value: $0) }
                try StoreMetadata.write(stored, to: connection)
            }
            metadataWasWritten()
        }
    }

    private func historyGenerator() throws -> SQLGenerator {
        SQLGenerator(mapping: try SQLiteHistory.mapping.get(), store: self)
    }
}

extension SQLiteHistory {
    /// The mapping of the history's model to the tables within a statement.
    static let mapping = Result { try HistoryTables.mapping(SQLiteDialect()) }

    static func span(_ connection: SQLiteConnection) throws -> HistorySpan {
        var span = HistorySpan(first: nil, last: 0)
        try connection.query(
            "SELECT (SELECT min(Z_PK) FROM ATRANSACTION), max(IFNULL((SELECT max(Z_PK) FROM ATRANSACTION), 0), "
                + "IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(transactionEntity)), 0))"
        ) { row in
            span = HistorySpan(first: row.isNull(0) ? nil : row.int64(0), last: row.int64(1))
        }
        return span
    }

    static func tombstoneCount(_ columns: [String: [String]]) -> Int {
        columns["ACHANGE"]?.count { $0.hasPrefix("ZTOMBSTONE") } ?? 0
    }

    /// Returns the tables through which statements read the history.
    ///
    /// - Parameter columns: the columns of the store's tables. Older frameworks kept the texts of a
    ///   transaction in its row.
    static func tables(_ columns: [String: [String]]) -> HistoryTables {
        let present = Set(columns["ATRANSACTION"] ?? [])
        func text(_ name: String) -> String {
            let column = "Z" + name.uppercased()
            var sources: [String] = []
            if present.contains(column + "TS"), columns["ATRANSACTIONSTRING"] != nil {
                sources.append("(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = a.\(column)TS)")
            }
            if present.contains(column) { sources.append("a." + column) }
            return sources.count > 1 ? "IFNULL(\(sources.joined(separator: ", ")))" : sources.first ?? "NULL"
        }
        return HistoryTables(
            HistoryTables.Transactions(
                from: "ATRANSACTION a", number: "a.Z_PK", date: "a.ZTIMESTAMP", author: text("author"),
                contextName: text("contextName"), bundleID: text("bundleID"), processID: text("processID")),
            HistoryTables.Changes(
                from: "ACHANGE a", number: "a.Z_PK", transaction: "a.ZTRANSACTIONID", kind: "a.ZCHANGETYPE",
                entity: "a.ZENTITY", key: "a.ZENTITYPK", properties: "a.ZCOLUMNS",
                tombstones: (0..<tombstoneCount(columns)).map { "a." + tombstoneColumn($0) }),
            SQLiteDialect())
    }
}
