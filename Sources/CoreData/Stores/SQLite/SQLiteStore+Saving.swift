import CSQLite
import Foundation

extension SQLiteStore {
    func saveMetadata() throws {
        guard hasChangedMetadata else { return }
        let backend = try backend()
        do {
            try backend.pool.write { connection in
                try requireWritable(connection)
                try connection.transaction(.immediate) { try writeChangedMetadata(connection) }
            }
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
        metadataWasWritten()
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome {
        let backend = try backend()
        let outcome = try backend.pool.write { connection in
            try requireWritable(connection)
            let session = SaveSession(batch: batch, store: self, backend: backend, connection: connection)
            let outcome = try session.run()
            backend.pool.supersededFiles?.collect(connection)
            return outcome
        }
        metadataWasWritten()
        RemoteChanges.shared.storeDidWrite(self)
        return outcome
    }
}

/// One save: all writes of a batch in one transaction.
///
/// Rows are deleted first, then updated, then inserted, so that a unique value can move between rows within one save.
/// Conflicts are collected over the whole batch before the save is refused.
final class SaveSession {
    private let batch: SaveBatch
    private let store: SQLiteStore
    private let backend: SQLiteBackend
    private let connection: SQLiteConnection
    private var writers: [Int: RowWriter] = [:]
    private var conflicts = SaveConflicts()
    /// By the layout's index.
    private var historyColumns: [Int: HistoryColumns] = [:]
    /// Preserved values by the index of the deletion.
    private var tombstones: [Int: [PropertyValue]] = [:]
    @exclusivity(unchecked) private var insertedRows: ContiguousArray<RowPointer?>
    @exclusivity(unchecked) private var updatedRows: ContiguousArray<RowPointer?>
    private let files: ExternalFileChanges?

    init(batch: SaveBatch, store: SQLiteStore, backend: SQLiteBackend, connection: SQLiteConnection) {
        self.batch = batch
        self.store = store
        self.backend = backend
        self.connection = connection
        files = backend.pool.supersededFiles.map { ExternalFileChanges($0.files, connection) }
        insertedRows = ContiguousArray(repeating: nil, count: batch.inserts.count)
        updatedRows = ContiguousArray(repeating: nil, count: batch.updates.count)
    }

    func run() throws -> SaveOutcome {
        connection.affectedRows.removeAll()
        let (pages, extra) = try connection.transaction(.immediate) {
            do { return try write() } catch {
                files?.discard()
                throw error
            }
        }
        // Should the commit fail, it may come to light again with the log: the written files stay until a store is opened.
        if let files { backend.pool.supersededFiles?.add(files.superseded) }
        return publish(pages, extra)
    }

    /// Everything between the beginning of the transaction and its commit.
    private func write() throws -> ([RowPage], FetchedRows) {
        try checkVersions()
        try deleteRows()
        try updateRows()
        try insertRows()
        try writeRelationships()
        guard conflicts.rows.isEmpty, conflicts.violations.isEmpty else { throw conflicts }
        if backend.tracksHistory { try writeHistory() }
        try store.writeChangedMetadata(connection)
        let extra = try readDerivedRows()
        try files?.sync()
        var pages: [RowPage] = []
        for index in writers.keys.sorted() {
            guard let writer = writers[index] else { continue }
            pages += writer.finish()
        }
        return (pages, extra)
    }

    /// Publishes the new rows and forgets the deleted ones, after the commit.
    private func publish(_ pages: [RowPage], _ extra: FetchedRows) -> SaveOutcome {
        var byRoot: [Int: [RowPage]] = [:]
        for page in pages { byRoot[page.layout.rootIndex, default: []].append(page) }
        for (root, pages) in byRoot { backend.rowCaches[root].insert(pages) }
        for change in batch.deletes { backend.rowCache(of: change.layout).remove(change.key) }
        var extraByRoot: [Int: [RowPage]] = [:]
        for page in extra.pages { extraByRoot[page.layout.rootIndex, default: []].append(page) }
        for (root, pages) in extraByRoot { backend.rowCaches[root].insert(pages) }
        if !extra.rows.isEmpty {
            // Rows with derived values are replaced by what the triggers made of them.
            var replaced: [RowReference: RowPointer] = [:]
            for row in extra.rows {
                let root = backend.mapping.layouts.layouts[row.rowLayoutIndex].rootIndex
                replaced[RowReference(key: row.rowKey, layoutIndex: root)] = row
            }
            for (index, change) in batch.inserts.enumerated() {
                if let row = replaced[RowReference(key: change.key, layoutIndex: change.layout.rootIndex)] {
                    insertedRows[index] = row
                }
            }
            for (index, change) in batch.updates.enumerated() {
                if let row = replaced[RowReference(key: change.key, layoutIndex: change.layout.rootIndex)] {
                    updatedRows[index] = row
                }
            }
        }
        var outcome = SaveOutcome()
        outcome.inserted = FetchedRows(
            rows: ContiguousArray(insertedRows.compactMap { $0 }), pages: pages + extra.pages)
        outcome.updated = FetchedRows(rows: ContiguousArray(updatedRows.compactMap { $0 }), pages: pages + extra.pages)
        return outcome
    }

    private func writer(for layout: EntityLayout) throws -> RowWriter {
        if let writer = writers[layout.index] { return writer }
        let writer = RowWriter(
            try backend.entity(layout), backend, connection, files,
            expectedRows: max(batch.inserts.count, batch.updates.count))
        writers[layout.index] = writer
        return writer
    }

    // MARK: - Rows

    private func checkVersions() throws {
        for (index, check) in batch.versionChecks.enumerated() {
            let table = SQLSchema.identifier(try backend.entity(check.layout).table.name)
            let version = try connection.integer(
                "SELECT \(SQLSchema.rowVersion) FROM \(table) WHERE Z_PK = ?", [.integer(check.key)])
            if version != check.base?.version { try addConflict(.check, index, check) }
        }
    }

    private func deleteRows() throws {
        for (index, change) in batch.deletes.enumerated() {
            let writer = try writer(for: change.layout)
            let old = writer.hasExternalColumns ? try writer.externalFileNames(ofRow: change.key) : []
            if backend.tracksHistory { try noteTombstones(of: change, index) }
            guard try writer.delete(change) else {
                try addConflict(.delete, index, change)
                continue
            }
            files?.supersede(old)
            for join in backend.mapping.joinTables {
                let root = change.layout.rootIndex
                if join.owner.layout.rootIndex == root { try deletePairs(of: join, join.firstColumn, change.key) }
                if join.destination.layout.rootIndex == root {
                    try deletePairs(of: join, join.secondColumn, change.key)
                }
            }
            for key in backend.mapping.hiddenKeys where change.layout.isKind(of: key.owner.layout) {
                try releaseDestinations(of: change.key, key)
            }
        }
    }

    /// Keeps what the history preserves of a row that is to be deleted.
    private func noteTombstones(of change: RowChange, _ index: Int) throws {
        let slots = historyColumns(of: change.layout).preservedSlots
        guard !slots.isEmpty else { return }
        let entity = try backend.entity(change.layout)
        let columns = slots.map { entity.columns[$0].map { SQLSchema.identifier($0.name) } ?? "NULL" }
        try connection.query(
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLSchema.identifier(entity.table.name)) WHERE Z_PK = ?",
            [.integer(change.key)]
        ) { row in
            tombstones[index] = slots.indices.map { row.storedValue(Int32($0)) }
        }
    }

    private func historyColumns(of layout: EntityLayout) -> HistoryColumns {
        if let known = historyColumns[layout.index] { return known }
        let made = HistoryColumns(layout)
        historyColumns[layout.index] = made
        return made
    }

    /// Takes the owner of a to-many relationship without an inverse out of its destinations' rows.
    private func releaseDestinations(of owner: Int64, _ key: SQLHiddenKey) throws {
        let column = SQLSchema.identifier(key.column.name)
        try connection.run(
            "UPDATE \(SQLSchema.identifier(key.destination.table.name)) SET \(Self.noOwner(in: key.column)) WHERE \(column) = ?",
            [.integer(owner)])
    }

    /// The assignments that make a hidden key and its companions empty.
    private static func noOwner(in column: SQLColumn) -> String {
        [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }
            .map { SQLSchema.identifier($0) + " = NULL" }.joined(separator: ", ")
    }

    private func deletePairs(of join: SQLJoinTable, _ column: String, _ key: Int64) throws {
        try connection.run(
            "DELETE FROM \(SQLSchema.identifier(join.name)) WHERE \(SQLSchema.identifier(column)) = ?", [.integer(key)])
    }

    private func updateRows() throws {
        var waiting: [Int] = []
        for index in batch.updates.indices where try !update(index) { waiting.append(index) }
        guard !waiting.isEmpty else { return }
        // A unique value may be free once another update has given it up.
        while true {
            var left: [Int] = []
            for index in waiting where try !update(index) { left.append(index) }
            if left.isEmpty { return }
            if left.count == waiting.count { break }
            waiting = left
        }
        // Rows that exchange values wait for each other: take all their values away, then try once more.
        for index in waiting { try clearUniqueColumns(of: batch.updates[index]) }
        for index in waiting where try !update(index) { try addViolation(update: index) }
    }

    /// - Returns: false when a uniqueness constraint forbids the update.
    private func update(_ index: Int) throws -> Bool {
        let change = batch.updates[index]
        let writer = try writer(for: change.layout)
        let filesBefore = files?.written.count ?? 0
        do {
            let old = writer.hasExternalColumns ? try writer.externalFileNames(replacedBy: change) : []
            guard let row = try writer.update(change) else {
                try addConflict(.update, index, change)
                return true
            }
            files?.supersede(old)
            updatedRows[index] = row
            return true
        } catch let error as SQLiteError where error.isUniquenessViolation {
            // The update may be tried again, and then writes its values to other files.
            files?.discard(after: filesBefore)
            return false
        }
    }

    private func clearUniqueColumns(of change: RowChange) throws {
        let entity = try backend.entity(change.layout)
        let columns = Set(constraints(of: change.layout).flatMap { $0.columns })
        guard !columns.isEmpty else { return }
        let assignments = columns.sorted().map { "\(SQLSchema.identifier($0)) = NULL" }.joined(separator: ", ")
        try connection.run(
            "UPDATE \(SQLSchema.identifier(entity.table.name)) SET \(assignments) WHERE Z_PK = ? AND \(SQLSchema.rowVersion) = ?",
            [.integer(change.key), .integer(change.base?.version ?? 0)])
    }

    private func insertRows() throws {
        var last: RowWriter?
        var lastLayout: ObjectIdentifier?
        try batch.inserts.withUnsafeBufferPointer { inserts in
            for index in inserts.indices {
                let layout = ObjectIdentifier(inserts[index].layout)
                let writer: RowWriter
                if let last, layout == lastLayout {
                    writer = last
                } else {
                    writer = try self.writer(for: inserts[index].layout)
                    last = writer
                    lastLayout = layout
                }
                do {
                    insertedRows[index] = try writer.insert(inserts[index])
                } catch let error as SQLiteError where error.isUniquenessViolation {
                    try addViolation(insert: index)
                } catch let error as SQLiteError where error.isKeyTaken {
                    try addConflict(.insert, index, inserts[index])
                }
            }
        }
    }

    // MARK: - Conflicts

    /// The row as it is now; not published, for it may be a part of this unfinished save.
    private func currentRow(_ key: Int64, of layout: EntityLayout) throws -> Snapshot? {
        let root = try backend.entity(backend.mapping.layouts.layouts[layout.rootIndex])
        let select = backend.selectPlan(root, includesSubentities: true)
        var collector = RowCollector(select, expectedRows: 1)
        try connection.read(select.statement(for: .one), key) { try collector.readAll($0) }
        let rows = collector.finishUnpublished()
        guard let row = rows.rows.first, let page = rows.pages.first else { return nil }
        return Snapshot(row: row, page: page)
    }

    private func addConflict(_ change: SaveConflicts.RowConflict.Change, _ index: Int, _ row: RowChange) throws {
        conflicts.rows.append(
            .init(change: change, index: index, current: try currentRow(row.key, of: row.layout)))
    }

    private struct Constraint {
        let names: [String]
        let columns: [String]
        let layout: EntityLayout
    }

    /// The constraints that apply to an entity, its superentities' included.
    private func constraints(of layout: EntityLayout) -> [Constraint] {
        var result: [Constraint] = []
        var candidate: EntityLayout? = layout
        let schema = SQLSchema(mapping: backend.mapping)
        while let current = candidate {
            if let entity = backend.mapping.entity(current) {
                for names in current.entity.uniquenessConstraintNames {
                    if let columns = schema.columnNames(of: names, in: entity) {
                        result.append(Constraint(names: current.constrainedPaths(names), columns: columns, layout: current))
                    }
                }
            }
            candidate = current.superIndex >= 0 ? backend.mapping.layouts.layouts[current.superIndex] : nil
        }
        return result
    }

    private func addViolation(insert: Int? = nil, update: Int? = nil) throws {
        guard let change = insert.map({ batch.inserts[$0] }) ?? update.map({ batch.updates[$0] }) else { return }
        let table = SQLSchema.identifier(try backend.entity(change.layout).table.name)
        for constraint in constraints(of: change.layout) {
            let values = constraint.names.map { name -> PropertyValue in
                guard let slot = change.layout.slotByPath[name] else { return .null }
                if let values = change.values, values.has(slot) { return values[slot] }
                return change.base?.value(slot) ?? .null
            }
            if values.contains(where: \.isNull) { continue }
            let conditions = constraint.columns.map { "\(SQLSchema.identifier($0)) = ?" }.joined(separator: " AND ")
            let owner = try connection.integer(
                "SELECT Z_PK FROM \(table) WHERE \(conditions) AND Z_PK <> ?", values + [.integer(change.key)])
            guard let owner else { continue }
            let root = change.layout.rootIndex
            // The other row may be one that this batch has just written.
            let otherInserts = batch.inserts.indices.filter {
                batch.inserts[$0].key == owner && batch.inserts[$0].layout.rootIndex == root
            }
            let otherUpdates = batch.updates.indices.filter {
                batch.updates[$0].key == owner && batch.updates[$0].layout.rootIndex == root && updatedRows[$0] != nil
            }
            let isInBatch = !otherInserts.isEmpty || !otherUpdates.isEmpty
            conflicts.violations.append(
                .init(
                    constraint: constraint.names, values: values, layout: constraint.layout,
                    existing: isInBatch ? nil : try currentRow(owner, of: change.layout),
                    inserts: otherInserts + (insert.map { [$0] } ?? []),
                    updates: otherUpdates + (update.map { [$0] } ?? [])))
            return
        }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "A unique index that is not in the model refuses a row of '\(change.layout.name)' (key \(change.key)).")
    }

    // MARK: - Relationships

    private func writeRelationships() throws {
        for change in batch.relationshipChanges {
            let owner = try backend.entity(change.layout)
            switch owner.toMany[change.slot] {
            case .join(let join, let isFirst)?: try write(change, join, isFirst)
            case .inverse(let column, let destination, _)?:
                if column.isHiddenKey { try writeHiddenKeys(change, column, destination) }
                try writePositions(change, column, destination)
            case nil:
                throw CoreDataErrors.make(
                    .coreData,
                    "'\(change.layout.slots[change.slot].name)' of entity '\(change.layout.name)' is no stored to-many "
                        + "relationship.")
            }
        }
    }

    /// The distance between neighbours in an ordered relationship, which leaves room for insertions.
    private static let orderStep: Int64 = 1024
    /// Positions beyond this are no store's own: a relationship that has one is numbered anew.
    private static let highestPosition: Int64 = 1 << 62

    private func write(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) throws {
        let table = SQLSchema.identifier(join.name)
        let owner = SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))
        let destination = SQLSchema.identifier(join.destinationColumn(isFirst: isFirst))
        let order = join.orderColumn(isFirst: isFirst).map(SQLSchema.identifier)
        let otherOrder = join.otherOrderColumn(isFirst: isFirst).map(SQLSchema.identifier)
        let ownerKey = PropertyValue.integer(change.ownerKey)
        for removed in change.removed {
            let key = PropertyValue.integer(removed.key)
            try connection.run("DELETE FROM \(table) WHERE \(owner) = ? AND \(destination) = ?", [ownerKey, key])
            if join.isReflexive {
                try connection.run("DELETE FROM \(table) WHERE \(owner) = ? AND \(destination) = ?", [key, ownerKey])
            }
        }
        var columns = "\(owner), \(destination)"
        var values = "?1, ?2"
        func next(_ order: String, _ column: String, _ parameter: Int) -> String {
            "(SELECT IFNULL(MAX(\(order)), \(Self.orderStep)) + \(Self.orderStep) FROM \(table) WHERE \(column) = ?\(parameter))"
        }
        if let order {
            columns += ", \(order)"
            values += ", " + next(order, owner, 1)
        }
        if let otherOrder {
            columns += ", \(otherOrder)"
            values += ", " + next(otherOrder, destination, 2)
        }
        if let order, !change.added.isEmpty { try makeRoom(table, order, of: owner, ownerKey, members: destination) }
        for added in change.added {
            let key = PropertyValue.integer(added.key)
            if let otherOrder { try makeRoom(table, otherOrder, of: destination, key, members: owner) }
            let sql = "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(values))"
            try connection.run(sql, [ownerKey, key])
            if join.isReflexive { try connection.run(sql, [key, ownerKey]) }
        }
        guard let wanted = change.order, let order else { return }
        var positions: [Int64: Int64] = [:]
        try connection.query("SELECT \(destination), \(order) FROM \(table) WHERE \(owner) = ?", [ownerKey]) { row in
            if !row.isNull(1) { positions[row.int64(0)] = row.int64(1) }
        }
        for (key, position) in Self.newPositions(wanted.map(\.key), positions) {
            try connection.run(
                "UPDATE \(table) SET \(order) = ? WHERE \(owner) = ? AND \(destination) = ?",
                [.integer(position), ownerKey, .integer(key)])
        }
    }

    /// Numbers the members of one relationship anew if a position, or what a damaged file has in its place, leaves no room behind it.
    private func makeRoom(_ table: String, _ order: String, of owner: String, _ key: PropertyValue, members: String) throws {
        let isFull = try connection.integer(
            "SELECT MAX(\(order)) > \(Self.highestPosition) FROM \(table) WHERE \(owner) = ?", [key])
        guard isFull == 1 else { return }
        var keys: [Int64] = []
        try connection.query(
            "SELECT \(members) FROM \(table) WHERE \(owner) = ? AND \(order) IS NOT NULL ORDER BY \(order), \(members)", [key]
        ) { keys.append($0.int64(0)) }
        for (member, position) in Self.newPositions(keys, [:]) {
            try connection.run(
                "UPDATE \(table) SET \(order) = ? WHERE \(owner) = ? AND \(members) = ?",
                [.integer(position), key, .integer(member)])
        }
    }

    /// Writes what a to-many relationship without an inverse gains and loses into the destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one it was given to. Another owner's removal does not take it away.
    private func writeHiddenKeys(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        let table = SQLSchema.identifier(destination.table.name)
        let key = SQLSchema.identifier(column.name)
        let owner = PropertyValue.integer(change.ownerKey)
        for removed in change.removed {
            try connection.run(
                "UPDATE \(table) SET \(Self.noOwner(in: column)) WHERE Z_PK = ? AND \(key) = ?", [.integer(removed.key), owner])
        }
        var assignments = "\(key) = ?1"
        if let name = column.entityColumn, let number = backend.mapping.entity(change.layout)?.number {
            assignments += ", \(SQLSchema.identifier(name)) = \(number)"
        }
        // The place among another owner's destinations ends; a new one follows.
        if let name = column.orderColumn { assignments += ", \(SQLSchema.identifier(name)) = NULL" }
        for added in change.added {
            try connection.run(
                "UPDATE \(table) SET \(assignments) WHERE Z_PK = ?2 AND \(key) IS NOT ?1", [owner, .integer(added.key)])
        }
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let order = column.orderColumn.map(SQLSchema.identifier) else { return }
        let table = SQLSchema.identifier(destination.table.name)
        let key = SQLSchema.identifier(column.name)
        let ownerKey = PropertyValue.integer(change.ownerKey)
        let setPosition = "UPDATE \(table) SET \(order) = ? WHERE Z_PK = ?" + (column.isHiddenKey ? " AND \(key) = \(change.ownerKey)" : "")
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            try makeRoom(table, order, of: key, ownerKey, members: "Z_PK")
            var last =
                try connection.integer("SELECT MAX(\(order)) FROM \(table) WHERE \(key) = ?", [ownerKey])
                ?? Self.orderStep
            for added in change.added {
                last += Self.orderStep
                try connection.run(setPosition, [.integer(last), .integer(added.key)])
            }
            return
        }
        var positions: [Int64: Int64] = [:]
        try connection.query("SELECT Z_PK, \(order) FROM \(table) WHERE \(key) = ?", [ownerKey]) { row in
            if !row.isNull(1) { positions[row.int64(0)] = row.int64(1) }
        }
        for (key, position) in Self.newPositions(wanted.map(\.key), positions) {
            try connection.run(setPosition, [.integer(position), .integer(key)])
        }
    }

    /// The positions to write so that keys stand in a wanted order; positions that fit stay.
    static func newPositions(_ keys: [Int64], _ stored: [Int64: Int64]) -> [(key: Int64, position: Int64)] {
        let current = stored.filter { (0...highestPosition).contains($0.value) }
        var changes: [(Int64, Int64)] = []
        var previous: Int64 = Self.orderStep
        for (index, key) in keys.enumerated() {
            let next = index + 1 < keys.count ? current[keys[index + 1]] : nil
            if let position = current[key], position > previous, next.map({ position < $0 || $0 <= previous }) ?? true {
                previous = position
                continue
            }
            let position: Int64
            if let next, next > previous, next - previous >= 2 {
                position = min(previous + (next - previous) / 2, previous + Self.orderStep)
            } else {
                position = previous + Self.orderStep
            }
            changes.append((key, position))
            previous = position
        }
        // Behind the last room there is none: everything moves.
        if previous > highestPosition, !current.isEmpty { return newPositions(keys, [:]) }
        return changes
    }

    // MARK: - History and derived values

    private func writeHistory() throws {
        var changes: [SQLiteHistory.Change] = []
        changes.reserveCapacity(batch.inserts.count + batch.updates.count + batch.deletes.count)
        func number(_ layout: EntityLayout) -> Int { backend.mapping.entity(layout)?.number ?? 0 }
        for change in batch.inserts {
            changes.append(.init(type: .insert, entityNumber: number(change.layout), key: change.key))
        }
        for change in batch.updates {
            let slots = (0..<change.layout.storedCount).filter { change.values?.has($0) ?? false } + change.changedToMany
            let columns = historyColumns(of: change.layout).changes(slots)
            changes.append(.init(type: .update, entityNumber: number(change.layout), key: change.key, columns: columns))
        }
        for (index, change) in batch.deletes.enumerated() {
            changes.append(
                .init(
                    type: .delete, entityNumber: number(change.layout), key: change.key, tombstones: tombstones[index] ?? []))
        }
        try SQLiteHistory.write(
            changes, author: batch.transactionAuthor, contextName: batch.contextName, in: connection,
            hasStrings: backend.columns["ATRANSACTIONSTRING"] != nil,
            tombstoneColumns: backend.columns["ACHANGE"]?.filter { $0.hasPrefix("ZTOMBSTONE") }.count ?? 0)
    }

    /// Reads the rows again whose derived values the triggers of this save have changed.
    private func readDerivedRows() throws -> FetchedRows {
        guard !connection.affectedRows.isEmpty else { return FetchedRows() }
        var keysByRoot: [Int: Set<Int64>] = [:]
        for affected in connection.affectedRows {
            guard let index = backend.mapping.layoutIndex(forNumber: affected.entityNumber) else { continue }
            keysByRoot[backend.mapping.layouts.layouts[index].rootIndex, default: []].insert(affected.key)
        }
        var result = FetchedRows()
        for (root, keys) in keysByRoot {
            let select = backend.selectPlan(
                try backend.entity(backend.mapping.layouts.layouts[root]), includesSubentities: true)
            var collector = RowCollector(select, expectedRows: keys.count)
            try connection.read(select.statement(for: .list), [.string(SQLList.json(keys))]) { try collector.readAll($0) }
            let rows = collector.finishUnpublished()
            result.rows += rows.rows
            result.pages += rows.pages
        }
        return result
    }
}
