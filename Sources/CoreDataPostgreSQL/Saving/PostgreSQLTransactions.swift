import CoreData
import Foundation

/// The numbered transactions of a store.
enum PostgreSQLTransactions {
    /// Where transactions are told of, in terms of the schema that statements work in.
    static let channel = "'ocd_' || md5(current_schema())"

    /// Locks the row of the store, so that the numbers of transactions are in the order of commits.
    ///
    /// The row is not written: each version of it would have to be passed over by all that follow, as long as somebody reads from before them.
    private static let turn = WireStatement(
        "SELECT id::int8 FROM \(PostgreSQLHousekeeping.storeTable) FOR NO KEY UPDATE", isKept: true)

    static let lastNumber =
        "greatest((SELECT max(number) FROM \(PostgreSQLHousekeeping.transactionTable)), s.last_transaction)"

    /// Takes the next number, records the transaction and tells who listens: the save's UUID, its author, the context's name and who
    /// saves.
    private static func record(_ condition: String) -> String {
        """
        INSERT INTO \(PostgreSQLHousekeeping.transactionTable) (number, save, at, author, context_name) \
        SELECT \(lastNumber) + 1, $1, clock_timestamp(), $2, $3 FROM \(PostgreSQLHousekeeping.storeTable) s\(condition) \
        RETURNING number, pg_notify(\(channel), number::text || ' ' || $4)
        """
    }

    private static let plainRecord = record("")
    private static let markedRecord = record(" WHERE " + PostgreSQLSchemaWatch.condition("$5"))

    /// The number of the transaction that was recorded.
    static func number(_ row: WireRow) -> Int64 { PostgreSQLRow(row: row).int64(0) }

    /// The statements that record a transaction, the last of which gives its number.
    ///
    /// - Parameter mark: fails where the model of the store was replaced since it had this mark; nil to record in any case.
    static func recording(
        _ save: UUID, author: String?, contextName: String?, _ pool: PostgreSQLPool, mark: String? = nil
    ) -> [WireStatement] {
        var arguments = WireArguments()
        arguments.append(WireType.uuid) { bytes in withUnsafeBytes(of: save.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) } }
        for text in [author, contextName] {
            if let text, !text.contains("\0") { arguments.append(text: text) } else { arguments.appendNull(WireType.text) }
        }
        arguments.append(text: pool.sender)
        if let mark { arguments.append(text: mark) }
        return [turn, WireStatement(mark == nil ? plainRecord : markedRecord, arguments, isKept: true)]
    }

    /// The author of a row that keeps a save from being committed whose connection was lost.
    static let givenUp = "OpenCoreData: given up"

    /// Asks for the context's name that was recorded with a save.
    static func contextName(of save: UUID) -> WireStatement {
        var arguments = WireArguments()
        arguments.append(WireType.uuid) { bytes in withUnsafeBytes(of: save.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) } }
        return WireStatement("SELECT context_name FROM \(PostgreSQLHousekeeping.transactionTable) WHERE save = $1", arguments)
    }

    /// Asks by which number the server knows the transaction that is open, which server it is, and which number the witness's row has.
    static func current(_ external: ExternalTables, _ witness: PostgreSQLWitness?) -> WireStatement {
        WireStatement(
            "SELECT pg_current_xact_id()::text::int8, \(external.server), (\(witness?.question ?? "SELECT NULL::text"))",
            witness?.arguments ?? WireArguments(), isKept: true)
    }

    // MARK: Old ones

    /// Of so many transactions one removes old ones behind it, of which there may be a few more.
    private static let transactionsBetweenRemovals: Int64 = 1000
    private static let mostRemoved = 5000
    /// Longer than anybody looks for a save of theirs: no store waits longer than `PostgreSQLSettings.longestTimeout`.
    private static let daysKept = 30

    /// Removes some of the oldest transactions, which nobody asks for any more.
    private static let removal = """
        DELETE FROM \(PostgreSQLHousekeeping.transactionTable) WHERE number = ANY(ARRAY(SELECT o.number FROM \
        (SELECT number, at FROM \(PostgreSQLHousekeeping.transactionTable) ORDER BY number LIMIT \(mostRemoved)) AS o \
        WHERE o.at < clock_timestamp() - interval '\(daysKept) days'))
        """

    /// Removes old transactions now and then, behind one that was committed: a few milliseconds for one in a thousand.
    static func removeOld(after number: Int64?, _ connection: PostgreSQLConnection) {
        guard let number, number % transactionsBetweenRemovals == 0 else { return }
        // Who may not remove them leaves that to others.
        _ = try? connection.executeAll([WireStatement("SET LOCAL synchronous_commit TO off"), WireStatement(removal)])
    }

    /// The number of the last transaction; 0 before the first.
    static func last(_ connection: PostgreSQLConnection) throws -> Int64 {
        try connection.integer(WireStatement("SELECT \(lastNumber) FROM \(PostgreSQLHousekeeping.storeTable) s")) ?? 0
    }

    /// What listeners are told of a transaction.
    struct Announcement {
        let number: Int64
        /// Names the store that has committed it, among all of all programs.
        let sender: String

        init?(_ payload: String) {
            let parts = payload.split(separator: " ")
            guard parts.count == 2, let number = Int64(parts[0]) else { return nil }
            self.number = number
            sender = String(parts[1])
        }
    }
}

/// By what a server knows a transaction.
struct PostgreSQLServerTransaction {
    let number: Int64
    /// The server that has given the number: another one that takes over may give it to another transaction. Nil where it does not say.
    let server: String?

    /// A row that it has written; nil where there is none whose number the server tells.
    let witness: PostgreSQLWitness?
    /// The number that the witness's row has got; nil where it was deleted.
    let witnessNumber: String?
}

extension PostgreSQLServerTransaction {
    /// - Parameter row: the answer to `PostgreSQLTransactions.current(_:_:)`.
    init(_ row: WireRow, _ witness: PostgreSQLWitness?) {
        let row = PostgreSQLRow(row: row)
        self.init(number: row.int64(0), server: row.string(1), witness: witness, witnessNumber: row.string(2))
    }
}

/// A row that a transaction has written or deleted.
///
/// A server that has crashed may have lost a transaction and give its number again: what it says of the number is then true of another one.
struct PostgreSQLWitness {
    /// The table and its key column, in SQL.
    let table: String
    let keyColumn: String
    let key: Int64

    /// Asks for the number of the transaction, or of its part, that has written the row; no row where there is none.
    var question: String { "SELECT xmin::text FROM \(table) WHERE \(keyColumn) = $1" }

    var arguments: WireArguments {
        var arguments = WireArguments()
        arguments.append(key: key)
        return arguments
    }
}

/// One attempt at writing in a transaction.
protocol PostgreSQLAttempt {
    /// Names the transaction in the table of transactions.
    var identifier: UUID { get }
    /// By what the server knows the transaction, where it was asked.
    var transaction: PostgreSQLServerTransaction? { get }
    /// The number of the transaction among those of the store, once it was recorded.
    var number: Int64? { get }
    /// Whether the commit was sent: what became of it is not known if the connection is lost now.
    var isCommitSent: Bool { get }
}

extension PostgreSQLStore {
    /// What stands behind everything else in a transaction: constraints, metadata, and the transaction itself, whose number is locked as
    /// late as can be.
    ///
    /// - Parameters:
    ///   - checksConstraints: whether what is deferred has to be looked at before the transaction gets its number; the commit does so in
    ///     any case.
    ///   - read: used where metadata were changed.
    func lastStatements(
        of transaction: UUID, _ author: ChangeAuthor, checksConstraints: Bool = true, _ read: StatementReader
    ) throws -> [WireStatement] {
        let backend = try backend()
        var last = checksConstraints ? [WireStatement("SET CONSTRAINTS ALL IMMEDIATE")] : []
        if hasExternalTables {
            // No table says what was committed.
            if hasChangedMetadata { throw ExternalTables.metadataRefusal(at: url) }
            return last
        }
        let pool = backend.pool
        // Metadata may replace the model; who writes them has compared the mark.
        let mark = hasChangedMetadata ? nil : pool.watch.mark
        if hasChangedMetadata { last = try metadataStatements(in: transaction, after: last, read) }
        return last
            + PostgreSQLTransactions.recording(
                transaction, author: author.transactionAuthor, contextName: author.contextName, pool, mark: mark)
    }
}
