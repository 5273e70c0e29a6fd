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
    /// The number of the transaction in the history; nil where it was not recorded there.
    final private(set) var historyNumber: Int64?
    /// The number of changes that were written into the history.
    final private(set) var changeCount = 0
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
                if index == last.count - 1 { takeNumbers(row) }
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
                takeNumbers(row)
            } else if index < all.count {
                take(row, of: all[index])
            }
        }
        try connection.requireCommittedRows(of: sent, counts, statements, backend, store: store.url)
    }

    private func takeNumbers(_ row: WireRow) {
        number = PostgreSQLTransactions.number(row)
        historyNumber = PostgreSQLTransactions.historyNumber(row)
    }

    // MARK: History

    /// Writes changes into the history, with the next round trip.
    final func record(_ changes: [PostgreSQLChange]) throws {
        let most = backend.bytesOfStatement.load(ordering: .relaxed)
        var start = 0
        while start < changes.count {
            var end = start
            var bytes = 0
            repeat {
                bytes += changes[end].byteCount
                end += 1
            } while end < changes.count && bytes < most
            // A statement of full size need not wait for more.
            if start > 0 { try send() }
            waiting.append(PostgreSQLChange.insertion(changes[start..<end], of: identifier, first: changeCount))
            changeCount += end - start
            start = end
        }
    }

    /// Asks for the number of a transaction that was committed although its answer was lost.
    ///
    /// The save is done in any case: without the number its notification lacks a token.
    final func findHistoryNumber() {
        guard changeCount > 0 else { return }
        historyNumber = try? backend.pool.withConnection(repeats: true) {
            try PostgreSQLHistory.number(of: identifier, $0)
        }
    }
}
