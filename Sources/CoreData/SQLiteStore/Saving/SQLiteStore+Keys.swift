import Foundation

extension SQLiteStore {
    /// Reserves keys of a table, in its own transaction.
    ///
    /// Another process that writes the store at the same time must never get the same keys. Costs
    /// about one small commit, which in a WAL needs no sync.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        guard count > 0 else { return 0 }
        let backend = try backend()
        let root = try backend.entity(backend.mapping.layouts.layouts[entity.rootIndex])
        return try backend.pool.write { connection in
            try requireWritable(connection)
            let last = try backend.pool.transaction(connection) {
                try Self.takeKeys(count, of: root, connection, isChecked: backend.hasCheckedKeys(of: root))
            }
            backend.noteCheckedKeys(of: root)
            return last - Int64(count) + 1
        }
    }

    /// Increases a table's `Z_MAX`, within a transaction, and returns it.
    ///
    /// - Parameter isChecked: whether `Z_MAX` is known not to be below real keys. It may be below
    ///   them in stores that were edited by hand.
    static func takeKeys(
        _ count: Int, of root: SQLEntity, _ connection: SQLiteConnection, isChecked: Bool
    ) throws -> Int64 {
        try raiseHighestKey(
            by: count, ofEntity: .integer(Int64(root.number)), named: root.layout.name,
            in: isChecked ? nil : root.table.name, connection)
    }

    /// Increases an entity's `Z_MAX` and returns it.
    ///
    /// - Parameter table: the table whose keys `Z_MAX` must not be below; nil where that is known.
    /// - Throws: an error when the numbers in the file leave no room for more keys.
    static func raiseHighestKey(
        by count: Int, ofEntity number: StoredValue, named name: String, in table: String?,
        _ connection: SQLiteConnection
    ) throws -> Int64 {
        let known = try connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [number])
        var highest = max(0, known ?? 0)
        if let table {
            highest = max(highest, try connection.integer("SELECT max(Z_PK) FROM \(SQLSchema.identifier(table))") ?? 0)
        }
        // One less than the maximum: code that counts keys may go one past the last.
        let (last, isTooHigh) = highest.addingReportingOverflow(Int64(count))
        guard !isTooHigh, last < Int64.max else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store at \(connection.path) has no keys left for \(count) new object(s) of '\(name)': the "
                    + "highest one in "
                    + "Z_PRIMARYKEY or in the table is \(highest).",
                recovery:
                    "No store comes to this by itself: the file is damaged. Restore it from a copy, or correct the "
                    + "number.",
                userInfo: [NSFilePathErrorKey: connection.path])
        }
        try connection.run("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), number])
        if connection.changes == 0 {
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, ?)",
                [number, .string(name), .integer(last)])
        }
        return last
    }

    /// - Throws: an error that names the file when a write would be refused or lost.
    func requireWritable(_ connection: SQLiteConnection) throws {
        guard isReadOnly || connection.mode == .readOnly || connection.mode == .immutable else {
            try openPool?.requireSameFiles()
            return
        }
        throw CoreDataErrors.storeIsReadOnly([self], "The store at \(connection.path) is read-only: nothing was saved.")
    }
}
