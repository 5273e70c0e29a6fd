import CoreData
import Foundation

/// One attempt at a batch: all work between the beginning of its transaction and the commit.
final class PostgreSQLBatch: PostgreSQLAttempt {
    private var outcome = BatchOutcome()
    /// The changes for the history; empty where the store records none.
    var changes: [PostgreSQLChange] = []
    var properties = ChangedProperties()
    /// Values of deleted rows that the history preserves.
    var tombstones: [RowReference: [StoredValue]] = [:]

    /// Runs a batch in a transaction of its own, which an error rolls back. Runs it again after a
    /// conflict with other transactions that only a retry solves.
    ///
    /// - Parameter violation: returns the error for two rows that would have the same unique
    ///   values. The transaction was rolled back before.
    static func run(
        _ store: PostgreSQLStore, _ author: ChangeAuthor,
        violation: (PostgreSQLBatch, WireError) throws -> any Error = { _, error in error },
        _ body: (PostgreSQLBatch) throws -> BatchOutcome
    ) throws -> BatchOutcome {
        try store.requireWritable()
        let backend = try store.backend()
        return try store.write(
            { PostgreSQLBatch(store: store, backend: backend, connection: $0) },
            run: { batch in
                do {
                    batch.outcome = try body(batch)
                    try batch.finish(author)
                    return batch.outcome
                } catch let error as WireError where error.isUniqueViolation && batch.connection.wire.isUsable {
                    batch.waiting = PostgreSQLStatementQueue()
                    batch.connection.rollBack()
                    throw try violation(batch, error)
                }
            }, whenCommitted: { $0.outcome })
    }

    private func finish(_ author: ChangeAuthor) throws {
        // A batch that has changed nothing is no transaction of the store.
        guard outcome.hasChanges || store.hasChangedMetadata else {
            return connection.isInTransaction ? connection.rollBack() : ()
        }
        try record(changes)
        let last = try store.lastStatements(of: identifier, author, changes: changeCount) { try send($0, rows: $1) }
        try commit(conclude(last, commitsApart: backend.comparesRowsBeforeCommit, witness: nil))
    }

    // MARK: Round trips

    /// Runs a statement after the waiting ones, in one round trip.
    ///
    /// - Returns: the number of rows that it wrote or returned.
    @discardableResult
    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void = { _ in }) throws -> Int {
        try send([statement]) { _, row in try rows(row) }.last ?? 0
    }

    /// Copies rows into their table, after the waiting statements.
    func copy(_ rows: ContiguousArray<RowPointer>, _ writer: PostgreSQLRowWriter) throws {
        if !waiting.isEmpty || !connection.isInTransaction { try send() }
        try connection.copy(rows, writer, statements, store: store.url)
    }

    // MARK: Updating

    func update(_ update: RowUpdate) throws -> BatchOutcome {
        let entity = try backend.entity(update.rows.entity)
        // Two batches that raise a number at the same time must raise it twice. A constant does not
        // depend on the former value.
        let readsValues = update.assignments.contains { if case .expression = $0.value { true } else { false } }
        if readsValues { try lockRows(of: update.rows, entity) }
        let wantsReferences = update.wantsReferences || tracksHistory
        let returning = wantsReferences ? statements.returningReferences(entity) : ""
        let statement = try generator.update(update, entity, returning: returning).statement(mapping.dialect)
        var outcome = BatchOutcome()
        if wantsReferences {
            outcome.updated = try references(statement.sql, statement.arguments, only: nil)
            outcome.updatedCount = outcome.updated.count
            let slots = update.assignments.map(\.slot)
            for row in outcome.updated { try noteUpdate(row, slots, of: entity.layout) }
            if !update.wantsReferences { outcome.updated = [] }
        } else {
            outcome.updatedCount = try run(statement.sql, statement.arguments)
        }
        return outcome
    }

    /// Locks the rows that a fetch would return, in the order of their keys.
    private func lockRows(of fetch: StoreFetch, _ entity: SQLEntity) throws {
        var fetch = fetch
        fetch.shape = .references
        let found = try generator.fetch(fetch, entity) {
            SelectColumns(entity, includesSubentities: true, in: self.mapping)
        }
        let text =
            "SELECT \(statements.key(entity)) FROM \(statements.table(entity)) WHERE \(statements.key(entity)) IN "
            + "(SELECT f.k FROM ("
            + found
            + ") AS f (n, k)) ORDER BY 1 FOR NO KEY UPDATE"
        let statement = text.statement(mapping.dialect)
        try run(statement.sql, statement.arguments)
    }
}

extension PostgreSQLBatch: DeletingBatch {
    var mapping: SQLMapping { backend.mapping }
    var generator: SQLGenerator { SQLGenerator(mapping: backend.mapping, store: store) }
    var tracksHistory: Bool { backend.history == .recorded }
    var meetsOthers: Bool { true }
    var hasFiles: Bool { false }

    @discardableResult
    func run(_ sql: String, _ arguments: [SQLArgument]) throws -> Int { try execute(store.statement(sql, arguments)) }

    func references(_ sql: String, _ arguments: [SQLArgument], only: EntityLayout?) throws -> [RowReference] {
        var references: [RowReference] = []
        try execute(store.statement(sql, arguments)) { row in
            if let index = only?.index ?? mapping.layoutIndex(forNumber: row.int64(0)) {
                references.append(RowReference(key: row.int64(1), layoutIndex: index))
            }
        }
        return references
    }

    func lock(_ rows: [RowReference]) throws -> [RowReference] {
        var keys: [Int: [Int64]] = [:]
        for row in rows { keys[mapping.layouts.layouts[row.layoutIndex].rootIndex, default: []].append(row.key) }
        var locked: [Int: Set<Int64>] = [:]
        for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let entity = try backend.entity(mapping.layouts.layouts[root])
            let select =
                "SELECT \(statements.key(entity)) FROM \(statements.table(entity)) WHERE \(statements.key(entity)) = "
                + "ANY($1) "
                + "ORDER BY \(statements.key(entity)) FOR UPDATE"
            try execute(WireStatement(select, WireArguments(keys: keys), isKept: true)) {
                locked[root, default: []].insert($0.int64(0))
            }
            // Other programs may have deleted them. Rows that still exist are under a policy that
            // does not allow to delete them.
            let missing = Set(keys).subtracting(locked[root] ?? [])
            if !missing.isEmpty { try requireDeletion(of: missing, entity, deleted: 0) }
        }
        return rows.filter { locked[mapping.layouts.layouts[$0.layoutIndex].rootIndex]?.contains($0.key) ?? false }
    }

    func lockRows(holding column: SQLColumn, of entity: SQLEntity, _ keys: [SQLArgument]) throws {
        let held =
            "SELECT 1 FROM \(statements.table(entity)) WHERE \(statements.identifier(column.name)) = ANY($1) "
            + "ORDER BY \(statements.key(entity)) FOR NO KEY UPDATE"
        try run("SELECT count(*) FROM (\(held)) AS held", keys)
    }

    func requireDeletion(of keys: Set<Int64>, _ entity: SQLEntity, deleted: Int) throws {
        let expected = PostgreSQLExpectedRows(place: 0, kind: .deleted, keys: keys.sorted(), entity: entity)
        try connection.requireRows([expected], [deleted], statements, store: store.url)
    }

    func requireNoRow(
        of table: String, holding column: String, _ keys: [SQLArgument], _ property: PropertySlot, _ owner: EntityLayout
    ) throws {
        guard backend.mayExcludeRows(of: table) else { return }
        let question = try store.statement(
            "SELECT count(*) FROM \(statements.identifier(table)) WHERE \(statements.identifier(column)) = ANY($1)",
            keys)
        let links = PostgreSQLExpectedLinks(
            place: 0, count: nil, question: question, owner: LinkOwner(relationship: property.name, entity: owner.name),
            table: table)
        if let wrong = try connection.integer(question), wrong > 0 {
            throw links.failure(wrong: wrong, store: store.url)
        }
    }

    func inTurn(_ layoutIndexes: some Collection<Int>) -> [Int] {
        guard backend.external != nil else { return layoutIndexes.sorted() }
        let byRoot = Dictionary(grouping: layoutIndexes) { mapping.layouts.layouts[$0].rootIndex }
        let roots = ExternalOrder.ofDeletions(Set(byRoot.keys), mapping).order.inTurn().numbers
        return roots.reversed().flatMap { byRoot[$0]?.sorted() ?? [] }
    }
}

extension BatchOutcome {
    fileprivate var hasChanges: Bool { insertedCount > 0 || updatedCount > 0 || deletedCount > 0 }
}

extension PostgreSQLStore: BatchRows {
    var batchRows: (any BatchRows)? { self }

    func insert(_ insertion: RowInsertion) throws -> BatchOutcome {
        try requireWritable()
        let rows = try PostgreSQLInsertion(insertion, self)
        if rows.isEmpty { return BatchOutcome() }
        // An insertion that was overtaken finds the other transaction's rows in the next attempt.
        // In the last attempt, no other transaction may write.
        var attempt = 0
        while true {
            attempt += 1
            try rows.takeKeys()
            let isLast = attempt == PostgreSQLInsertion.mostAttempts
            do {
                return try PostgreSQLBatch.run(
                    self, insertion.author,
                    violation: { batch, error in try rows.explanation(of: error, batch, isLast: isLast) },
                    { batch in try rows.write(batch, locksTable: isLast) })
            } catch is PostgreSQLInsertion.Overtaken {}
        }
    }

    func update(_ update: RowUpdate) throws -> BatchOutcome {
        try PostgreSQLBatch.run(
            self, update.author,
            violation: { batch, error in
                update.uniquenessFailure(in: batch.mapping) { $0.index == error.constraint } as (any Error)? ?? error
            },
            { try $0.update(update) })
    }

    func delete(_ deletion: RowDeletion) throws -> BatchOutcome {
        try PostgreSQLBatch.run(self, deletion.author) { batch in
            let rows = BatchDeletion(deletion, batch)
            var outcome = try rows.run()
            try batch.noteDeletion(outcome, rows.losses)
            if !deletion.wantsReferences { outcome.deleted = [] }
            return outcome
        }
    }
}
