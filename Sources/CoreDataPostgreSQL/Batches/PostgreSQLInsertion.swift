import CoreData
import Foundation

/// Inserts many new rows of one entity, or gives new values to the rows that have their unique
/// values.
///
/// All rows are requested before the transaction begins, and kept as pages until it has ended: the
/// caller that gives them may read the store, and they may have to be written again. If the rule
/// refuses duplicates, the rows are written at once, and a violation is explained afterwards.
/// Otherwise the owners of the unique values are looked up first, with a statement for each
/// constraint: PostgreSQL's `ON CONFLICT` takes no constraint that can be deferred.
final class PostgreSQLInsertion {
    /// Another transaction has inserted rows with the same unique values in the meantime.
    struct Overtaken: Error {}

    /// The number of attempts at an insertion that other transactions overtake. In the last
    /// attempt, no other transaction writes to the table.
    static let mostAttempts = 3
    /// The largest number of rows that a statement names.
    private static let chunk = 20_000

    /// A constraint that applies to the rows.
    struct Unique {
        let constraint: SQLConstraint
        let targets: [PostgreSQLWritePlan.Target]
        /// Whether the insertion's rule applies to the constraint.
        let isMeant: Bool
    }

    let insertion: RowInsertion
    let layout: EntityLayout
    let uniques: [Unique]
    private let store: PostgreSQLStore
    private let backend: PostgreSQLBackend
    private let entity: SQLEntity
    /// All rows as they would be inserted.
    private let writer: PostgreSQLRowWriter
    /// The slots that were given for each row, where they matter.
    private var masks: [SlotMask] = []
    /// The reasons why rows cannot be inserted, by the rows' indexes.
    private var refusals: [Int: any Error] = [:]

    /// - Throws: the error of the code that gives the rows; code 134060 for a constraint that the
    ///   entity does not have.
    init(_ insertion: RowInsertion, _ store: PostgreSQLStore) throws {
        self.insertion = insertion
        self.store = store
        layout = insertion.layout
        backend = try store.backend()
        entity = try backend.entity(layout)
        let writer = PostgreSQLRowWriter(entity, backend, expectedRows: 64)
        self.writer = writer
        let meant = insertion.constraint.map(layout.constrainedPaths)
        uniques = backend.mapping.constraints(of: layout).map { [layout] constraint in
            Unique(
                constraint: constraint,
                targets: constraint.names.compactMap { name in
                    writer.plan.targets.first { layout.slotByPath[name] == $0.slot }
                },
                isMeant: meant.map { $0 == constraint.names } ?? true)
        }
        if let names = insertion.constraint, !uniques.contains(where: \.isMeant) {
            throw CoreDataErrors.noConstraint(on: names, of: layout.name)
        }
        try collect()
    }

    private func collect() throws {
        let defaults = try layout.storedDefaults()
        let values = RowValues.make(slotCount: layout.slots.count)
        let keepsMasks = !uniques.isEmpty && insertion.changesRows
        while try insertion.nextRow(values) {
            if keepsMasks { masks.append(values.mask) }
            do { try insertion.required?.requireAll(in: values) } catch { refusals[count] = error }
            for target in writer.plan.targets where !values.has(target.slot) {
                values[target.slot] = defaults[target.slot]
            }
            _ = writer.insert(RowChange(layout: layout, key: 0, base: nil, values: values))
            values.removeAll()
        }
    }

    var count: Int { writer.inserted.count }
    var isEmpty: Bool { writer.inserted.isEmpty }
    var targets: [PostgreSQLWritePlan.Target] { writer.plan.targets }

    func takeKeys() throws {
        guard store.keysAreConsecutive else {
            for (row, key) in zip(writer.inserted, try store.obtainKeys(count, for: layout, origin: store)) {
                row.setKey(key)
            }
            return
        }
        let first = try store.reserveKeys(count, for: layout)
        for (index, row) in writer.inserted.enumerated() { row.setKey(first + Int64(index)) }
    }

    // MARK: Rows

    /// Whether an existing row gets a new value in a slot.
    func replaces(_ slot: Int, by index: Int) -> Bool {
        insertion.replaces(slot, isGiven: masks[index].contains(slot))
    }

    func value(_ slot: Int, of index: Int) -> StoredValue { Snapshot(retaining: writer.inserted[index]).value(slot) }

    /// Returns the unique values of a row in the server's format; nil where one of them is nil.
    func key(of index: Int, _ unique: Unique) throws -> [UInt8]? {
        let row = writer.inserted[index]
        var bytes = WireBytes()
        for target in unique.targets {
            if row.isNull(target.slot, wordCount: layout.wordCount) { return nil }
            try writer.appendField(row, target, to: &bytes)
        }
        return bytes.bytes
    }

    // MARK: Writing

    /// - Parameter locksTable: whether to keep other transactions from writing to the table until
    ///   this one ends.
    func write(_ batch: PostgreSQLBatch, locksTable: Bool) throws -> BatchOutcome {
        var outcome = BatchOutcome()
        if locksTable {
            batch.waiting.append(
                WireStatement("LOCK TABLE \(batch.statements.table(entity)) IN SHARE ROW EXCLUSIVE MODE"))
        }
        if insertion.rule == .refuse || uniques.isEmpty {
            try insert(writer.inserted, batch)
            batch.noteInsertions(writer.inserted.lazy.map(\.rowKey), of: entity)
            outcome.insertedCount = count
            if insertion.wantsReferences { outcome.inserted = writer.inserted.map { reference($0.rowKey) } }
            return outcome
        }
        if try hasNewRows(batch) { batch.waiting.append(turn) }
        // Values may move between rows.
        batch.waiting.append(WireStatement("SET CONSTRAINTS ALL DEFERRED"))
        let owners = try owners(batch, locks: insertion.rule != .keepExisting)
        let plan = PostgreSQLInsertionPlan(self, owners, try rows(of: owners, batch))
        try plan.make()
        if !refusals.isEmpty, let refusal = plan.new.lazy.compactMap({ self.refusals[$0] }).first { throw refusal }
        let changes = PostgreSQLRowWriter(entity, backend, expectedRows: max(1, plan.changed.count + plan.merged.count))
        try updateRows(plan, changes, batch)
        let new = ContiguousArray(
            plan.new.map { index in
                let row = writer.inserted[index]
                guard let merged = plan.merged[index] else { return row }
                return changes.insert(change(row.rowKey, merged.values, version: merged.version))
            })
        try insert(new, batch)
        batch.noteInsertions(new.lazy.map(\.rowKey), of: entity)
        for (row, change) in plan.changed {
            try batch.noteUpdate(row, (0..<layout.storedCount).lazy.filter(change.values.has), of: layout)
        }
        outcome.insertedCount = new.count
        outcome.updatedCount = plan.updatedCount
        if insertion.wantsReferences {
            outcome.inserted = new.map { reference($0.rowKey) }
            outcome.updated = plan.changed.map(\.row)
        }
        withExtendedLifetime(changes) {}
        return outcome
    }

    private func reference(_ key: Int64) -> RowReference { RowReference(key: key, layoutIndex: layout.index) }

    private func change(_ key: Int64, _ values: RowValues, version: Int64) -> RowChange {
        var change = RowChange(layout: layout, key: key, base: nil, values: values)
        change.insertedVersion = version
        return change
    }

    private func insert(_ rows: ContiguousArray<RowPointer>, _ batch: PostgreSQLBatch) throws {
        if rows.isEmpty { return }
        guard let parts = writer.parts(rows) else { return try batch.copy(rows, writer) }
        for (place, part) in parts.enumerated() {
            // A statement of full size need not wait for more.
            if place > 0 { try batch.send() }
            batch.waiting.append(try writer.insertStatement(part)) { writer.expected(part, .inserted, place: $0) }
        }
    }

    private func updateRows(_ plan: PostgreSQLInsertionPlan, _ changes: PostgreSQLRowWriter, _ batch: PostgreSQLBatch)
        throws
    {
        var groups: [(mask: SlotMask, rows: ContiguousArray<RowPointer>)] = []
        for changed in plan.changed {
            let row = changes.insert(change(changed.row.key, changed.change.values, version: changed.change.version))
            let mask = changed.change.values.mask
            if let place = groups.firstIndex(where: { $0.mask == mask }) {
                groups[place].rows.append(row)
            } else {
                groups.append((mask, [row]))
            }
        }
        for group in groups {
            let parts = changes.parts(group.rows, changed: group.mask, mostRows: Self.chunk)
            for (place, part) in parts.enumerated() {
                if place > 0 { try batch.send() }
                batch.waiting.append(try changes.updateStatement(part, changed: group.mask)) {
                    changes.expectedUpdates(part, place: $0)
                }
            }
        }
    }

    // MARK: Unique values

    /// Returns the owners of the rows' unique values: for each constraint, by the row's index.
    private func owners(_ batch: PostgreSQLBatch, locks: Bool) throws -> [[Int: PostgreSQLInsertionPlan.Owner]] {
        try uniques.map { unique in
            let complete = writer.inserted.indices.filter { index in
                unique.targets.allSatisfy { !writer.inserted[index].isNull($0.slot, wordCount: layout.wordCount) }
            }
            var owners: [Int: PostgreSQLInsertionPlan.Owner] = [:]
            for start in stride(from: 0, to: complete.count, by: Self.chunk) {
                let indexes = complete[start..<min(start + Self.chunk, complete.count)]
                try batch.execute(lookup(unique, indexes, locks: locks)) { row in
                    owners[Int(row.int64(0))] = PostgreSQLInsertionPlan.Owner(
                        key: row.int64(1), version: row.int64(2),
                        layoutIndex: backend.mapping.layoutIndex(forNumber: row.int64(3)))
                }
            }
            return owners
        }
    }

    /// Returns the rows that have unique values, by key; none where the written values are all that
    /// the constraints check.
    private func rows(of owners: [[Int: PostgreSQLInsertionPlan.Owner]], _ batch: PostgreSQLBatch) throws -> [Int64:
        Snapshot]
    {
        guard insertion.changesRows, uniques.contains(where: { $0.targets.count > 1 }) else { return [:] }
        let keys = Set(owners.flatMap { $0.values.map(\.key) }).sorted()
        let select = backend.selectPlan(entity, includesSubentities: false)
        var found: [Int64: Snapshot] = [:]
        for start in stride(from: 0, to: keys.count, by: Self.chunk) {
            let part = keys[start..<min(start + Self.chunk, keys.count)]
            var collector = PostgreSQLRowCollector(select, expectedRows: part.count)
            let arguments = WireArguments(keys: part)
            try batch.execute(WireStatement(select.columns.statement(for: .list), arguments, isKept: true)) {
                collector.append($0)
            }
            let rows = collector.finishUnpublished()
            // Rows are read by address: their pages must live until each has its own reference.
            defer { withExtendedLifetime(rows) {} }
            for row in rows.rows { found[row.rowKey] = Snapshot(retaining: row) }
        }
        return found
    }

    /// Whether there are rows whose unique values no stored row has.
    private func hasNewRows(_ batch: PostgreSQLBatch) throws -> Bool {
        var found: Set<Int> = []
        for owners in try owners(batch, locks: false) { found.formUnion(owners.keys) }
        return found.count < count
    }

    /// Lets one transaction at a time insert rows that do not exist. Two that insert the same
    /// values would wait for each other, until the server ends one of them. Existing rows are
    /// updated by many transactions at once.
    private var turn: WireStatement {
        let arguments = WireArguments(text: "." + entity.table.name)
        return WireStatement(
            "SELECT pg_advisory_xact_lock(hashtextextended('OpenCoreData ' || current_schema() || $1, 0))::text",
            arguments, isKept: true)
    }

    private func lookup(_ unique: Unique, _ indexes: ArraySlice<Int>, locks: Bool) throws -> WireStatement {
        let dialect = backend.mapping.dialect
        var arguments = WireArguments(keys: indexes.lazy.map(Int64.init))
        for target in unique.targets {
            var failure: (any Error)?
            arguments.appendArray(of: target.type, count: indexes.count) { bytes in
                do { for index in indexes { try writer.appendField(writer.inserted[index], target, to: &bytes) } } catch
                { failure = error }
            }
            if let failure { throw failure }
        }
        let join = PostgreSQLWritePlan.joinOwners(
            of: unique.targets.map(\.name), unique.targets.map(\.type), first: 1, dialect)
        let columns = [entity.table.keyColumn, entity.table.versionColumn].map { "t." + dialect.identifier($0) }
        let number = entity.table.entityColumn.map { "t." + dialect.identifier($0) } ?? String(entity.number)
        return WireStatement(
            "SELECT d.n, \(columns.joined(separator: ", ")), \(number) FROM \(dialect.identifier(entity.table.name)) "
                + "t \(join) ORDER BY 2"
                + (locks ? " FOR NO KEY UPDATE OF t" : ""), arguments, isKept: true)
    }

    /// Returns the error for two rows with the same unique values that the server has found.
    ///
    /// - Parameter isLast: whether no other transaction could write.
    func explanation(of error: WireError, _ batch: PostgreSQLBatch, isLast: Bool) throws -> any Error {
        if insertion.rule == .refuse {
            do {
                try PostgreSQLInsertionPlan(self, try owners(batch, locks: false), [:]).make()
            } catch let failure as UniquenessFailure {
                return failure
            }
        }
        guard isLast else { return Overtaken() }
        return UniquenessFailure(inFamilyOf: layout, backend.mapping) { $0.index == error.constraint } ?? error
    }
}
