import Foundation

/// One batch: everything between the beginning of its transaction and the commit.
final class SQLiteBatch {
    let store: SQLiteStore
    let backend: SQLiteBackend
    let connection: SQLiteConnection
    let statements: SaveStatements
    let files: ExternalFileChanges?
    /// What the history will say; empty where the store has none.
    var history: [SQLiteHistory.Change] = []
    /// What history keeps of deleted rows.
    var tombstones: [RowReference: [StoredValue]] = [:]
    /// The table whose `Z_MAX` was compared with the real keys.
    var checkedRoot: SQLEntity?
    /// By the layout's index.
    private var historyColumns: [Int: HistoryColumns] = [:]

    private init(_ store: SQLiteStore, _ backend: SQLiteBackend, _ connection: SQLiteConnection) {
        self.store = store
        self.backend = backend
        self.connection = connection
        statements = SaveStatements(mapping: backend.mapping)
        files = backend.pool.supersededFiles.map { ExternalFileChanges($0.files, connection) }
    }

    var tracksHistory: Bool { backend.tracksHistory }

    /// Runs a batch in a transaction of its own, which an error rolls back.
    static func run(
        _ store: SQLiteStore, _ author: ChangeAuthor, _ body: (SQLiteBatch) throws -> BatchOutcome
    ) throws -> BatchOutcome {
        let backend = try store.backend()
        let outcome = try backend.pool.write { connection in
            try store.requireWritable(connection)
            let batch = SQLiteBatch(store, backend, connection)
            // Nobody asks which derived values triggers have changed.
            defer { connection.affectedRows.removeAll() }
            let outcome = try backend.pool.transaction(connection) {
                do {
                    let outcome = try body(batch)
                    try batch.finish(author)
                    return outcome
                } catch {
                    batch.files?.discard()
                    throw error
                }
            }
            store.metadataWasWritten()
            if let root = batch.checkedRoot { backend.noteCheckedKeys(of: root) }
            // As after a save: should the commit fail, the written files stay until a store is opened.
            if let files = batch.files { backend.pool.supersededFiles?.add(files.superseded) }
            backend.pool.supersededFiles?.collect(connection)
            return outcome
        }
        RemoteChanges.shared.storeDidWrite(store)
        return outcome
    }

    private func finish(_ author: ChangeAuthor) throws {
        if tracksHistory {
            try SQLiteHistory.write(
                history, author: author.transactionAuthor, contextName: author.contextName, in: connection,
                hasStrings: backend.columns["ATRANSACTIONSTRING"] != nil,
                tombstoneColumns: backend.columns["ACHANGE"]?.filter { $0.hasPrefix("ZTOMBSTONE") }.count ?? 0)
        }
        try store.writeChangedMetadata(connection)
        try files?.sync()
    }

    func entity(_ index: Int) throws -> SQLEntity { try backend.entity(backend.mapping.layouts.layouts[index]) }

    func columns(ofHistory entity: SQLEntity) -> HistoryColumns {
        if let known = historyColumns[entity.layout.index] { return known }
        let made = HistoryColumns(entity)
        historyColumns[entity.layout.index] = made
        return made
    }

    // MARK: Rows

    /// Keys as the one argument of a condition on a list.
    // In order, in which the rows lie.
    func list(_ keys: some Sequence<Int64>) -> [StoredValue] { [backend.mapping.dialect.keyList(keys.sorted()).value] }

    /// Runs a statement that gives entity numbers and keys. Rows of entities that the model does not know are passed over.
    func references(_ sql: String, _ arguments: [StoredValue]) throws -> [RowReference] {
        var references: [RowReference] = []
        try connection.query(sql, arguments) { row in
            if let index = backend.mapping.layoutIndex(forNumber: row.int64(0)) {
                references.append(RowReference(key: row.int64(1), layoutIndex: index))
            }
        }
        return references
    }

    /// The external files that rows of an entity name in some slots.
    func externalFileNames(_ entity: SQLEntity, _ keys: some Sequence<Int64>, in slots: (Int) -> Bool = { _ in true }) throws -> [String] {
        let columns = entity.layout.slots.prefix(entity.layout.storedCount).compactMap { slot in
            slots(slot.index) ? entity.columns[slot.index].flatMap { $0.allowsExternalStorage ? $0.name : nil } : nil
        }
        guard !columns.isEmpty else { return [] }
        var names: [String] = []
        try connection.query(statements.values(columns, of: entity), list(keys)) { row in
            for column in 1...columns.count {
                if let data = row.data(Int32(column)), let name = ExternalColumn.fileName(in: data) { names.append(name) }
            }
        }
        return names
    }

    /// What the column of an attribute with external storage holds for a value.
    func externalValue(of data: Data) throws -> Data {
        try files?.columnValue(for: data) ?? ExternalColumn.value(inline: data)
    }

    // MARK: Unique values

    /// The failure that explains why SQLite refuses a row.
    ///
    /// - Parameters:
    ///   - value: what the row would have in a slot.
    ///   - isMeant: whether the row that has the values is the one that is looked for; it gets nil for a row of the batch, and of an entity
    ///     that the model does not know.
    func uniquenessFailure(
        _ layout: EntityLayout, besides key: Int64?, value: (Int) -> StoredValue, isOfBatch: (Int64) -> Bool,
        where isMeant: (RowReference?) -> Bool = { _ in true }
    ) throws -> UniquenessFailure? {
        for constraint in backend.mapping.constraints(of: layout) {
            let entity = try backend.entity(constraint.layout)
            let values = constraint.names.map { layout.slotByPath[$0].map(value) ?? .null }
            if values.contains(where: \.isNull) { continue }
            guard let owner = try connection.integer(statements.row(withUnique: constraint.columns, in: entity), values), owner != key
            else {
                continue
            }
            let references = try isOfBatch(owner) ? [] : self.references(statements.references(of: entity), list([owner]))
            guard isMeant(references.first) else { continue }
            return UniquenessFailure(
                constraint: constraint.names, values: values, layout: constraint.layout, existing: references.first)
        }
        return nil
    }

    /// The failure that SQLite names by its columns where a row of a subentity is refused new values; nil for a constraint of the entity.
    func uniquenessFailure(ofSubentityOf layout: EntityLayout, _ error: SQLiteError) -> UniquenessFailure? {
        let columns = error.uniqueColumns.map(Set.init)
        if backend.mapping.constraints(of: layout).contains(where: { Set($0.columns) == columns }) { return nil }
        return UniquenessFailure(inFamilyOf: layout, backend.mapping) { Set($0.columns) == columns }
    }
}

extension SQLiteStore: BatchRows {
    var batchRows: (any BatchRows)? { self }

    func insert(_ insertion: RowInsertion) throws -> BatchOutcome {
        // Who gives the rows may read the store: where there is one connection, before it writes.
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
