import Foundation

/// Statements that wait for the next round trip, and how many rows they have to write.
struct PostgreSQLStatementQueue {
    private(set) var statements: [WireStatement] = []
    private(set) var expected: [PostgreSQLExpectedRows] = []

    var isEmpty: Bool { statements.isEmpty }
    var count: Int { statements.count }

    mutating func append(_ statement: WireStatement) { statements.append(statement) }

    /// - Parameters:
    ///   - keys: those of the rows that the statement has to write, each once.
    ///   - kind: what it does to them.
    mutating func append(_ statement: WireStatement, _ kind: PostgreSQLExpectedRows.Kind, _ keys: [Int64], of entity: SQLEntity) {
        expected.append(PostgreSQLExpectedRows(place: statements.count, kind: kind, keys: keys, entity: entity))
        statements.append(statement)
    }

    /// What has waited; nothing does afterwards.
    mutating func take() -> PostgreSQLStatementQueue {
        let taken = self
        self = PostgreSQLStatementQueue()
        return taken
    }
}

/// The rows that a statement has to write.
///
/// A policy of row-level security or a trigger may leave out some of them, of which the server says nothing but their number.
struct PostgreSQLExpectedRows {
    enum Kind {
        case inserted
        case updated
        case deleted

        fileprivate var participle: String {
            switch self {
            case .inserted: "inserted"
            case .updated: "changed"
            case .deleted: "deleted"
            }
        }
    }

    /// Where the statement stands in its round trip.
    let place: Int
    let kind: Kind
    let keys: [Int64]
    let entity: SQLEntity

    /// Whether the server has left out rows, as it seems by their number.
    func isIncomplete(_ counts: [Int]) -> Bool { counts.indices.contains(place) && counts[place] < keys.count }

    /// Whether the rows are as they should be although fewer were counted: a trigger may have written them in its own way.
    ///
    /// - Parameter found: how many of the rows there are.
    func isFulfilled(found: Int) -> Bool {
        switch kind {
        case .inserted: found == keys.count
        case .updated: false
        case .deleted: found == 0
        }
    }

    /// Asks how many of the rows there are.
    func question(_ statements: SaveStatements) -> WireStatement {
        var arguments = WireArguments()
        arguments.append(keys: keys)
        return WireStatement(
            "SELECT count(*) FROM \(statements.table(entity)) WHERE \(statements.key(entity)) = ANY($1)", arguments, isKept: true)
    }

    /// - Parameter isCommitted: whether the rest was committed when it was noticed.
    func failure(written: Int, isCommitted: Bool, store: URL?) -> NSError {
        let (table, name) = (entity.table.name, entity.layout.name)
        return CoreDataErrors.make(
            .persistentStoreOperation,
            "Of \(keys.count) rows of '\(name)' to be \(kind.participle) in the table '\(table)' of the store \(StoreName.path(store)) the server has "
                + "\(kind.participle) \(written): a policy of row-level security, a trigger or a rule of the table leaves out the others. "
                + (isCommitted ? "All else was saved." : "Nothing was saved."),
            recovery: isCommitted
                ? "Open the store again: it then looks for such rows before it commits. Let the connection's role write them, or change them no more."
                : "Let the connection's role write these rows, or change them no more.",
            userInfo: ["entity": name, "table": table])
    }
}

extension PostgreSQLConnection {
    /// Copies new rows into their table.
    ///
    /// - Throws: what says that the server has left out rows.
    func copy(
        _ rows: ContiguousArray<RowPointer>, _ writer: PostgreSQLRowWriter, _ statements: SaveStatements, store: URL?
    ) throws {
        let copied = try wire.copy(writer.plan.copyStatement) { try writer.copyRows(rows, to: $0) }
        guard copied < rows.count else { return }
        try require(
            PostgreSQLExpectedRows(place: 0, kind: .inserted, keys: rows.map(\.rowKey), entity: writer.entity), written: copied, statements,
            store: store)
    }

    /// Sends what has waited, and more behind it, in one round trip, which begins a transaction where none is open.
    ///
    /// - Parameter all: the statements of both.
    /// - Returns: how many rows each statement wrote or gave.
    /// - Throws: what fails, or says that the server has left out rows.
    func send(
        _ sent: PostgreSQLStatementQueue, _ all: [WireStatement], _ statements: SaveStatements, store: URL?,
        rows: (Int, WireRow) throws -> Void
    ) throws -> [Int] {
        if all.isEmpty, isInTransaction { return [] }
        let counts = try isInTransaction ? executeAll(all, rows: rows) : begin(with: all, rows: rows)
        try requireRows(of: sent, counts, statements, store: store)
        return counts
    }

    /// - Parameter counts: how many rows each of the statements has written or given.
    /// - Throws: what says that the server has left out rows.
    func requireRows(of sent: PostgreSQLStatementQueue, _ counts: [Int], _ statements: SaveStatements, store: URL?) throws {
        for expected in sent.expected where expected.isIncomplete(counts) {
            try require(expected, written: counts[expected.place], statements, store: store)
        }
    }

    /// - Parameter written: how many rows the server has counted, too few.
    /// - Throws: what says that it has left out rows, unless a trigger has written them in its own way.
    private func require(_ expected: PostgreSQLExpectedRows, written: Int, _ statements: SaveStatements, store: URL?) throws {
        let isCommitted = !isInTransaction
        let found = try integer(expected.question(statements)) ?? 0
        guard !expected.isFulfilled(found: Int(found)) else { return }
        throw expected.failure(written: written, isCommitted: isCommitted, store: store)
    }
}
