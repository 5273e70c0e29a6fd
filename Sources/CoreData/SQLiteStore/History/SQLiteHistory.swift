import Foundation

/// The tables of persistent history, as Core Data creates and fills them.
///
/// `HistoryColumns` describes the bits in `ZCOLUMNS`. `ZTOMBSTONE0` and its like hold the preserved
/// values of deleted rows.
enum SQLiteHistory {
    private static let changeEntity: Int64 = 16001
    static let transactionEntity: Int64 = 16002
    private static let stringEntity: Int64 = 16003

    private static func createChanges(tombstones: Int) -> String {
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY "
            + "INTEGER, "
            + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB"
            + (0..<tombstones).map { ", \(tombstoneColumn($0)) BLOB" }.joined() + " )"
    }

    static func tombstoneColumn(_ index: Int) -> String { "ZTOMBSTONE\(index)" }

    private static let otherStatements = [
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
            + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
            + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
        "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
        "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
        "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]

    /// Creates the tables in a store that has none, within the current transaction.
    ///
    /// `Z_PRIMARYKEY` gets their rows when the first transaction is written.
    ///
    /// - Parameter tombstones: the maximum number of values that a deletion preserves.
    static func createTables(_ connection: SQLiteConnection, tombstones: Int) throws {
        let known = try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'ATRANSACTION'")
        guard known == nil else { return }
        for statement in [createChanges(tombstones: tombstones)] + otherStatements {
            // A store of an older framework may already have some of the tables.
            let words = statement.split(separator: " ")
            let isTable = words[1] == "TABLE"
            try connection.execute(
                isTable
                    ? statement.replacingOccurrences(of: "CREATE TABLE ", with: "CREATE TABLE IF NOT EXISTS ")
                    : statement.replacingOccurrences(of: " INDEX ", with: " INDEX IF NOT EXISTS "))
        }
    }

    /// Adds missing columns for values of deleted rows, within the current transaction.
    static func addTombstoneColumns(_ count: Int, to connection: SQLiteConnection, present: [String]) throws {
        for column in (0..<count).map(tombstoneColumn) where !present.contains(column) {
            try connection.execute("ALTER TABLE ACHANGE ADD COLUMN \(column) BLOB")
        }
    }

    /// The changes of one transaction, in their order.
    struct Changes {
        /// The common part of adjacent changes that differ in their keys alone.
        struct Common {
            let type: NSPersistentHistoryChangeType
            let entityNumber: Int
            /// The properties that an update changed, as a bit set of `HistoryColumns`.
            let columns: StoredValue
            /// The values that a deletion preserves, in the order of the columns.
            let tombstones: [StoredValue]

            fileprivate func covers(_ other: Common) -> Bool {
                type == other.type && entityNumber == other.entityNumber && columns == other.columns
                    && tombstones.isEmpty && other.tombstones.isEmpty
            }
        }

        private(set) var runs: [(common: Common, keys: [Int64])] = []
        private(set) var count = 0

        mutating func append(
            _ type: NSPersistentHistoryChangeType, entityNumber: Int, key: Int64, columns: StoredValue = .null,
            tombstones: [StoredValue] = []
        ) {
            count += 1
            let common = Common(type: type, entityNumber: entityNumber, columns: columns, tombstones: tombstones)
            // In place: a copy of the run would make each key copy its array.
            let last = runs.count - 1
            if last >= 0, runs[last].common.covers(common) {
                runs[last].keys.append(key)
            } else {
                runs.append((common, [key]))
            }
        }
    }

    /// Writes one transaction with its changes.
    ///
    /// - Returns: the number of the transaction; nil without changes.
    static func write(
        _ changes: Changes, author: String?, contextName: String?, in connection: SQLiteConnection,
        hasStrings: Bool, tombstoneColumns: Int
    ) throws -> Int64? {
        guard changes.count > 0 else { return nil }
        let transaction = try take(1, transactionEntity, "TRANSACTION", "ATRANSACTION", connection)
        let (bundle, process) = (HistoryTransaction.ownBundleID, HistoryTransaction.ownProcessID)
        func string(_ text: String?) throws -> StoredValue {
            guard hasStrings, let text else { return .null }
            if let known = try connection.integer(
                "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.string(text)])
            {
                return .integer(known)
            }
            let key = try take(1, stringEntity, "TRANSACTIONSTRING", "ATRANSACTIONSTRING", connection)
            try connection.run(
                "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
                [.integer(key), .integer(stringEntity), .string(text)])
            return .integer(key)
        }
        func plain(_ text: String?) -> StoredValue { hasStrings ? .null : text.map(StoredValue.string) ?? .null }
        if hasStrings {
            try connection.run(
                "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, "
                    + "ZTIMESTAMP) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .integer(transaction), .integer(transactionEntity), try string(author), try string(bundle),
                    try string(contextName), try string(process), .double(Date().timeIntervalSinceReferenceDate),
                ])
        } else {
            try connection.run(
                "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .integer(transaction), .integer(transactionEntity), .double(Date().timeIntervalSinceReferenceDate),
                    plain(author), plain(bundle), plain(contextName), plain(process),
                ])
        }
        let last = try take(changes.count, changeEntity, "CHANGE", "ACHANGE", connection)
        try insert(changes, first: last - Int64(changes.count) + 1, transaction, tombstoneColumns, connection)
        return transaction
    }

    private static func insert(
        _ changes: Changes, first: Int64, _ transaction: Int64, _ tombstoneColumns: Int, _ connection: SQLiteConnection
    ) throws {
        let columns = "Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"
        let tombstones = (0..<tombstoneColumns).map { ", " + tombstoneColumn($0) }.joined()
        var number = first
        for (common, keys) in changes.runs {
            let values: [StoredValue] = [
                .integer(number), .integer(changeEntity), .integer(Int64(common.type.rawValue)),
                .integer(Int64(common.entityNumber)),
            ]
            if keys.count > 1 {
                try connection.run(
                    "INSERT INTO ACHANGE (\(columns)) SELECT ? + key, ?, ?, ?, value, ?, ? FROM json_each(?)",
                    values + [.integer(transaction), common.columns, .string(JSONList.text(of: keys))])
            } else {
                let preserved = (0..<tombstoneColumns).map {
                    $0 < common.tombstones.count ? common.tombstones[$0] : .null
                }
                try connection.run(
                    "INSERT INTO ACHANGE (\(columns)\(tombstones)) VALUES (?, ?, ?, ?, ?, ?, ?"
                        + String(repeating: ", ?", count: tombstoneColumns) + ")",
                    values + [.integer(keys[0]), .integer(transaction), common.columns] + preserved)
            }
            number += Int64(keys.count)
        }
    }

    /// Increases `Z_MAX` of a history entity and returns it.
    private static func take(
        _ count: Int, _ number: Int64, _ name: String, _ table: String, _ connection: SQLiteConnection
    ) throws -> Int64 {
        try SQLiteStore.raiseHighestKey(by: count, ofEntity: .integer(number), named: name, in: table, connection)
    }
}
