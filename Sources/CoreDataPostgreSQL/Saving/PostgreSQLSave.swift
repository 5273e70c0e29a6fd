import CoreData
import Foundation

/// One attempt at a save: all writes of a batch in one transaction.
/// Another attempt is another object.
///
/// Rows that are changed or deleted are locked first, in the order of their keys, and their
/// versions are compared: all conflicts are known before anything is written. Then rows are
/// deleted, updated and inserted. Uniqueness and foreign keys are checked after all of these, so
/// that a unique value can move between rows within one save.
///
/// A save of many updates, without deletions and version checks, does not lock their rows first.
/// Each update checks the version of its row. If one finds another version, another attempt locks
/// the rows.
final class PostgreSQLSave: PostgreSQLAttempt {
    let batch: SaveBatch
    private var writers: [Int: PostgreSQLRowWriter] = [:]
    private var recent: (layout: ObjectIdentifier, writer: PostgreSQLRowWriter)?
    /// The conflicts of the batch, collected by the extension that checks rows and constraints.
    var conflicts = SaveConflicts()
    private(set) var insertedRows: ContiguousArray<RowPointer?>
    private(set) var updatedRows: ContiguousArray<RowPointer?>
    /// Whether there is a savepoint before the first write.
    private var hasSavepoint = false
    /// The versions that rows had when they were locked, by the tables' roots and the rows' keys.
    var lockedVersions: [Int: [Int64: UInt32]] = [:]
    /// Values of rows to delete that the history preserves, by layout and key.
    var preserved: [Int: [Int64: [StoredValue]]] = [:]
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
        insertedRows = ContiguousArray(repeating: nil, count: batch.inserts.count)
        updatedRows = ContiguousArray(repeating: nil, count: batch.updates.count)
        super.init(store: store, backend: backend, connection: connection)
    }

    var dialect: any SQLDialect { backend.mapping.dialect }

    /// Runs a save; puts a new attempt in its place where the rows have to be locked after all.
    ///
    /// - Parameter others: a block to run before the commit; nil for none, which saves a round
    ///   trip.
    static func run(_ save: inout PostgreSQLSave, beforeCommit others: (() throws -> Void)?) throws -> SaveOutcome {
        if save.mayLeaveRowsUnlocked {
            do { return try save.run(locks: false, beforeCommit: others) } catch is OtherVersions {
                save.connection.rollBack()
                save = PostgreSQLSave(
                    batch: save.batch, store: save.store, backend: save.backend, connection: save.connection)
            }
        }
        return try save.run(locks: true, beforeCommit: others)
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
            try record(historyChanges())
            let last = try store.lastStatements(
                of: identifier, batch.author, changes: changeCount, checksConstraints: hasSavepoint || commitsApart
            ) { try send($0, rows: $1) }
            end = try conclude(last, commitsApart: commitsApart, witness: witness())
            try others?()
        } catch let error as WireError where error.isUniqueViolation {
            throw try explanation(of: error)
        }
        do {
            try commit(end)
        } catch let error as WireError where error.isUniqueViolation && connection.isInTransaction {
            throw try explanation(of: error)
        }
        return publish()
    }

    private var mayLeaveRowsUnlocked: Bool {
        batch.updates.count >= Self.fewestUnlockedRows && batch.deletes.isEmpty && batch.versionChecks.isEmpty
            // An update cannot check versions that the server gives.
            && (backend.external == nil || backend.mapping.tables.allSatisfy(\.writesVersions))
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

    // MARK: Round trips

    override func take(_ row: WireRow, of statement: WireStatement) {
        if let root = derivedReads[statement.sql] { derivedRows[root]?.append(row) }
    }

    /// The roots whose rows are read, by the text of the statements that read derived values.
    var derivedReads: [String: Int] = [:]

    /// Returns the conflicts that a violation of uniqueness means for the save.
    private func explanation(of error: WireError) throws -> any Error {
        guard connection.wire.isUsable else { return error }
        waiting = PostgreSQLStatementQueue()
        // A failure in the round trip that began the transaction has rolled it back.
        if connection.isInTransaction {
            if hasSavepoint {
                try connection.wire.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)")
            } else {
                connection.rollBack()
            }
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
            for (index, key) in backend.mapping.hiddenKeys.enumerated() where change.layout.isKind(of: key.owner.layout)
            {
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
            waiting.append(WireStatement(statements.deleteRows(of: entity), WireArguments(keys: keys), isKept: true)) {
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
                "UPDATE \(statements.table(key.destination)) SET \(statements.noOwner(in: key.column)) \(holders)",
                keys: keys,
                LinkOwner(key), in: key.destination.table.name, wrong: "\(statements.table(key.destination)) \(holders)"
            )
        }
    }

    /// Adds a statement with one list of keys to those of the next round trip.
    ///
    /// - Parameter wrong: selects the rows that are not as the statement should have left them.
    func wait(_ sql: String, keys: [Int64], _ owner: LinkOwner, in table: String, wrong: @autoclosure () -> String) {
        let arguments = WireArguments(keys: keys)
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
                let statement = try group.writer.updateStatement(
                    part, changed: group.mask, checksVersions: checksVersions)
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
        for (index, change) in batch.inserts.enumerated() {
            insertedRows[index] = try writer(for: change.layout).insert(change)
        }
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
            ?? PostgreSQLRowWriter(
                try backend.entity(layout), backend, expectedRows: max(batch.inserts.count, batch.updates.count))
        writers[layout.index] = writer
        recent = (ObjectIdentifier(layout), writer)
        return writer
    }

    // MARK: Publishing

    /// Publishes the new rows and removes the deleted ones from the row cache, after the commit.
    func publish() -> SaveOutcome {
        var pages: [RowPage] = []
        for index in writers.keys.sorted() { pages += writers[index]?.finish() ?? [] }
        let roots = derivedRows.keys.sorted()
        let derived = roots.flatMap { derivedRows[$0]?.finishUnpublished().pages ?? [] }
        // Where rows of an external table were read again, the written rows are not cached.
        var outcome = batch.publish((insertedRows, updatedRows), pages, derived: derived, in: backend.rowCaches) {
            backend.external == nil || !roots.contains($0)
        }
        outcome.transaction = historyNumber
        return outcome
    }
}
