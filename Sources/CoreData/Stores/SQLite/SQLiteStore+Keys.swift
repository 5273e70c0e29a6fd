import Foundation

extension SQLiteStore {
    /// Hands out keys of a table, in a transaction of its own: another process that writes the store at the same time
    /// must never get the same keys. Costs about one small commit, which in a WAL needs no sync.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        guard count > 0 else { return 0 }
        let backend = try backend()
        let root = try backend.entity(backend.mapping.layouts.layouts[entity.rootIndex])
        return try backend.pool.write { connection in
            try requireWritable(connection)
            return try connection.transaction(.immediate) {
                let last = try Self.takeKeys(count, of: root, connection, backend)
                return last - Int64(count) + 1
            }
        }
    }

    /// Counts a table's `Z_MAX` up and returns it.
    private static func takeKeys(
        _ count: Int, of root: SQLEntity, _ connection: SQLiteConnection, _ backend: SQLiteBackend
    ) throws -> Int64 {
        let number = PropertyValue.integer(Int64(root.number))
        let isChecked = backend.checkedKeys.withLock { $0.contains(root.layout.index) }
        var floor: Int64 = 0
        if !isChecked {
            // Stores edited by hand have a Z_MAX below real keys.
            floor = try connection.integer("SELECT max(Z_PK) FROM \(SQLSchema.identifier(root.table.name))") ?? 0
        }
        try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = max(IFNULL(Z_MAX, 0), ?) + ? WHERE Z_ENT = ?",
            [.integer(floor), .integer(Int64(count)), number])
        if connection.changes == 0 {
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, ?)",
                [number, .string(root.layout.name), .integer(floor + Int64(count))])
        }
        guard let last = try connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [number]),
            last >= Int64(count)
        else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store at \(connection.path) has no more keys for '\(root.layout.name)': Z_PRIMARYKEY is damaged.")
        }
        _ = backend.checkedKeys.withLock { $0.insert(root.layout.index) }
        return last
    }

    func requireWritable(_ connection: SQLiteConnection) throws {
        guard isReadOnly || connection.mode == .readOnly || connection.mode == .immutable else { return }
        throw CoreDataErrors.make(
            .fileWriteNoPermission,
            "The store at \(connection.path) was opened with NSReadOnlyPersistentStoreOption; nothing was saved.",
            userInfo: ["NSFilePath": connection.path])
    }
}
