import CoreData
import Foundation

/// One attempt at a save: all writes of a batch in one transaction.
///
/// Rows that are changed or deleted are locked first, in the order of their keys, and their
/// versions are compared: all conflicts are known before anything is written. Then rows are
/// deleted, updated and inserted. Uniqueness and foreign keys are checked after all of these, so
/// that a unique value can move between rows within one save.
///
/// A save of many updates, without deletions and version checks, does not lock their rows first.
/// Each update checks the version of its row. If one finds another version, the save begins again
/// with locks.
final class PostgreSQLSave: PostgreSQLAttempt {
    let batch: SaveBatch
    let store: PostgreSQLStore
    let backend: PostgreSQLBackend
    let connection: PostgreSQLConnection
    let statements: SaveStatements
    /// Identifies the save in the table of transactions.
    let identifier = UUID()
    private(set) var transaction: PostgreSQLServerTransaction?
    private var writers: [Int: PostgreSQLRowWriter] = [:]
    private var recent: (layout: ObjectIdentifier, writer: PostgreSQLRowWriter)?
    /// The conflicts of the batch, collected by the extension in another file that checks rows and
    /// constraints; empty when the save begins again.
    var conflicts = SaveConflicts()
    private(set) var insertedRows: ContiguousArray<RowPointer?>
    private(set) var updatedRows: ContiguousArray<RowPointer?>
    /// Statements that wait for the next round trip.
    var waiting = PostgreSQLStatementQueue()
    /// Whether the commit was sent. If the connection is lost then, the outcome is not known.
    private(set) var isCommitSent = false
    private(set) var number: Int64?
    /// Whether there is a savepoint before the first write.
    private var hasSavepoint = false
    /// The versions that rows had when they were locked, by the tables' roots and the rows' keys.
    var lockedVersions: [Int: [Int64: UInt32]] = [:]
    /// The rows as triggers have left them.
    var derivedRows: [Int: PostgreSQLRowCollector] = [:]

    /// The smallest number of new rows of an entity that are copied, where the table allows that.
    static let fewestCopiedRows = 50
    /// The smallest number of updates whose rows are not locked first. For fewer updates, rows are
    /// locked in the order of their keys, so that savers of the same rows wait for each other in
    /// turn.
    private static let fewestUnlockedRows = 1000
    private static let savepoint = "before_rows"

    init(batch: SaveBatch, store: PostgreSQLStore, backend: PostgreSQLBackend, connection: PostgreSQLConnection) {
        self.batch = batch
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
        insertedRows = ContiguousArray(repeating: nil, count: batch.inserts.count)
        updatedRows = ContiguousArray(repeating: nil, count: batch.updates.count)
    }

    var dialect: any SQLDialect { backend.mapping.dialect }

    /// - Parameter others: a block to run before the commit; nil for none, which saves a round
    ///   trip.
    func run(beforeCommit others: (() throws -> Void)?) throws -> SaveOutcome {
        if batch.updates.count >= Self.fewestUnlockedRows, batch.deletes.isEmpty, batch.versionChecks.isEmpty, comparesVersionsInUpdates {
            do { return try run(locks: false, beforeCommit: others) } catch is OtherVersions { forgetAttempt() }
        }
        return try run(locks: true, beforeCommit: others)
    }

    /// An update has not found the version that it is based on.
    private struct OtherVersions: Error {}

    private func run(locks: Bool, beforeCommit others: (() throws -> Void)?) throws -> SaveOutcome {
        // Constraints are checked after all writes. A violation is explained from the savepoint,
        // where the rows were locked.
        hasSavepoint = writesUniqueValues
        // The block's outcome, and rows that may have been left out, are known before the commit.
        let commitsApart = others != nil || backend.comparesRowsBeforeCommit
        if hasSavepoint || backend.external != nil {
            waiting.append(WireStatement("SET CONSTRAINTS ALL DEFERRED"))
        }
        if locks {
            try lockRows()
            guard conflicts.rows.isEmpty else {
                try findViolations()
                throw conflicts
            }
        }
        if hasSavepoint { waiting.append(WireStatement("SAVEPOINT \(Self.savepoint)")) }
        let end: [WireStatement]
        do {
            try write(locks: locks)
            for writer in writers.values { try writer.requireWholeRows() }
            end = try store.lastStatements(
                of: identifier, ChangeAuthor(contextName: batch.contextName, transactionAuthor: batch.transactionAuthor),
                checksConstraints: hasSavepoint || commitsApart
            ) { try send($0, rows: $1) }
            if let external = backend.external {
                // Nothing else shows afterwards whether the transaction was committed.
                let witness = try witness()
                try send(end + [PostgreSQLTransactions.current(external, witness)]) { index, row in
                    if index == end.count { transaction = PostgreSQLServerTransaction(row, witness) }
                }
            } else if commitsApart {
                try send(end) { index, row in
                    if index == end.count - 1, backend.external == nil { number = PostgreSQLTransactions.number(row) }
                }
            }
            try others?()
        } catch let error as WireError where error.isUniqueViolation {
            throw try explanation(of: error)
        }
        do {
            try commit(commitsApart ? [] : end)
        } catch let error as WireError where error.isUniqueViolation && connection.isInTransaction {
            throw try explanation(of: error)
        }
        return publish()
    }

    /// Whether each update can check the version of its row: not where the server gives versions.
    private var comparesVersionsInUpdates: Bool {
        backend.external == nil || backend.mapping.tables.allSatisfy(\.writesVersions)
    }

    /// Whether the save writes values, besides keys, that must be unique and that other rows may
    /// have.
    private var writesUniqueValues: Bool {
        var last: EntityLayout?
        func isConstrained(_ change: RowChange) -> Bool {
            if change.layout === last { return false }
            last = change.layout
            return backend.isConstrained(change.layout)
        }
        return batch.inserts.contains(where: isConstrained) || batch.updates.contains(where: isConstrained)
    }

    /// Rolls back an attempt that was not committed, and resets its state.
    private func forgetAttempt() {
        connection.rollBack()
        waiting = PostgreSQLStatementQueue()
        writers = [:]
        recent = nil
        conflicts = SaveConflicts()
        lockedVersions = [:]
        insertedRows = ContiguousArray(repeating: nil, count: batch.inserts.count)
        updatedRows = ContiguousArray(repeating: nil, count: batch.updates.count)
        derivedRows = [:]
        derivedReads = [:]
    }

    // MARK: Round trips

    /// Sends the waiting statements, and more, in one round trip.
    ///
    /// - Returns: the number of rows that each statement wrote or returned.
    @discardableResult
    func send(_ more: [WireStatement] = [], rows: (Int, WireRow) throws -> Void = { _, _ in }) throws -> [Int] {
        let sent = waiting.take()
        let all = sent.statements + more
        return try connection.send(sent, all, statements, store: store.url) { index, row in
            try self.receive(index - sent.count, row, all[index].sql, rows)
        }
    }

    func receive(_ index: Int, _ row: WireRow, _ sql: String, _ rows: (Int, WireRow) throws -> Void) throws {
        if index >= 0 { return try rows(index, row) }
        if let root = derivedReads[sql] { derivedRows[root]?.append(row) }
    }

    /// The roots whose rows are read, by the text of the statements that read derived values.
    var derivedReads: [String: Int] = [:]

    private func commit(_ end: [WireStatement]) throws {
        let sent = waiting.take()
        let all = sent.statements + end
        isCommitSent = true
        let counts = try connection.commit(with: all) { index, row in
            if index == all.count - 1, !end.isEmpty {
                number = PostgreSQLTransactions.number(row)
            } else if index < all.count {
                try self.receive(-1, row, all[index].sql) { _, _ in }
            }
        }
        try connection.requireCommittedRows(of: sent, counts, statements, backend, store: store.url)
    }

    /// Returns the conflicts that a violation of uniqueness means for the save.
    private func explanation(of error: WireError) throws -> any Error {
        guard connection.wire.isUsable else { return error }
        waiting = PostgreSQLStatementQueue()
        // A failure in the round trip that began the transaction has rolled it back.
        if connection.isInTransaction {
            if hasSavepoint { try connection.wire.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)") } else { connection.rollBack() }
        }
        try findTakenKeys()
        try findViolations()
        if !conflicts.rows.isEmpty || !conflicts.violations.isEmpty { return conflicts }
        return error
    }

    // MARK: Writing

    func write(readsDerivedRows: Bool = true, locks: Bool = true) throws {
        if backend.external == nil {
            try deleteRows()
            try updateRows(batch.updates.indices, checksVersions: !locks)
            try insertRows()
        } else {
            try writeRowsInTurn(checksVersions: !locks)
        }
        try writeRelationships()
        if readsDerivedRows { readDerivedRows() }
    }

    func deleteRows() throws {
        var keysByRoot: [Int: [Int64]] = [:]
        var keysByOwner: [Int: [Int64]] = [:]
        for change in batch.deletes {
            keysByRoot[change.layout.rootIndex, default: []].append(change.key)
            for (index, key) in backend.mapping.hiddenKeys.enumerated() where change.layout.isKind(of: key.owner.layout) {
                keysByOwner[index, default: []].append(change.key)
            }
        }
        let roots = backend.external == nil ? keysByRoot.keys.sorted() : try rootsInTurn(keysByRoot)
        if backend.external != nil { releaseHiddenKeys(keysByOwner) }
        for root in roots {
            let keys = keysByRoot[root] ?? []
            let entity = try backend.entity(backend.mapping.layouts.layouts[root])
            for join in backend.mapping.joinTables {
                if join.owner.layout.rootIndex == root { deletePairs(join, join.firstColumn, keys) }
                if join.destination.layout.rootIndex == root { deletePairs(join, join.secondColumn, keys) }
            }
            var arguments = WireArguments()
            arguments.append(keys: keys)
            waiting.append(WireStatement(statements.deleteRows(of: entity), arguments, isKept: true)) {
                PostgreSQLExpectedRows(place: $0, kind: .deleted, keys: keys, entity: entity)
            }
        }
        if backend.external == nil { releaseHiddenKeys(keysByOwner) }
    }

    /// Deletes the pairs of deleted rows, by the keys in a column.
    private func deletePairs(_ join: SQLJoinTable, _ column: String, _ keys: [Int64]) {
        wait(
            statements.deletePairs(join, ofKeysIn: column), keys: keys, LinkOwner(join), in: join.name,
            wrong: "\(dialect.identifier(join.name)) WHERE \(dialect.identifier(column)) = ANY($1)")
    }

    /// Removes the keys of deleted owners from the rows that hold them, by the index of the hidden
    /// key in the mapping.
    private func releaseHiddenKeys(_ keysByOwner: [Int: [Int64]]) {
        for (index, keys) in keysByOwner.sorted(by: { $0.key < $1.key }) {
            let key = backend.mapping.hiddenKeys[index]
            let holders = "WHERE \(dialect.identifier(key.column.name)) \(dialect.keyCondition(.list))"
            wait(
                "UPDATE \(statements.table(key.destination)) SET \(statements.noOwner(in: key.column)) \(holders)", keys: keys,
                LinkOwner(key), in: key.destination.table.name, wrong: "\(statements.table(key.destination)) \(holders)")
        }
    }

    /// Adds a statement with one list of keys to those of the next round trip.
    ///
    /// - Parameter wrong: selects the rows that are not as the statement should have left them.
    func wait(_ sql: String, keys: [Int64], _ owner: LinkOwner, in table: String, wrong: @autoclosure () -> String) {
        var arguments = WireArguments()
        arguments.append(keys: keys)
        waiting.append(WireStatement(sql, arguments, isKept: true))
        expect(nil, wrong(), arguments, owner, in: table)
    }

    /// Rows of one entity with the same changed slots.
    private struct UpdatedRows {
        let writer: PostgreSQLRowWriter
        let mask: SlotMask
        var rows: ContiguousArray<RowPointer> = []
    }

    /// - Parameters:
    ///   - indexes: the indexes of the updates to write.
    ///   - checksVersions: whether the rows were not locked. The updates are then sent, and the
    ///     numbers of rows that they wrote are checked.
    func updateRows(_ indexes: some Sequence<Int>, checksVersions: Bool) throws {
        var groups: [UpdatedRows] = []
        var places: [Int: [Int]] = [:]
        for index in indexes {
            let change = batch.updates[index]
            guard let base = change.base else { continue }
            let writer = try writer(for: change.layout)
            let row = writer.update(change, base)
            updatedRows[index] = row
            let mask = change.values?.mask ?? SlotMask(count: change.layout.slots.count)
            if let place = places[change.layout.index]?.first(where: { groups[$0].mask == mask }) {
                groups[place].rows.append(row)
            } else {
                places[change.layout.index, default: []].append(groups.count)
                groups.append(UpdatedRows(writer: writer, mask: mask, rows: [row]))
            }
        }
        // The places of the updates among the waiting statements, and the numbers of rows that they
        // must write.
        var updates: [(place: Int, rows: Int)] = []
        func sendUpdates() throws {
            let counts = try send()
            if checksVersions, updates.contains(where: { counts[$0.place] != $0.rows }) { throw OtherVersions() }
            updates = []
        }
        for group in groups {
            for (place, part) in group.writer.parts(group.rows, changed: group.mask).enumerated() {
                // A statement of full size need not wait for more.
                if place > 0 { try sendUpdates() }
                let statement = try group.writer.updateStatement(part, changed: group.mask, checksVersions: checksVersions)
                if checksVersions {
                    updates.append((waiting.count, part.count))
                    waiting.append(statement)
                } else {
                    let versions = lockedVersions[group.writer.entity.layout.rootIndex] ?? [:]
                    waiting.append(statement) { group.writer.expectedUpdates(part, versions, place: $0) }
                }
            }
        }
        if checksVersions { try sendUpdates() }
    }

    func insertRows() throws {
        for (index, change) in batch.inserts.enumerated() { insertedRows[index] = try writer(for: change.layout).insert(change) }
        for index in backend.external == nil ? writers.keys.sorted() : try insertedLayoutsInTurn() {
            guard let writer = writers[index], !writer.inserted.isEmpty else { continue }
            guard let parts = writer.parts() else {
                try send()
                try connection.copy(writer.inserted, writer, statements, store: store.url)
                continue
            }
            for (place, part) in parts.enumerated() {
                if place > 0 { try send() }
                waiting.append(try writer.insertStatement(part)) { writer.expected(part, .inserted, place: $0) }
            }
        }
    }

    func writer(for layout: EntityLayout) throws -> PostgreSQLRowWriter {
        if let recent, recent.layout == ObjectIdentifier(layout) { return recent.writer }
        let writer =
            try writers[layout.index]
            ?? PostgreSQLRowWriter(try backend.entity(layout), backend, expectedRows: max(batch.inserts.count, batch.updates.count))
        writers[layout.index] = writer
        recent = (ObjectIdentifier(layout), writer)
        return writer
    }

    // MARK: Publishing

    /// Publishes the new rows and removes the deleted ones from the row cache, after the commit.
    func publish() -> SaveOutcome {
        var pages: [RowPage] = []
        for index in writers.keys.sorted() { pages += writers[index]?.finish() ?? [] }
        var byRoot: [Int: [RowPage]] = [:]
        for page in pages { byRoot[page.layout.rootIndex, default: []].append(page) }
        // Where rows of an external table were read again, the written rows are not cached.
        for (root, pages) in byRoot where backend.external == nil || derivedRows[root] == nil { backend.rowCaches[root].insert(pages) }
        for change in batch.deletes { backend.rowCache(of: change.layout).remove(change.key) }
        var replaced: [RowReference: RowPointer] = [:]
        for root in derivedRows.keys.sorted() {
            guard let derived = derivedRows[root]?.finishUnpublished(), !derived.rows.isEmpty else { continue }
            backend.rowCaches[root].insert(derived.pages)
            pages += derived.pages
            for row in derived.rows { replaced[RowReference(key: row.rowKey, layoutIndex: root)] = row }
        }
        func current(_ row: RowPointer?, _ change: RowChange) -> RowPointer? {
            replaced.isEmpty ? row : replaced[RowReference(key: change.key, layoutIndex: change.layout.rootIndex)] ?? row
        }
        var outcome = SaveOutcome()
        outcome.inserted = FetchedRows(
            rows: ContiguousArray(zip(insertedRows, batch.inserts).compactMap { current($0, $1) }), pages: pages)
        outcome.updated = FetchedRows(
            rows: ContiguousArray(zip(updatedRows, batch.updates).compactMap { current($0, $1) }), pages: pages)
        return outcome
    }
}
