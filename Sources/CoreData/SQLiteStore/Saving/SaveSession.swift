/// One save: all writes of a batch in one transaction.
///
/// Rows are deleted first, then updated, then inserted, so that a unique value can move between
/// rows within one save. Conflicts are collected over the whole batch before the save is refused.
final class SaveSession {
    let batch: SaveBatch
    private let store: SQLiteStore
    let backend: SQLiteBackend
    let connection: SQLiteConnection
    let statements: SaveStatements
    private var writers: [Int: RowWriter] = [:]
    /// The last used writer and its layout; most often the next row has the same layout.
    @exclusivity(unchecked) private var recent: (layout: ObjectIdentifier, writer: RowWriter)?
    /// The conflicts of the batch, collected by the extension that checks rows and constraints.
    var conflicts = SaveConflicts()
    /// The history columns of each entity, by layout index.
    var historyColumns: [Int: HistoryColumns] = [:]
    /// The preserved values of deleted rows, by the index of the deletion.
    var tombstones: [Int: [StoredValue]] = [:]
    @exclusivity(unchecked) var insertedRows: ContiguousArray<RowPointer?>
    @exclusivity(unchecked) var updatedRows: ContiguousArray<RowPointer?>
    let files: ExternalFileChanges?

    init(batch: SaveBatch, store: SQLiteStore, backend: SQLiteBackend, connection: SQLiteConnection) {
        self.batch = batch
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
        files = backend.pool.supersededFiles.map { ExternalFileChanges($0.files, connection) }
        insertedRows = ContiguousArray(repeating: nil, count: batch.inserts.count)
        updatedRows = ContiguousArray(repeating: nil, count: batch.updates.count)
    }

    func run(beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        connection.affectedRows.removeAll()
        let (pages, extra) = try backend.pool.transaction(connection) {
            do {
                let written = try write()
                try others()
                return written
            } catch {
                files?.discard()
                throw error
            }
        }
        // Even if the commit fails, recovery of the log may restore it: the written files stay
        // until a store is opened.
        if let files { backend.pool.supersededFiles?.add(files.superseded) }
        return publish(pages, extra)
    }

    /// Performs all writes between the beginning of the transaction and its commit.
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
            pages += try writer.finish()
        }
        return (pages, extra)
    }

    /// Writes new rows and relationships as part of the open transaction, and reads nothing back.
    func writeBlock() throws {
        try insertRows()
        try writeRelationships()
        guard conflicts.violations.isEmpty else { throw conflicts }
        if backend.tracksHistory { try writeHistory() }
        try files?.sync()
        // Blocks do not use the list of rows that triggers changed.
        connection.affectedRows.removeAll()
    }

    /// Publishes the new rows and removes the deleted ones from the caches, after the commit.
    private func publish(_ pages: [RowPage], _ extra: FetchedRows) -> SaveOutcome {
        var byRoot: [Int: [RowPage]] = [:]
        for page in pages { byRoot[page.layout.rootIndex, default: []].append(page) }
        for (root, pages) in byRoot { backend.rowCaches[root].insert(pages) }
        for change in batch.deletes { backend.rowCache(of: change.layout).remove(change.key) }
        var extraByRoot: [Int: [RowPage]] = [:]
        for page in extra.pages { extraByRoot[page.layout.rootIndex, default: []].append(page) }
        for (root, pages) in extraByRoot { backend.rowCaches[root].insert(pages) }
        if !extra.rows.isEmpty {
            // The rows read after the triggers replace the written ones, as they have the derived
            // values.
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

    @inline(__always)
    func writer(for layout: EntityLayout) throws -> RowWriter {
        if let recent, recent.layout == ObjectIdentifier(layout) { return recent.writer }
        return try otherWriter(for: layout)
    }

    private func otherWriter(for layout: EntityLayout) throws -> RowWriter {
        let writer =
            try writers[layout.index]
            ?? RowWriter(
                try backend.entity(layout), backend, connection, files,
                expectedRows: max(batch.inserts.count, batch.updates.count))
        writers[layout.index] = writer
        recent = (ObjectIdentifier(layout), writer)
        return writer
    }
}
