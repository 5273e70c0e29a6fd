import CSQLite
import Foundation

/// Writes the rows of one entity and creates their snapshots in the same pass.
final class RowWriter {
    // A class, so that loops over the targets do not copy names.
    private final class Target {
        let slot: Int
        let column: SQLColumn
        let property: PropertySlot
        /// Whether triggers maintain the column; the store then never writes it.
        let isDerived: Bool
        let hasEntityColumn: Bool

        init(slot: Int, column: SQLColumn, property: PropertySlot, isDerived: Bool) {
            self.slot = slot
            self.column = column
            self.property = property
            self.isDerived = isDerived
            hasEntityColumn = column.entityColumn != nil
        }
    }

    /// How a column's parameter is bound from the row.
    ///
    /// Contains no references, so that the loop over a row does no reference counting.
    private struct Binding {
        enum Form { case integer, double, text, bytes, reference, externalBytes, derived }
        let form: Form
        /// Whether a second parameter takes the destination's entity number.
        let hasEntityColumn: Bool
        let slot: Int
        let entityWord: Int

        init(_ target: Target) {
            hasEntityColumn = target.column.entityColumn != nil
            slot = target.slot
            entityWord = target.property.entityWord
            if target.isDerived {
                form = .derived
                return
            }
            switch target.property.kind {
            case .int16, .int32, .int64, .boolean: form = .integer
            case .double, .float, .date: form = .double
            case .string, .uri, .decimal: form = .text
            case .toOne: form = .reference
            case .data, .json, .uuid, .transformable, .composite, .toMany, .orderedToMany, .fetched, .undefined:
                form = target.column.allowsExternalStorage ? .externalBytes : .bytes
            }
        }
    }

    let entity: SQLEntity
    private let entityNumber: Int64
    private let mapping: SQLMapping
    private let connection: SQLiteConnection
    private let fileChanges: ExternalFileChanges?
    private let targets: [Target]
    private let bindings: ContiguousArray<Binding>
    private let statements: SaveStatements
    private let insertSQL: String
    private let deleteSQL: String
    private let deleteVersionSQL: String
    private var insertStatement: SQLiteStatement?
    private var updateStatements: [(mask: SlotMask, statement: SQLiteStatement)] = []
    // Unchecked exclusivity: changed for each row, by methods of the builder, which know no writer.
    @exclusivity(unchecked) private var builder: RowPageBuilder
    private let bitmapWord: Int
    /// Whether a column of the entity may name an external file.
    let hasExternalColumns: Bool

    init(
        _ entity: SQLEntity, _ backend: SQLiteBackend, _ connection: SQLiteConnection,
        _ fileChanges: ExternalFileChanges?,
        expectedRows: Int
    ) {
        self.entity = entity
        entityNumber = Int64(entity.number)
        self.connection = connection
        mapping = backend.mapping
        self.fileChanges = fileChanges
        builder = RowPageBuilder(layout: entity.layout, expectedRows: expectedRows)
        bitmapWord = entity.layout.wordCount
        var list: [Target] = []
        for slot in entity.layout.slots.prefix(entity.layout.storedCount) {
            guard let column = entity.columns[slot.index] else { continue }
            list.append(
                Target(
                    slot: slot.index, column: column, property: slot,
                    isDerived: slot.property is NSDerivedAttributeDescription))
        }
        targets = list
        bindings = ContiguousArray(list.map(Binding.init))
        hasExternalColumns = list.contains { $0.column.allowsExternalStorage }
        statements = SaveStatements(mapping: backend.mapping)
        insertSQL = statements.insert(entity)
        deleteSQL = statements.delete(entity, checksVersion: false)
        deleteVersionSQL = statements.delete(entity, checksVersion: true)
    }

    // Texts were bound in place, in the memory of the pages.
    deinit { insertStatement?.clearBindings() }

    /// Returns the pages of all rows; the writer must not be used afterwards.
    ///
    /// - Throws: the error of a written row that lacks a value.
    func finish() throws -> [RowPage] {
        try builder.requireWholeRows()
        return builder.finish()
    }

    // By address: passing the change by value would copy it with its references for each row.
    func insert(_ change: UnsafePointer<RowChange>) throws -> RowPointer {
        let statement: SQLiteStatement
        if let insertStatement {
            statement = insertStatement
        } else {
            statement = try connection.statement(insertSQL)
            insertStatement = statement
        }
        let (key, version) = (change.pointee.key, change.pointee.insertedVersion)
        let row = builder.appendRow(key: key, version: version)
        fill(row, change.pointee.values)
        let handle = statement.handle
        sqlite3_bind_int64(handle, 1, key)
        sqlite3_bind_int64(handle, 2, entityNumber)
        sqlite3_bind_int64(handle, 3, version)
        try bind(row, to: statement, firstParameter: 4)
        try statement.run()
        return row
    }

    /// Sets every slot of a new row.
    @inline(__always)
    private func fill(_ row: RowPointer, _ values: RowValues?) {
        // Not through the builder: each value would copy it with all its references.
        let page = builder.page
        guard let values else {
            for binding in bindings { page.setNull(row, binding.slot) }
            return
        }
        bindings.withUnsafeBufferPointer { bindings in
            for binding in bindings {
                let slot = binding.slot
                if binding.form == .integer, let integer = values.integer(slot) {
                    row[slot] = UInt64(bitPattern: integer)
                } else if binding.form != .derived, values.has(slot) {
                    page.set(row, slot, values[slot])
                } else {
                    row[slot] = 0
                    row[bitmapWord + slot >> 6] |= 1 << UInt64(slot & 63)
                }
            }
        }
    }

    /// Binds the values of a row of the page that is being built.
    ///
    /// Texts and bytes are bound in place: the statement must run before another row is started.
    @inline(__always)
    private func bind(_ row: RowPointer, to statement: SQLiteStatement, firstParameter: Int32) throws {
        let handle = statement.handle
        let heap = builder.page.heap
        var parameter = firstParameter
        try bindings.withUnsafeBufferPointer { bindings in
            for binding in bindings {
                if binding.form == .derived { continue }
                let slot = binding.slot
                let word = row[slot]
                let isNull = word == 0 && row[bitmapWord + slot >> 6] & (1 << UInt64(slot & 63)) != 0
                if isNull {
                    sqlite3_bind_null(handle, parameter)
                } else {
                    switch binding.form {
                    case .integer, .reference: sqlite3_bind_int64(handle, parameter, Int64(bitPattern: word))
                    case .double: sqlite3_bind_double(handle, parameter, Double(bitPattern: word))
                    case .text: statement.bindInPlace(heap + Int(word >> 32), Int(word & 0xffff_ffff), at: parameter)
                    case .bytes:
                        statement.bind(UnsafeRawBufferPointer(builder.page.bytes(row, slot)), at: parameter)
                    case .externalBytes:
                        let data = Data(buffer: builder.page.bytes(row, slot))
                        statement.bind(.data(try columnValue(of: data)), at: parameter)
                    case .derived: break
                    }
                }
                parameter += 1
                if binding.hasEntityColumn {
                    if !isNull, let number = entityNumber(row, binding) {
                        sqlite3_bind_int64(handle, parameter, number)
                    } else {
                        sqlite3_bind_null(handle, parameter)
                    }
                    parameter += 1
                }
            }
        }
    }

    private func entityNumber(_ row: RowPointer, _ binding: Binding) -> Int64? {
        let index =
            binding.entityWord >= 0 ? Int(row[binding.entityWord]) : entity.layout.slots[binding.slot].destinationIndex
        return mapping.entities[index].map { Int64($0.number) }
    }

    /// The column value for data of an attribute that allows external storage.
    private func columnValue(of data: Data) throws -> Data {
        try fileChanges?.columnValue(for: data) ?? ExternalColumn.value(inline: data)
    }

    /// Binds a value to the parameters of its columns.
    private func bind(
        _ value: StoredValue, _ target: Target, _ statement: SQLiteStatement, _ parameter: inout Int32
    ) throws {
        if target.column.allowsExternalStorage, case .data(let data) = value {
            statement.bind(.data(try columnValue(of: data)), at: parameter)
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
    ///
    /// - Returns: nil when the row has another version or was deleted.
    func update(_ change: UnsafePointer<RowChange>) throws -> RowPointer? {
        guard let base = change.pointee.base else { return nil }
        let (key, values) = (change.pointee.key, change.pointee.values)
        let statement = try updateStatement(values?.mask ?? SlotMask(count: entity.layout.slots.count), values)
        var parameter: Int32 = 1
        if let values {
            for target in targets where values.has(target.slot) && !target.isDerived {
                try bind(values[target.slot], target, statement, &parameter)
            }
        }
        statement.bind(key, at: parameter)
        statement.bind(base.version, at: parameter + 1)
        try statement.run()
        guard connection.changes > 0 else { return nil }

        let row = builder.appendRow(key: key, version: base.version + 1)
        let page = builder.page
        for target in targets {
            let slot = target.slot
            if let values, values.has(slot), !target.isDerived {
                page.set(row, slot, values[slot])
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

    private func updateStatement(_ mask: SlotMask, _ values: RowValues?) throws -> SQLiteStatement {
        if let known = updateStatements.first(where: { $0.mask == mask }) { return known.statement }
        let statement = try connection.statement(statements.update(entity, slots: { values?.has($0) == true }))
        updateStatements.append((mask, statement))
        return statement
    }

    /// Deletes a row.
    ///
    /// - Returns: whether the row existed in the version that the change is based on.
    func delete(_ change: RowChange) throws -> Bool {
        let sql = change.base == nil ? deleteSQL : deleteVersionSQL
        try connection.run(sql, [.integer(change.key)] + (change.base.map { [.integer($0.version)] } ?? []))
        return connection.changes > 0
    }

    /// The external files that a row names, which its deletion supersedes.
    func externalFileNames(ofRow key: Int64) throws -> [String] { try externalFileNames(ofRow: key) { _ in true } }

    /// The external files that a row names in the columns that a change replaces.
    ///
    /// A row whose relationships alone have changed keeps all its files.
    func externalFileNames(replacedBy change: RowChange) throws -> [String] {
        guard let values = change.values else { return [] }
        return try externalFileNames(ofRow: change.key) { values.has($0) }
    }

    private func externalFileNames(ofRow key: Int64, in slots: (Int) -> Bool) throws -> [String] {
        var names: [String] = []
        for target in targets where target.column.allowsExternalStorage && slots(target.slot) {
            let column = SQLSchema.identifier(target.column.name)
            // A marker byte, at most 255 bytes of a name, and a zero.
            try connection.query(
                "SELECT \(column) FROM \(SQLSchema.identifier(entity.table.name)) WHERE Z_PK = ? AND "
                    + "length(\(column)) <= 257",
                [.integer(key)]
            ) { row in
                if let data = row.data(0), let name = ExternalColumn.fileName(in: data) { names.append(name) }
            }
        }
        return names
    }
}
