import Foundation

/// The numbered transactions of a store.
enum PostgreSQLTransactions {
    /// Takes the next number, records the transaction and tells who listens: the save's UUID, its author and the context's name.
    ///
    /// The row with the last number stays locked until the commit, so that numbers are in the order of commits.
    static let record = """
        WITH n AS (UPDATE \(PostgreSQLHousekeeping.storeTable) SET last_transaction = last_transaction + 1 RETURNING last_transaction), \
        t AS (INSERT INTO \(PostgreSQLHousekeeping.transactionTable) (number, save, at, author, context_name) \
        SELECT n.last_transaction, $1, clock_timestamp(), $2, $3 FROM n RETURNING number) \
        SELECT pg_notify('ocd_' || md5(current_schema()), t.number::text) FROM t
        """
}

/// One attempt at writing in a transaction.
protocol PostgreSQLAttempt {
    /// Names the transaction in the table of transactions.
    var identifier: UUID { get }
    /// Whether the commit was sent: what became of it is not known if the connection is lost now.
    var isCommitSent: Bool { get }
}

extension PostgreSQLStore {
    /// What stands behind everything else in a transaction: constraints, metadata, and the transaction itself, whose number is locked as
    /// late as can be.
    func lastStatements(of transaction: UUID, _ author: ChangeAuthor) throws -> [WireStatement] {
        var last = [WireStatement("SET CONSTRAINTS ALL IMMEDIATE")]
        if let metadata = changedMetadata { last.append(try PostgreSQLMetadata.update(metadata)) }
        var arguments = WireArguments()
        arguments.append(WireType.uuid) { bytes in withUnsafeBytes(of: transaction.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) } }
        for text in [author.transactionAuthor, author.contextName] {
            if let text, !text.contains("\0") { arguments.append(text: text) } else { arguments.appendNull(WireType.text) }
        }
        last.append(WireStatement(PostgreSQLTransactions.record, arguments, isKept: true))
        return last
    }
}
