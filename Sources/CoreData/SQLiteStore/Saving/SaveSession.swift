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
    private var recent: (layout: ObjectIdentifier, writer: RowWriter)?
    /// The conflicts of the batch, collected by the extension that checks rows and constraints.
    var conflicts = SaveConflicts()
    /// The history columns of each entity, by layout index.
    var historyColumns: [Int: HistoryColumns] = [:]
    /// The preserved values of deleted rows, by the index of the deletion.
    var tombstones: [Int: [StoredValue]] = [:]
    /// The written rows of the inserts and updates; nil for a change with a conflict.
    // Unchecked exclusivity: set for each row, by statements that only assign an element.
    @exclusivity(unchecked) var rows: (inserted: ContiguousArray<RowPointer?>, updated: ContiguousArray<RowPointer?>)
    let files: ExternalFileChanges?

    init(batch: SaveBatch, store: SQLiteStore, backend: SQLiteBackend, connection: SQLiteConnection) {
        self.batch = batch
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
        files = backend.pool.supersededFiles.map { ExternalFileChanges($0.files, connection) }
        rows = (
            ContiguousArray(repeating: nil, count: batch.inserts.count),
            ContiguousArray(repeating: nil, count: batch.updates.count)
        )
    }

    func run(beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        connection.affectedRows.removeAll()
        let (pages, derived, transaction) = try backend.pool.transaction(connection) {
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
        var outcome = batch.publish(rows, pages, derived: derived, in: backend.rowCaches)
        outcome.transaction = transaction
        return outcome
    }

    /// Performs all writes between the beginning of the transaction and its commit.
    private func write() throws -> (pages: [RowPage], derived: [RowPage], transaction: Int64?) {
        try checkVersions()
        try deleteRows()
        try updateRows()
        try insertRows()
        try writeRelationships()
        guard conflicts.rows.isEmpty, conflicts.violations.isEmpty else { throw conflicts }
        let transaction = backend.tracksHistory ? try writeHistory() : nil
        try store.writeChangedMetadata(connection)
        let derived = try readDerivedRows()
        try files?.sync()
        var pages: [RowPage] = []
        for index in writers.keys.sorted() {
            guard let writer = writers[index] else { continue }
            pages += try writer.finish()
        }
        return (pages, derived, transaction)
    }

    /// Writes new rows and relationships as part of the open transaction, and reads nothing back.
    ///
    /// - Returns: the number of the transaction in the history; nil where it was not recorded.
    func writeBlock() throws -> Int64? {
        try insertRows()
        try writeRelationships()
        guard conflicts.violations.isEmpty else { throw conflicts }
        let transaction = backend.tracksHistory ? try writeHistory() : nil
        try files?.sync()
        // Blocks do not use the list of rows that triggers changed.
        connection.affectedRows.removeAll()
        return transaction
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
