import CoreData
import Foundation

/// The numbered transactions of a store.
enum PostgreSQLTransactions {
    /// The channel of notifications about transactions, as SQL for the schema that statements work
    /// in.
    static let channel = "'ocd_' || md5(current_schema())"

    /// Locks the row of the store, so that the numbers of transactions are in the order of commits.
    ///
    /// The row is not written: all later transactions would have to skip each version of it, as
    /// long as an older snapshot is in use.
    private static let turn = WireStatement(
        "SELECT id::int8 FROM \(PostgreSQLHousekeeping.storeTable) FOR NO KEY UPDATE", isKept: true)

    static let lastNumber =
        "greatest((SELECT max(number) FROM \(PostgreSQLHousekeeping.transactionTable)), s.last_transaction)"

    /// Takes the next number, records the transaction and notifies listeners. The parameters are
    /// the save's UUID, its author, the context's name and the sender.
    ///
    /// - Parameter history: the number of the transaction in the history; nil where it is not
    ///   recorded there.
    private static func record(_ condition: String = "", history: String? = nil) -> String {
        """
        INSERT INTO \(PostgreSQLHousekeeping.transactionTable) (number, save, at, author, context_name) \
        SELECT \(lastNumber) + 1, $1, clock_timestamp(), $2, $3 FROM \(PostgreSQLHousekeeping.storeTable) \
        s\(condition) \
        RETURNING number, pg_notify(\(channel), number::text || ' ' || $4\(history.map { " || '/' || \($0)" } ?? ""))\
        \(history.map { ", \($0)" } ?? "")
        """
    }

    private static let mark = " WHERE " + PostgreSQLSchemaWatch.condition("$5")
    private static let plainRecord = record()
    private static let markedRecord = record(mark)
    private static let plainHistoryRecord = record(history: PostgreSQLHistory.lastNumber)
    private static let markedHistoryRecord = record(mark, history: PostgreSQLHistory.lastNumber)

    /// Returns the number of the transaction that was recorded.
    static func number(_ row: WireRow) -> Int64 { row.int64(0) }

    /// Returns the number of the transaction in the history; nil where it was not recorded there.
    static func historyNumber(_ row: WireRow) -> Int64? { row.count > 2 ? row.int64(2) : nil }

    /// Returns the statements that record a transaction. The last one returns its number.
    ///
    /// - Parameters:
    ///   - changes: the number of its changes in the history; 0 for a transaction that is not
    ///     recorded there.
    ///   - mark: makes them fail if the store's model was replaced since it had this mark; nil to
    ///     record in any case.
    static func recording(
        _ save: UUID, _ author: ChangeAuthor, _ pool: PostgreSQLPool, changes: Int = 0, mark: String? = nil
    ) -> [WireStatement] {
        var arguments = WireArguments(uuid: save)
        arguments.append(informative: author.transactionAuthor)
        arguments.append(informative: author.contextName)
        arguments.append(text: pool.sender)
        if let mark { arguments.append(text: mark) }
        if changes == 0 {
            return [turn, WireStatement(mark == nil ? plainRecord : markedRecord, arguments, isKept: true)]
        }
        return [
            turn, PostgreSQLHistory.recording(save, author, changes: changes),
            WireStatement(mark == nil ? plainHistoryRecord : markedHistoryRecord, arguments, isKept: true),
        ]
    }

    /// The author of a row that keeps a save from being committed after its connection was lost.
    static let givenUp = "OpenCoreData: given up"

    /// Returns the statement that asks for the context's name that was recorded with a save.
    static func contextName(of save: UUID) -> WireStatement {
        WireStatement(
            "SELECT context_name FROM \(PostgreSQLHousekeeping.transactionTable) WHERE save = $1",
            WireArguments(uuid: save))
    }

    /// Returns the statement that asks for the server's number of the open transaction, for the
    /// server's identity, and for the number of the witness's row.
    static func current(_ external: ExternalTables, _ witness: PostgreSQLWitness?) -> WireStatement {
        WireStatement(
            "SELECT pg_current_xact_id()::text::int8, \(external.server), "
                + "(\(witness?.question ?? "SELECT NULL::text"))",
            witness?.arguments ?? WireArguments(), isKept: true)
    }

    // MARK: Old transactions

    /// One in this many transactions removes old ones after it, so that a few more than needed may
    /// exist.
    private static let transactionsBetweenRemovals: Int64 = 1000
    private static let mostRemoved = 5000
    /// The days for which transactions are kept. No program looks for its save longer than that: no
    /// store waits longer than `PostgreSQLSettings.longestTimeout`.
    private static let daysKept = 30

    /// Removes some of the oldest transactions, which no program asks for any more.
    private static let removal = """
        DELETE FROM \(PostgreSQLHousekeeping.transactionTable) WHERE number = ANY(ARRAY(SELECT o.number FROM \
        (SELECT number, at FROM \(PostgreSQLHousekeeping.transactionTable) ORDER BY number LIMIT \(mostRemoved)) AS o \
        WHERE o.at < clock_timestamp() - interval '\(daysKept) days'))
        """

    /// Removes old transactions now and then, after a committed one: a few milliseconds for one in
    /// a thousand.
    static func removeOld(after number: Int64?, _ connection: PostgreSQLConnection) {
        guard let number, number % transactionsBetweenRemovals == 0 else { return }
        // A role that may not remove them leaves that to other programs.
        _ = try? connection.executeAll([WireStatement("SET LOCAL synchronous_commit TO off"), WireStatement(removal)])
    }

    /// Returns the number of the last transaction; 0 before the first.
    static func last(_ connection: PostgreSQLConnection) throws -> Int64 {
        try connection.integer(WireStatement("SELECT \(lastNumber) FROM \(PostgreSQLHousekeeping.storeTable) s")) ?? 0
    }

    /// The notification about a transaction.
    struct Announcement {
        let number: Int64
        /// The name of the store that committed it, unique among all programs.
        let sender: String
        /// The number of the transaction in the history; nil where it was not recorded there.
        let history: Int64?

        init?(_ payload: String) {
            let parts = payload.split(separator: " ")
            guard parts.count == 2, let number = Int64(parts[0]) else { return nil }
            self.number = number
            // Programs that know of no history take the rest as a whole for the sender's name.
            let rest = parts[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            sender = String(rest[0])
            history = rest.count > 1 ? Int64(rest[1]) : nil
        }
    }
}

/// The identity of a transaction on a server.
struct PostgreSQLServerTransaction {
    let number: Int64
    /// The server that gave the number; nil where it does not say. A server that replaces it may
    /// give the number to another transaction.
    let server: String?

    /// A row that it has written; nil where there is no row whose number the server gives.
    let witness: PostgreSQLWitness?
    /// The number that the witness's row has received; nil where the row was deleted.
    let witnessNumber: String?
}

extension PostgreSQLServerTransaction {
    /// - Parameter row: the answer to `PostgreSQLTransactions.current(_:_:)`.
    init(_ row: WireRow, _ witness: PostgreSQLWitness?) {
        self.init(number: row.int64(0), server: row.string(1), witness: witness, witnessNumber: row.string(2))
    }
}

/// A row that a transaction has written or deleted.
///
/// A server that has crashed may have lost a transaction and give its number again: the status of
/// the number is then that of another transaction.
struct PostgreSQLWitness {
    /// The table and its key column, in SQL.
    let table: String
    let keyColumn: String
    let key: Int64

    /// Asks for the number of the transaction, or of its part, that has written the row. The result
    /// is empty where the row does not exist.
    var question: String { "SELECT xmin::text FROM \(table) WHERE \(keyColumn) = $1" }

    var arguments: WireArguments {
        let arguments = WireArguments(key: key)
        return arguments
    }
}

extension PostgreSQLStore {
    /// Returns the last statements of a transaction: for constraints, metadata, and the record of
    /// the transaction itself, whose number is locked as late as possible.
    ///
    /// - Parameters:
    ///   - changes: the number of its changes in the history.
    ///   - checksConstraints: whether deferred constraints have to be checked before the
    ///     transaction gets its number; the commit checks them in any case.
    ///   - read: used where metadata were changed.
    func lastStatements(
        of transaction: UUID, _ author: ChangeAuthor, changes: Int, checksConstraints: Bool = true,
        _ read: StatementReader
    ) throws -> [WireStatement] {
        let backend = try backend()
        var last = checksConstraints ? [WireStatement("SET CONSTRAINTS ALL IMMEDIATE")] : []
        if hasExternalTables {
            // No table records commits.
            if hasChangedMetadata { throw ExternalTables.metadataRefusal(at: url) }
            return last
        }
        let pool = backend.pool
        // Changed metadata may replace the model. The code that writes them has compared the mark.
        let mark = hasChangedMetadata ? nil : pool.watch.mark
        if hasChangedMetadata { last = try metadataStatements(in: transaction, after: last, read) }
        return last
            + PostgreSQLTransactions.recording(transaction, author, pool, changes: changes, mark: mark)
    }
}
