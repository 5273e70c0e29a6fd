import CoreData
import Foundation

/// Statements that wait for the next round trip, and the rows that they have to write.
struct PostgreSQLStatementQueue {
    private(set) var statements: [WireStatement] = []
    private(set) var expected: [PostgreSQLExpectedRows] = []
    private(set) var expectedLinks: [PostgreSQLExpectedLinks] = []

    var isEmpty: Bool { statements.isEmpty }
    var count: Int { statements.count }

    mutating func append(_ statement: WireStatement) { statements.append(statement) }

    /// - Parameter expected: returns the rows that the statement has to write, for its place.
    mutating func append(_ statement: WireStatement, _ expected: (_ place: Int) -> PostgreSQLExpectedRows) {
        self.expected.append(expected(statements.count))
        statements.append(statement)
    }

    /// Adds the links that the last statement has to write.
    ///
    /// - Parameter links: returns the links, for the statement's place.
    mutating func expect(_ links: (_ place: Int) -> PostgreSQLExpectedLinks) {
        expectedLinks.append(links(statements.count - 1))
    }

    /// Returns the waiting statements, and empties the queue.
    mutating func take() -> PostgreSQLStatementQueue {
        let taken = self
        self = PostgreSQLStatementQueue()
        return taken
    }
}

/// The rows that a statement has to write.
///
/// A policy of row-level security or a trigger may leave out some of them. The server reports only
/// the number of rows that it wrote.
struct PostgreSQLExpectedRows {
    enum Kind {
        case inserted
        /// The versions that the rows have before; nil where another version would not show that
        /// this statement wrote a row.
        case updated([UInt32]?)
        case deleted

        fileprivate var participle: String {
            switch self {
            case .inserted: "inserted"
            case .updated: "changed"
            case .deleted: "deleted"
            }
        }
    }

    /// The index of the statement in its round trip.
    let place: Int
    let kind: Kind
    /// The keys of the rows, each once.
    let keys: [Int64]
    let entity: SQLEntity

    /// Whether the server seems to have left out rows, by the number that it reports.
    func isIncomplete(_ counts: [Int]) -> Bool { counts.indices.contains(place) && counts[place] < keys.count }

    /// Whether the rows are as they should be although fewer were counted: a trigger may have
    /// written them in its own way.
    ///
    /// - Parameter found: the versions of the rows that exist, by their keys.
    func isFulfilled(_ found: [Int64: UInt32]) -> Bool {
        switch kind {
        case .inserted: found.count == keys.count
        case .updated(let versions):
            versions.map { zip(keys, $0).allSatisfy { key, version in found[key].map { $0 != version } ?? false } }
                ?? false
        case .deleted: found.isEmpty
        }
    }

    /// Returns the statement that asks for the keys and versions of the rows that exist.
    func question(_ statements: SaveStatements) -> WireStatement {
        let arguments = WireArguments(keys: keys)
        let version = statements.identifier(entity.table.versionColumn)
        return WireStatement(
            "SELECT \(statements.key(entity)), \(version) FROM \(statements.table(entity)) WHERE "
                + "\(statements.key(entity)) = ANY($1)",
            arguments, isKept: true)
    }

    /// - Parameter isCommitted: whether the other rows were already committed when the failure was
    ///   noticed.
    func failure(written: Int, isCommitted: Bool, store: URL?) -> NSError {
        PostgreSQLExclusion.failure(
            "Of \(keys.count) rows of '\(entity.layout.name)' to be \(kind.participle) in the table "
                + "'\(entity.table.name)' of the store "
                + "\(StoreName.path(store)) the server has \(kind.participle) \(written)",
            excluded: "the others", isCommitted: isCommitted, entity: entity.layout.name, table: entity.table.name)
    }
}

/// The links that a statement has to write for a relationship: pairs, keys of owners, or positions.
struct PostgreSQLExpectedLinks {
    /// The index of the statement in its round trip.
    let place: Int
    /// The number of rows that it writes if nothing is left out and no other transaction wrote them
    /// first; nil where that is not known.
    let count: Int?
    /// Asks for the number of rows that are not as the statement should have left them.
    let question: WireStatement
    let owner: LinkOwner
    let table: String

    /// Whether the question has to be asked, by the number of rows that the server has counted.
    func isIncomplete(_ counts: [Int]) -> Bool {
        counts.indices.contains(place) && count.map { counts[place] < $0 } ?? true
    }

    func failure(wrong: Int64, store: URL?) -> NSError {
        PostgreSQLExclusion.failure(
            "In the table '\(table)' of the store \(StoreName.path(store)) \(wrong) \(wrong == 1 ? "row" : "rows") "
                + "of the relationship "
                + "'\(owner.relationship)' of '\(owner.entity)' would not be as this save has to leave them",
            excluded: "what was to be written", isCommitted: false, entity: owner.entity, table: table)
    }
}

private enum PostgreSQLExclusion {
    static func failure(_ what: String, excluded: String, isCommitted: Bool, entity: String, table: String) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            what + ": a policy of row-level security, a trigger or a rule of the table leaves out \(excluded). "
                + (isCommitted ? "All else was saved." : "Nothing was saved."),
            recovery: isCommitted
                ? "Reset the context and read the objects again to see what was saved: the next saves look for such "
                    + "rows before they commit. "
                    + "Let the connection's role write them, or change them no more."
                : "Let the connection's role write these rows, or change them no more.",
            userInfo: ["entity": entity, "table": table])
    }
}

extension PostgreSQLConnection {
    /// Copies new rows into their table.
    ///
    /// - Throws: an error if the server has left out rows.
    func copy(
        _ rows: ContiguousArray<RowPointer>, _ writer: PostgreSQLRowWriter, _ statements: SaveStatements, store: URL?
    ) throws {
        let copied = try wire.copy(writer.plan.copyStatement) { try writer.copyRows(rows, to: $0) }
        guard copied < rows.count else { return }
        try require(writer.expected(rows, .inserted, place: 0), written: copied, statements, store: store)
    }

    /// Sends the waiting statements, and more after them, in one round trip. Begins a transaction
    /// if none is open.
    ///
    /// - Parameter all: the waiting statements and those after them.
    /// - Returns: the number of rows that each statement wrote or returned.
    /// - Throws: the error of a statement, or an error if the server has left out rows.
    func send(
        _ sent: PostgreSQLStatementQueue, _ all: [WireStatement], _ statements: SaveStatements, store: URL?,
        rows: (Int, WireRow) throws -> Void
    ) throws -> [Int] {
        if all.isEmpty, isInTransaction { return [] }
        let counts = try isInTransaction ? executeAll(all, rows: rows) : begin(with: all, rows: rows)
        try requireRows(of: sent, counts, statements, store: store)
        return counts
    }

    /// - Parameter counts: the number of rows that each of the statements wrote or returned.
    /// - Throws: an error if the server has left out rows.
    func requireRows(of sent: PostgreSQLStatementQueue, _ counts: [Int], _ statements: SaveStatements, store: URL?)
        throws
    {
        try requireRows(sent.expected, counts, statements, store: store)
        // Links are expected only where they are checked before the commit.
        for expected in sent.expectedLinks where isInTransaction && expected.isIncomplete(counts) {
            if let wrong = try integer(expected.question), wrong > 0 {
                throw expected.failure(wrong: wrong, store: store)
            }
        }
    }

    func requireRows(_ expected: [PostgreSQLExpectedRows], _ counts: [Int], _ statements: SaveStatements, store: URL?)
        throws
    {
        for expected in expected where expected.isIncomplete(counts) {
            try require(expected, written: counts[expected.place], statements, store: store)
        }
    }

    /// The same after the commit. The store remembers a failure.
    func requireCommittedRows(
        of sent: PostgreSQLStatementQueue, _ counts: [Int], _ statements: SaveStatements, _ backend: PostgreSQLBackend,
        store: URL?
    ) throws {
        do { try requireRows(of: sent, counts, statements, store: store) } catch {
            backend.noticeExcludedRows()
            throw error
        }
    }

    /// - Parameter written: the number of rows that the server has counted, which is too small.
    /// - Throws: an error if the server has left out rows; none if a trigger has written them in
    ///   its own way.
    private func require(_ expected: PostgreSQLExpectedRows, written: Int, _ statements: SaveStatements, store: URL?)
        throws
    {
        let isCommitted = !isInTransaction
        var found: [Int64: UInt32] = [:]
        do {
            try execute(expected.question(statements)) { row in
                found[row.int64(0)] = UInt32(truncatingIfNeeded: row.int64(1))
            }
        } catch  where isCommitted {
            // The count is known, though not the reason.
            throw expected.failure(written: written, isCommitted: true, store: store)
        }
        guard !expected.isFulfilled(found) else { return }
        throw expected.failure(written: written, isCommitted: isCommitted, store: store)
    }
}
