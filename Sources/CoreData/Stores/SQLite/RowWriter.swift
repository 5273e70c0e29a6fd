import CSQLite
import Foundation

/// Writes the rows of one entity and makes their snapshots in the same pass.
final class RowWriter {
    // A class: loops over the targets must not copy names.
    private final class Target {
        let slot: Int
        let column: SQLColumn
        let property: PropertySlot
        /// Kept by triggers: never written by the store.
        let isDerived: Bool
        let isInteger: Bool
        let hasEntityColumn: Bool

        init(slot: Int, column: SQLColumn, property: PropertySlot, isDerived: Bool) {
            self.slot = slot
            self.column = column
            self.property = property
            self.isDerived = isDerived
            isInteger = property.kind.isInteger
            hasEntityColumn = column.entityColumn != nil
        }
    }

    let entity: SQLEntity
    private let mapping: SQLMapping
    private let connection: SQLiteConnection
    private let externalFiles: ExternalFiles?
    private let targets: [Target]
    private let insertSQL: String
    private var insertStatement: SQLiteStatement?
    private var updateStatements: [(mask: SlotMask, statement: SQLiteStatement)] = []
    private var builder: RowPageBuilder
    /// Whether a column of the entity may name an external file.
    let hasExternalColumns: Bool

    init(
        _ entity: SQLEntity, _ backend: SQLiteBackend, _ connection: SQLiteConnection, expectedRows: Int
    ) {
        self.entity = entity
        self.connection = connection
        mapping = backend.mapping
        externalFiles = backend.externalFiles
        builder = RowPageBuilder(layout: entity.layout, expectedRows: expectedRows)
        var list: [Target] = []
        for slot in entity.layout.slots.prefix(entity.layout.storedCount) {
            guard let column = entity.columns[slot.index] else { continue }
            list.append(
                Target(
                    slot: slot.index, column: column, property: slot,
                    isDerived: slot.property is NSDerivedAttributeDescription))
        }
        targets = list
        hasExternalColumns = list.contains { $0.column.allowsExternalStorage }
        var names = ["Z_PK", "Z_ENT", "Z_OPT"]
        for target in list where !target.isDerived {
            names.append(target.column.name)
            if let entityColumn = target.column.entityColumn { names.append(entityColumn) }
        }
        insertSQL =
            "INSERT INTO \(SQLSchema.identifier(entity.table.name)) (\(names.map(SQLSchema.identifier).joined(separator: ", "))) "
            + "VALUES (?, ?, 1" + String(repeating: ", ?", count: names.count - 3) + ")"
    }

    /// All rows' pages; the writer must not be used afterwards.
    func finish() -> [RowPage] { builder.finish() }

    /// Inserts a row.
    func insert(_ change: RowChange, writtenFiles: inout [String]) throws -> RowPointer {
        let statement: SQLiteStatement
        if let insertStatement {
            statement = insertStatement
        } else {
            statement = try connection.statement(insertSQL)
            insertStatement = statement
        }
        let row = builder.appendRow(key: change.key, version: 1)
        let page = builder.page
        let handle = statement.handle
        sqlite3_bind_int64(handle, 1, change.key)
        sqlite3_bind_int64(handle, 2, Int64(entity.number))
        var parameter: Int32 = 3
        let values = change.values
        for target in targets {
            let slot = target.slot
            if target.isDerived {
                page.setNull(row, slot)
                continue
            }
            guard let values, values.has(slot) else {
                page.setNull(row, slot)
                sqlite3_bind_null(handle, parameter)
                parameter += 1
                if target.hasEntityColumn {
                    sqlite3_bind_null(handle, parameter)
                    parameter += 1
                }
                continue
            }
            if target.isInteger, case .integer(let integer) = values.values[slot] {
                sqlite3_bind_int64(handle, parameter, integer)
                row[slot] = UInt64(bitPattern: integer)
                parameter += 1
                continue
            }
            try bind(values.values[slot], target, statement, &parameter, &writtenFiles)
            builder.set(row, slot, values.values[slot])
        }
        try statement.run()
        return row
    }

    /// Binds a value to the parameters of its columns.
    private func bind(
        _ value: PropertyValue, _ target: Target, _ statement: SQLiteStatement, _ parameter: inout Int32,
        _ writtenFiles: inout [String]
    ) throws {
        if target.column.allowsExternalStorage, case .data(let data) = value, let externalFiles {
            statement.bind(.data(try externalFiles.columnValue(for: data, written: &writtenFiles)), at: parameter)
        } else if target.column.allowsExternalStorage, case .data(let data) = value {
            statement.bind(.data(Data([ExternalFiles.inlineMarker]) + data), at: parameter)
        } else {
            statement.bind(value, at: parameter)
        }
        parameter += 1
        if target.hasEntityColumn {
            if case .reference(let reference) = value, let number = mapping.entities[reference.layoutIndex]?.number {
                statement.bind(Int64(number), at: parameter)
            } else {
                statement.bindNull(at: parameter)
            }
            parameter += 1
        }
    }

    /// Updates a row's changed columns and its version.
    /// - Returns: nil when the row has another version or is gone.
    func update(_ change: RowChange, writtenFiles: inout [String]) throws -> RowPointer? {
        guard let base = change.base else { return nil }
        let statement = try updateStatement(
            change.values?.mask ?? SlotMask(count: entity.layout.slots.count), change.values)
        var parameter: Int32 = 1
        if let values = change.values {
            for target in targets where values.has(target.slot) && !target.isDerived {
                try bind(values.values[target.slot], target, statement, &parameter, &writtenFiles)
            }
        }
        statement.bind(change.key, at: parameter)
        statement.bind(base.version, at: parameter + 1)
        try statement.run()
        guard connection.changes > 0 else { return nil }

        let row = builder.appendRow(key: change.key, version: base.version + 1)
        let page = builder.page
        for target in targets {
            let slot = target.slot
            if let values = change.values, values.has(slot), !target.isDerived {
                builder.set(row, slot, values.values[slot])
            } else if base.isNull(slot) {
                page.setNull(row, slot)
            } else if target.property.kind.isVariableLength {
                let bytes = base.page.bytes(base.row, slot)
                page.setBytes(row, slot, bytes.baseAddress, bytes.count)
            } else {
                row[slot] = base.row[slot]
                let word = target.property.entityWord
                if word >= 0 { row[word] = base.row[word] }
            }
        }
        return row
    }

    private func updateStatement(_ mask: SlotMask, _ values: PendingValues?) throws -> SQLiteStatement {
        if let known = updateStatements.first(where: { $0.mask == mask }) { return known.statement }
        var assignments = ["Z_OPT = IFNULL(Z_OPT, 0) + 1"]
        for target in targets where values?.has(target.slot) == true && !target.isDerived {
            assignments.append("\(SQLSchema.identifier(target.column.name)) = ?")
            if let entityColumn = target.column.entityColumn {
                assignments.append("\(SQLSchema.identifier(entityColumn)) = ?")
            }
            // The place in an ordered relationship ends with the membership; a new one follows.
            if let order = target.column.orderColumn {
                assignments.append("\(SQLSchema.identifier(order)) = NULL")
            }
        }
        let statement = try connection.statement(
            "UPDATE \(SQLSchema.identifier(entity.table.name)) SET \(assignments.joined(separator: ", ")) "
                + "WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?")
        updateStatements.append((mask, statement))
        return statement
    }

    /// Deletes a row.
    /// - Returns: whether it was there in the version that the change is based on.
    func delete(_ change: RowChange) throws -> Bool {
        let table = SQLSchema.identifier(entity.table.name)
        if let base = change.base {
            try connection.run(
                "DELETE FROM \(table) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
                [.integer(change.key), .integer(base.version)])
        } else {
            try connection.run("DELETE FROM \(table) WHERE Z_PK = ?", [.integer(change.key)])
        }
        return connection.changes > 0
    }

    /// The external files that a row's columns name now.
    func externalFileNames(ofRow key: Int64, slots changed: PendingValues?) throws -> [String] {
        var names: [String] = []
        for target in targets where target.column.allowsExternalStorage {
            if let changed, !changed.has(target.slot) { continue }
            let column = SQLSchema.identifier(target.column.name)
            try connection.query(
                "SELECT \(column) FROM \(SQLSchema.identifier(entity.table.name)) WHERE Z_PK = ? AND length(\(column)) < 256",
                [.integer(key)]
            ) { row in
                if let data = row.data(0), let name = ExternalFiles.fileName(inColumnValue: data) { names.append(name) }
            }
        }
        return names
    }
}
