import Foundation

/// One batch, from the beginning of its transaction to the commit.
final class SQLiteBatch {
    let store: SQLiteStore
    let backend: SQLiteBackend
    let connection: SQLiteConnection
    let statements: SaveStatements
    let files: ExternalFileChanges?
    /// The changes to write to the history; empty where the store has none.
    var history = SQLiteHistory.Changes()
    /// The preserved values of deleted rows, for the history.
    var tombstones: [RowReference: [StoredValue]] = [:]
    /// The table whose `Z_MAX` was compared with the real keys.
    var checkedRoot: SQLEntity?
    /// The history columns of each entity, by layout index.
    private var historyColumns: [Int: HistoryColumns] = [:]

    private init(_ store: SQLiteStore, _ backend: SQLiteBackend, _ connection: SQLiteConnection) {
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
        files = backend.pool.supersededFiles.map { ExternalFileChanges($0.files, connection) }
    }

    var tracksHistory: Bool { backend.tracksHistory }

    /// Runs a batch in its own transaction; an error rolls it back.
    static func run(
        _ store: SQLiteStore, _ author: ChangeAuthor, _ body: (SQLiteBatch) throws -> BatchOutcome
    ) throws -> BatchOutcome {
        let backend = try store.backend()
        let (outcome, transaction) = try backend.pool.write { connection in
            try store.requireWritable(connection)
            let batch = SQLiteBatch(store, backend, connection)
            // A batch does not use the list of rows whose derived values triggers changed.
            defer { connection.affectedRows.removeAll() }
            let (outcome, transaction) = try backend.pool.transaction(connection) {
                do {
                    let outcome = try body(batch)
                    return (outcome, try batch.finish(author))
                } catch {
                    batch.files?.discard()
                    throw error
                }
            }
            store.metadataWasWritten()
            if let root = batch.checkedRoot { backend.noteCheckedKeys(of: root) }
            // As after a save: if the commit fails, the written files stay until a store is opened.
            if let files = batch.files { backend.pool.supersededFiles?.add(files.superseded) }
            backend.pool.supersededFiles?.collect(connection)
            return (outcome, transaction)
        }
        store.didWrite(transaction)
        return outcome
    }

    /// - Returns: the number of the transaction in the history; nil where it was not recorded.
    private func finish(_ author: ChangeAuthor) throws -> Int64? {
        let transaction =
            tracksHistory
            ? try SQLiteHistory.write(
                history, author: author.transactionAuthor, contextName: author.contextName, in: connection,
                hasStrings: backend.columns["ATRANSACTIONSTRING"] != nil,
                tombstoneColumns: SQLiteHistory.tombstoneCount(backend.columns)) : nil
        try store.writeChangedMetadata(connection)
        try files?.sync()
        return transaction
    }

    func entity(_ index: Int) throws -> SQLEntity { try backend.entity(backend.mapping.layouts.layouts[index]) }

    func columns(ofHistory entity: SQLEntity) -> HistoryColumns {
        if let known = historyColumns[entity.layout.index] { return known }
        let made = HistoryColumns(entity)
        historyColumns[entity.layout.index] = made
        return made
    }

    // MARK: Rows

    /// Keys as the single argument of a list condition.
    // Sorted, the order in which the rows are stored.
    func list(_ keys: some Sequence<Int64>) -> [StoredValue] { [backend.mapping.dialect.keyList(keys.sorted()).value] }

    /// Runs a statement that returns entity numbers and keys.
    ///
    /// Skips rows of entities that the model does not know.
    func references(_ sql: String, _ arguments: [StoredValue]) throws -> [RowReference] {
        var references: [RowReference] = []
        try connection.query(sql, arguments) { row in
            if let index = backend.mapping.layoutIndex(forNumber: row.int64(0)) {
                references.append(RowReference(key: row.int64(1), layoutIndex: index))
            }
        }
        return references
    }

    /// The names of the external files that rows of an entity have in some slots.
    func externalFileNames(_ entity: SQLEntity, _ keys: some Sequence<Int64>, in slots: (Int) -> Bool = { _ in true })
        throws -> [String]
    {
        let columns = entity.layout.slots.prefix(entity.layout.storedCount).compactMap { slot in
            slots(slot.index) ? entity.columns[slot.index].flatMap { $0.allowsExternalStorage ? $0.name : nil } : nil
        }
        guard !columns.isEmpty else { return [] }
        var names: [String] = []
        try connection.query(statements.values(columns, of: entity), list(keys)) { row in
            for column in 1...columns.count {
                if let data = row.data(Int32(column)), let name = ExternalColumn.fileName(in: data) {
                    names.append(name)
                }
            }
        }
        return names
    }

    /// The column value for data of an attribute with external storage.
    func externalValue(of data: Data) throws -> Data {
        try files?.columnValue(for: data) ?? ExternalColumn.value(inline: data)
    }

    // MARK: Unique values

    /// Returns the failure that explains why SQLite refuses a row.
    ///
    /// - Parameters:
    ///   - value: the value of the row in a slot.
    ///   - isMeant: whether the conflicting row is one that the caller looks for; receives nil for
    ///     a row of the batch and for a row of an entity that the model does not know.
    func uniquenessFailure(
        _ layout: EntityLayout, besides key: Int64?, value: (Int) -> StoredValue, isOfBatch: (Int64) -> Bool,
        where isMeant: (RowReference?) -> Bool = { _ in true }
    ) throws -> UniquenessFailure? {
        for constraint in backend.mapping.constraints(of: layout) {
            let entity = try backend.entity(constraint.layout)
            let values = constraint.names.map { layout.slotByPath[$0].map(value) ?? .null }
            if values.contains(where: \.isNull) { continue }
            guard
                let owner = try connection.integer(statements.row(withUnique: constraint.columns, in: entity), values),
                owner != key
            else {
                continue
            }
            let references =
                try isOfBatch(owner) ? [] : self.references(statements.references(of: entity), list([owner]))
            guard isMeant(references.first) else { continue }
            return UniquenessFailure(
                constraint: constraint.names, values: values, layout: constraint.layout, existing: references.first)
        }
        return nil
    }

    /// Returns the failure for a constraint of a subentity that SQLite reports by its columns.
    ///
    /// Nil for a constraint of the entity itself.
    func uniquenessFailure(ofSubentityOf layout: EntityLayout, _ error: SQLiteError) -> UniquenessFailure? {
        let columns = error.uniqueColumns.map(Set.init)
        if backend.mapping.constraints(of: layout).contains(where: { Set($0.columns) == columns }) { return nil }
        return UniquenessFailure(inFamilyOf: layout, backend.mapping) { Set($0.columns) == columns }
    }
}

extension SQLiteStore: BatchRows {
    var batchRows: (any BatchRows)? { self }

    func insert(_ insertion: RowInsertion) throws -> BatchOutcome {
        // The closure that supplies the rows may read the store: with a single connection it runs
        // before the write begins.
        let insertion = try backend().pool.sharesConnection ? insertion.collected() : insertion
        return try SQLiteBatch.run(self, insertion.author) { try SQLiteInsertion(insertion, $0).run() }
    }

    func update(_ update: RowUpdate) throws -> BatchOutcome {
        try SQLiteBatch.run(self, update.author) { try $0.update(update) }
    }

    func delete(_ deletion: RowDeletion) throws -> BatchOutcome {
        try SQLiteBatch.run(self, deletion.author) { try $0.delete(deletion) }
    }
}
