import CoreData
import Foundation

// Reading and deleting the history that `PostgreSQLHistory` records.
extension PostgreSQLStore: StoreHistory {
    /// Decides how the history is used, and makes its tables where it begins.
    func useOfHistory(
        _ catalog: PostgreSQLCatalog, _ connection: PostgreSQLConnection, _ schema: String
    ) throws -> PostgreSQLHistory.Use {
        let hasTables = catalog.kinds[PostgreSQLHousekeeping.historyTable] != nil
        do {
            let records = try recordsHistory(hasTables: hasTables) { try PostgreSQLHistory.hasTransactions(connection) }
            guard records else { return hasTables ? .read : .none }
            if !hasTables { try PostgreSQLHistory.makeTables(connection, schema: schema) }
            return .recorded
        } catch let error as WireError where error.sqlState == "42501" {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "The store \(StoreName.path(url)) has "
                    + (hasTables
                        ? "a history, and the connection's role may not read its tables"
                        : "no tables for its history, and the connection's role may not make them")
                    + ": \(error.message).",
                recovery: "Open it with NSPersistentHistoryTrackingKey as the owner of its tables once, and grant "
                    + "SELECT, INSERT, UPDATE and DELETE on \(PostgreSQLHousekeeping.historyTable) and "
                    + "\(PostgreSQLHousekeeping.changeTable) to this role.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url).merging(error.reported) { $1 })
        }
    }

    /// Called when another program may have begun the history of the open store. The store then
    /// records its saves, too, or becomes read-only.
    func noticeHistory(_ backend: PostgreSQLBackend, _ connection: PostgreSQLConnection) throws {
        let schema = backend.pool.configuration.address.schema
        guard backend.history == .none, try PostgreSQLHistory.exists(connection, schema: schema) else { return }
        backend.history = try recordsHistory(hasTables: true) { true } ? .recorded : .read
    }

    /// Warns that external tables have no history, where the store's options ask for one.
    func sayThatNoHistoryIsRecorded() {
        guard Self.wantsHistory(options) else { return }
        Warnings.sayOnce(about: "history of \(StoreName.path(url))") {
            "The saves of the store \(StoreName.path(url)) are not recorded: the tables are another program's "
                + "(\(NSPostgreSQLGivenTablesOption)), and the store makes none beside them. "
                + "NSPersistentHistoryTrackingKey has no effect."
        }
    }

    // MARK: - Reading

    func historySpan() throws -> HistorySpan {
        try backend().pool.withConnection(repeats: true) { connection in
            var span = HistorySpan(first: nil, last: 0)
            try connection.execute(PostgreSQLHistory.span) { span = PostgreSQLHistory.span($0) }
            return span
        }
    }

    func history(_ fetch: HistoryFetch) throws -> HistoryRecords {
        let backend = try backend()
        let made = try HistoryStatement(
            try fetch.resolved(in: self, backend.mapping), of: PostgreSQLHistory.tables(backend.mapping.dialect),
            historyGenerator(backend))
        let queries = try [made.transactions, made.changes].compactMap { $0 }.map {
            try statement($0.sql, $0.arguments)
        }
        return try backend.pool.withConnection(repeats: true) { connection in
            var records = HistoryRecords()
            var slots: [Data: [Int: [Int]]] = [:]
            try connection.executeAll([PostgreSQLHistory.snapshot] + queries) { index, row in
                if index == 1 {
                    records.transactions.append(HistoryStatement.transaction(row))
                    return
                }
                let change = HistoryStatement.change(row, backend.mapping) { column, layout in
                    guard let names = row.data(column) else { return [] }
                    if let known = slots[names]?[layout.index] { return known }
                    // Other programs may write to the table.
                    let known = (try? JSONDecoder().decode([String].self, from: names)) ?? []
                    let made = known.compactMap { layout.slotByPath[$0] }
                    slots[names, default: [:]][layout.index] = made
                    return made
                } preserved: { column, layout in
                    row.data(column).flatMap { try? Tombstone.values($0, of: layout) } ?? []
                }
                if let change { records.changes.append(change) }
            }
            return records
        }
    }

    func historyCount(_ fetch: HistoryFetch) throws -> Int {
        let backend = try backend()
        let made = try HistoryStatement.count(
            try fetch.resolved(in: self, backend.mapping), of: PostgreSQLHistory.tables(backend.mapping.dialect),
            historyGenerator(backend))
        let statement = try statement(made.sql, made.arguments)
        return Int(try backend.pool.withConnection(repeats: true) { try $0.integer(statement) } ?? 0)
    }

    private func historyGenerator(_ backend: PostgreSQLBackend) throws -> SQLGenerator {
        SQLGenerator(mapping: try HistoryTables.mapping(backend.mapping.dialect), store: self)
    }

    // MARK: - Deleting

    func deleteHistory(_ range: HistoryRange) throws -> Int {
        try requireWritable()
        return try backend().pool.withConnection { connection in
            guard let end = try self.end(of: range, connection) else {
                connection.rollBack()
                return 0
            }
            var count = 0
            try connection.commit(with: PostgreSQLHistory.deletion(before: end)) { index, row in
                if index == 0 { count = Int(row.int64(0)) }
            }
            return count
        }
    }

    /// Begins the transaction that deletes a range.
    ///
    /// - Returns: the number of the first transaction that stays; nil to delete none.
    private func end(of range: HistoryRange, _ connection: PostgreSQLConnection) throws -> Int64? {
        if case .exceeding(let retention) = range { return try end(of: retention, connection) }
        var span = HistorySpan(first: nil, last: 0)
        try connection.begin(with: [PostgreSQLHistory.lock, PostgreSQLHistory.span]) { index, row in
            if index == 1 { span = PostgreSQLHistory.span(row) }
        }
        // A long history takes longer to delete than a statement may run.
        try connection.liftTimeLimit()
        switch range {
        case .before(let number): return min(number, span.last + 1)
        case .until(let date):
            let time = SQLArgument(.double(date.timeIntervalSinceReferenceDate), kind: .date)
            return try connection.integer(statement(PostgreSQLHistory.firstSince, [time])) ?? span.last + 1
        case .all, .exceeding: return span.last + 1
        }
    }

    private func end(of retention: HistoryRetention, _ connection: PostgreSQLConnection) throws -> Int64? {
        var isFree = false
        var oldest: [OldTransaction] = []
        var changes: [Int64: Int] = [:]
        var span = HistorySpan(first: nil, last: 0)
        var readers: [String: Int64] = [:]
        let statements = [
            PostgreSQLHistory.lockIfFree, PostgreSQLHistory.oldest(HistoryRetention.transactionsInStep),
            PostgreSQLHistory.span, PostgreSQLMetadata.present,
        ]
        try connection.begin(with: statements) { index, row in
            switch index {
            case 0: isFree = row.int64(0) != 0
            case 1:
                oldest.append(
                    OldTransaction(number: row.int64(0), date: Date(timeIntervalSinceReferenceDate: row.double(1))))
                changes[row.int64(0)] = Int(row.int64(2))
            case 2: span = PostgreSQLHistory.span(row)
            default: readers = HistoryReaders.places(in: try PostgreSQLMetadata.metadata(of: row))
            }
        }
        // A save that is done does not wait for others: a later one takes the step.
        guard isFree else { return nil }
        return retention.end(of: oldest, last: span.last, readers: readers.values) { changes[$0] ?? 0 }
    }

    // MARK: - Readers

    func historyReaders() throws -> [String: Int64] {
        try backend().pool.withConnection(repeats: true) { connection in
            var readers: [String: Int64] = [:]
            try connection.execute(PostgreSQLMetadata.present) {
                readers = HistoryReaders.places(in: try PostgreSQLMetadata.metadata(of: $0))
            }
            return readers
        }
    }

    func setHistoryPlace(
        ofReader name: String, _ place: (_ present: Int64?, HistorySpan) -> Int64?
    ) throws {
        try requireWritable()
        try backend().pool.withConnection { connection in
            var stored: [String: Any] = [:]
            var span = HistorySpan(first: nil, last: 0)
            let statements = [PostgreSQLHistory.lock, PostgreSQLHistory.span, PostgreSQLMetadata.locked]
            try connection.begin(with: statements) { index, row in
                if index == 1 { span = PostgreSQLHistory.span(row) }
                if index == 2 { stored = try PostgreSQLMetadata.metadata(of: row) }
            }
            let present = HistoryReaders.places(in: stored)[name]
            let new = place(present, span)
            if new == present { return connection.rollBack() }
            stored[HistoryReaders.key(name)] = new.map { NSNumber(value: $0) }
            try connection.commit(with: [PostgreSQLMetadata.update(stored)])
        }
    }
}
