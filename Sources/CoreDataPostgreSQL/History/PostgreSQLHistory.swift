import CoreData
import Foundation
import Synchronization

/// The persistent history of a store, in tables of its own.
///
/// A save writes its changes under its UUID, and gives the transaction a number at its end
/// (`PostgreSQLTransactions`). So the numbers are in the order of commits, and other saves wait
/// only while one row is written.
enum PostgreSQLHistory {
    /// The use that an open store makes of its history.
    enum Use: UInt8, AtomicRepresentable {
        /// The store has none.
        case none
        /// Its history is read; saves are not recorded.
        case read
        case recorded
    }

    private static let transactions = PostgreSQLHousekeeping.historyTable
    private static let changes = PostgreSQLHousekeeping.changeTable

    // MARK: Tables

    /// Whether transactions were recorded and not all deleted.
    static func hasTransactions(_ connection: PostgreSQLConnection) throws -> Bool {
        try connection.integer(WireStatement("SELECT 1 FROM \(transactions) WHERE at IS NOT NULL LIMIT 1")) != nil
    }

    /// Whether a schema has the tables.
    static func exists(_ connection: PostgreSQLConnection, schema: String) throws -> Bool {
        try PostgreSQLMetadata.exists(transactions, connection, schema: schema)
    }

    /// Makes the tables, unless another program has made them.
    static func makeTables(_ connection: PostgreSQLConnection, schema: String) throws {
        try connection.transaction {
            try PostgreSQLSchemaLock.take(connection, schema: schema)
            if try exists(connection, schema: schema) { return }
            for statement in PostgreSQLHousekeeping.historyStatements { try connection.wire.run(statement) }
            try connection.wire.run(
                "UPDATE \(PostgreSQLHousekeeping.storeTable) SET format = \(PostgreSQLHousekeeping.formatWithHistory)")
            // The row gets a new mark, by which programs that have the store open notice.
            try connection.wire.run("UPDATE \(PostgreSQLHousekeeping.modelTable) SET content = content")
        }
    }

    // MARK: Recording

    /// The number of the last transaction that was ever recorded; NULL where none was.
    static let lastNumber = "(SELECT max(number) FROM \(transactions))"
    static let last = WireStatement("SELECT \(lastNumber)", isKept: true)

    /// The subquery reads one row by the index, also while the server has no statistics.
    private static let record = """
        INSERT INTO \(transactions) (number, save, first_change, last_change, at, author, context_name, bundle_id, \
        process_id) SELECT COALESCE(l.number, 0) + 1, $1, COALESCE(l.last_change, 0) + 1, \
        COALESCE(l.last_change, 0) + $2, clock_timestamp(), $3, $4, $5, $6 FROM (SELECT 1) AS one \
        LEFT JOIN (SELECT number, last_change FROM \(transactions) ORDER BY number DESC LIMIT 1) AS l ON TRUE
        """

    /// Returns the statement that records a transaction, once it has its turn.
    ///
    /// - Parameter changes: the number of changes that were written under the save's UUID.
    static func recording(_ save: UUID, _ author: ChangeAuthor, changes: Int) -> WireStatement {
        var arguments = WireArguments(uuid: save)
        arguments.append(key: Int64(changes))
        for text in [
            author.transactionAuthor, author.contextName, HistoryTransaction.ownBundleID,
            HistoryTransaction.ownProcessID,
        ] {
            arguments.append(informative: text)
        }
        return WireStatement(record, arguments, isKept: true)
    }

    /// Returns the number of the transaction of a save; nil where it was not recorded.
    static func number(of save: UUID, _ connection: PostgreSQLConnection) throws -> Int64? {
        try connection.integer(
            WireStatement("SELECT number FROM \(transactions) WHERE save = $1", WireArguments(uuid: save)))
    }

    // MARK: Reading

    static let span = WireStatement(
        "SELECT (SELECT number FROM \(transactions) WHERE at IS NOT NULL ORDER BY number LIMIT 1), \(lastNumber)",
        isKept: true)

    static func span(_ row: WireRow) -> HistorySpan {
        HistorySpan(first: row.isNull(0) ? nil : row.int64(0), last: row.isNull(1) ? 0 : row.int64(1))
    }

    /// Makes the statements of a transaction read one state of the store.
    static let snapshot = WireStatement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    /// The tables through which statements read the history.
    static func tables(_ dialect: some SQLDialect) -> HistoryTables {
        HistoryTables(
            HistoryTables.Transactions(
                from: "\(transactions) h WHERE h.at IS NOT NULL", number: "h.number", date: "h.at", author: "h.author",
                contextName: "h.context_name", bundleID: "h.bundle_id", processID: "h.process_id"),
            HistoryTables.Changes(
                from: "\(changes) c JOIN \(transactions) h ON h.save = c.save", number: "h.first_change + c.place",
                transaction: "h.number", kind: "c.kind", entity: "c.entity", key: "c.key", properties: "c.properties",
                tombstones: ["c.tombstone"]),
            dialect)
    }

    // MARK: Deleting

    private static let lockKey = "hashtextextended('OpenCoreData history ' || current_schema(), 0)"

    /// Waits for others that delete transactions or move readers, and keeps them from it until the
    /// transaction ends. Saves go on.
    static let lock = WireStatement("SELECT pg_advisory_xact_lock(\(lockKey))::text")

    /// Takes the same lock if it is free. Returns whether it was.
    static let lockIfFree = WireStatement("SELECT pg_try_advisory_xact_lock(\(lockKey))")

    /// Returns the statement that reads the oldest transactions: their numbers, times, and numbers
    /// of changes.
    static func oldest(_ count: Int) -> WireStatement {
        WireStatement(
            "SELECT number, at, last_change - first_change + 1 FROM \(transactions) WHERE at IS NOT NULL ORDER BY "
                + "number LIMIT $1", WireArguments(key: Int64(count)))
    }

    /// Asks for the number of the first transaction of a time or a later one.
    static let firstSince = "SELECT min(number) FROM \(transactions) WHERE at >= $1"

    /// Returns the statements that delete the transactions before a number. The first one returns
    /// how many there are.
    static func deletion(before number: Int64) -> [WireStatement] {
        [
            "SELECT count(*) FROM \(transactions) WHERE number < $1 AND at IS NOT NULL",
            "DELETE FROM \(changes) c USING \(transactions) h WHERE h.save = c.save AND h.number < $1",
            "DELETE FROM \(transactions) WHERE number < $1 AND number < \(lastNumber)",
            """
            UPDATE \(transactions) SET at = NULL, author = NULL, context_name = NULL, bundle_id = NULL, \
            process_id = NULL WHERE number < $1
            """,
        ].map { WireStatement($0, WireArguments(key: number)) }
    }

    // MARK: Migration

    /// Returns the statement that deletes the changes of removed entities.
    ///
    /// - Parameter kept: the list of the numbers of the others.
    static func removal(ofOthersThan kept: WireArguments) -> WireStatement {
        WireStatement("DELETE FROM \(changes) WHERE entity <> ALL($1)", kept)
    }

    /// Returns the statement that gives the changes of an entity another number.
    static func renumbering(_ former: Int, as number: Int) -> WireStatement {
        var arguments = WireArguments(key: Int64(former))
        arguments.append(key: Int64(number))
        return WireStatement("UPDATE \(changes) SET entity = $2 WHERE entity = $1", arguments)
    }

    /// Returns the statement that gives the properties of an entity other names, and forgets those
    /// that are not listed.
    static func renaming(_ names: [(former: String, name: String)], of entity: Int) throws -> WireStatement {
        var arguments = WireArguments(key: Int64(entity))
        try arguments.append(list: names.map { .string($0.former) }, of: WireType.text)
        try arguments.append(list: names.map { .string($0.name) }, of: WireType.text)
        let moved = "JOIN unnest($2, $3) AS n(former, name) ON n.former"
        return WireStatement(
            """
            UPDATE \(changes) SET properties = (SELECT jsonb_agg(n.name ORDER BY p.place) FROM \
            jsonb_array_elements_text(properties) WITH ORDINALITY AS p(name, place) \(moved) = p.name), \
            tombstone = CASE WHEN tombstone IS NOT NULL THEN COALESCE((SELECT jsonb_object_agg(n.name, t.value) FROM \
            jsonb_each(tombstone) AS t \(moved) = t.key), '{}') END \
            WHERE entity = $1 AND (properties IS NOT NULL OR tombstone IS NOT NULL)
            """, arguments)
    }
}
