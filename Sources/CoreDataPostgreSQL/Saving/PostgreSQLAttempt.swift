import CoreData
import Foundation

/// One attempt at writing in a transaction.
class PostgreSQLAttempt {
    final let store: PostgreSQLStore
    final let backend: PostgreSQLBackend
    final let connection: PostgreSQLConnection
    final let statements: SaveStatements
    /// Identifies the transaction in the table of transactions.
    final let identifier = UUID()
    /// The identity of the transaction on the server, where the server was asked.
    final private(set) var transaction: PostgreSQLServerTransaction?
    /// The number of the transaction among those of the store, once it was recorded.
    final private(set) var number: Int64?
    /// Whether the commit was sent. If the connection is lost then, the outcome is not known.
    final private(set) var isCommitSent = false
    /// Statements that wait for the next round trip.
    final var waiting = PostgreSQLStatementQueue()

    init(store: PostgreSQLStore, backend: PostgreSQLBackend, connection: PostgreSQLConnection) {
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
    }

    /// Takes a row that a waiting statement has returned.
    func take(_ row: WireRow, of statement: WireStatement) {}

    /// Sends the waiting statements, and more, in one round trip.
    ///
    /// - Returns: the number of rows that each statement wrote or returned.
    @discardableResult
    final func send(
        _ more: [WireStatement] = [], rows: (Int, WireRow) throws -> Void = { _, _ in }
    ) throws -> [Int] {
        let sent = waiting.take()
        let all = sent.statements + more
        return try connection.send(sent, all, statements, store: store.url) { index, row in
            if index >= sent.count { try rows(index - sent.count, row) } else { take(row, of: all[index]) }
        }
    }

    /// Sends the last statements before the commit, where they cannot be sent with it.
    ///
    /// - Parameter witness: shows afterwards whether a transaction in external tables was
    ///   committed: nothing else does.
    /// - Returns: the statements to send with the commit.
    final func conclude(
        _ last: [WireStatement], commitsApart: Bool, witness: @autoclosure () throws -> PostgreSQLWitness?
    ) throws -> [WireStatement] {
        if let external = backend.external {
            let witness = try witness()
            try send(last + [PostgreSQLTransactions.current(external, witness)]) { index, row in
                if index == last.count { transaction = PostgreSQLServerTransaction(row, witness) }
            }
        } else if commitsApart {
            try send(last) { index, row in
                if index == last.count - 1 { number = PostgreSQLTransactions.number(row) }
            }
        } else {
            return last
        }
        return []
    }

    /// Commits the transaction together with the waiting statements and the last ones.
    final func commit(_ last: [WireStatement]) throws {
        let sent = waiting.take()
        let all = sent.statements + last
        isCommitSent = true
        let counts = try connection.commit(with: all) { index, row in
            if index == all.count - 1, !last.isEmpty {
                number = PostgreSQLTransactions.number(row)
            } else if index < all.count {
                take(row, of: all[index])
            }
        }
        try connection.requireCommittedRows(of: sent, counts, statements, backend, store: store.url)
    }
}
