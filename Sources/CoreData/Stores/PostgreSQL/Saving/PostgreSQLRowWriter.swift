import Foundation

/// Makes the new rows of one entity, and their bytes as the server takes them.
final class PostgreSQLRowWriter {
    /// A column that a save writes.
    struct Target {
        let slot: Int
        let name: String
        /// The type of the column.
        let type: UInt32
        let property: PropertySlot
        /// Takes the number of the destination's entity.
        let entityColumn: String?
        /// Takes the place in the ordered relationship that the column serves.
        let orderColumn: String?
    }

    let entity: SQLEntity
    private let mapping: SQLMapping
    /// In the order of the slots; without the attributes that triggers keep.
    let targets: [Target]
    private var builder: RowPageBuilder
    /// The new rows, whose pages the builder holds.
    private(set) var inserted: ContiguousArray<RowPointer> = []

    init(_ entity: SQLEntity, _ backend: PostgreSQLBackend, expectedRows: Int) {
        self.entity = entity
        mapping = backend.mapping
        builder = RowPageBuilder(layout: entity.layout, expectedRows: expectedRows)
        var list: [Target] = []
        for slot in entity.layout.slots.prefix(entity.layout.storedCount) where !slot.isDerived {
            guard let column = entity.columns[slot.index],
                let type = backend.schema.type(column.name, of: entity.table.name) ?? WireValue.columnType(slot.kind)
            else { continue }
            list.append(
                Target(
                    slot: slot.index, name: column.name, type: type, property: slot, entityColumn: column.entityColumn,
                    orderColumn: column.orderColumn))
        }
        targets = list
    }

    /// All rows' pages; the writer must not be used afterwards.
    func finish() -> [RowPage] { builder.finish() }

    // MARK: Making rows

    func insert(_ change: RowChange) -> RowPointer {
        let row = builder.appendRow(key: change.key, version: change.insertedVersion)
        let page = builder.page
        for slot in 0..<entity.layout.storedCount { page.setNull(row, slot) }
        if let values = change.values {
            for target in targets where values.has(target.slot) { set(values[target.slot], target, row, page) }
        }
        inserted.append(row)
        return row
    }

    /// The row that an update makes of the one that it is based on.
    func update(_ change: RowChange, _ base: Snapshot) -> RowPointer {
        let row = builder.appendRow(key: change.key, version: base.version + 1)
        let page = builder.page
        for slot in entity.layout.slots.prefix(entity.layout.storedCount) {
            let index = slot.index
            if base.isNull(index) {
                page.setNull(row, index)
            } else if slot.kind.isVariableLength {
                let bytes = base.page.bytes(base.row, index)
                page.setBytes(row, index, bytes.baseAddress, bytes.count)
            } else {
                row[index] = base.row[index]
            }
            if slot.entityWord >= 0 { row[slot.entityWord] = base.row[slot.entityWord] }
        }
        if let values = change.values {
            for target in targets where values.has(target.slot) { set(values[target.slot], target, row, page) }
        }
        return row
    }

    /// Sets a slot to what the column will hold.
    @inline(__always)
    private func set(_ value: StoredValue, _ target: Target, _ row: RowPointer, _ page: RowPage) {
        if case .null = value { return page.setNull(row, target.slot) }
        let bitmap = entity.layout.wordCount
        row[bitmap + target.slot >> 6] &= ~(1 << UInt64(target.slot & 63))
        page.set(row, target.slot, value)
        guard target.property.kind == .date, target.type == WireType.timestamptz, !page.isNull(row, target.slot) else { return }
        // A time that the column cannot hold is refused when the row is written.
        let seconds = Double(bitPattern: row[target.slot])
        if let time = WireTime.microseconds(ofSeconds: seconds) { row[target.slot] = WireTime.seconds(ofMicroseconds: time).bitPattern }
    }

    // MARK: Writing rows

    /// Appends a row's value for a column, its length before it.
    ///
    /// - Throws: code 134070 for a value that the column cannot hold.
    func appendField(_ row: RowPointer, _ target: Target, to bytes: inout WireBytes) throws {
        let page = row.rowPage
        try page._withUnsafeGuaranteedRef { page in
            if page.isNull(row, target.slot) { return bytes.appendNull() }
            let start = bytes.beginValue()
            do throws(WireValue.Refusal) {
                switch target.property.kind {
                case .int16, .int32, .int64, .boolean, .toOne:
                    try WireValue.append(Int64(bitPattern: row[target.slot]), as: target.type, to: &bytes)
                case .double, .float, .date: try WireValue.append(Double(bitPattern: row[target.slot]), as: target.type, to: &bytes)
                default: try WireValue.append(page.bytes(row, target.slot), as: target.type, to: &bytes)
                }
            } catch { throw refusal(target, row, error) }
            bytes.endValue(start)
        }
    }

    /// Appends the number of a destination's entity, its length before it.
    func appendEntityNumber(_ row: RowPointer, _ target: Target, to bytes: inout WireBytes) {
        let page = row.rowPage
        page._withUnsafeGuaranteedRef { page in
            if page.isNull(row, target.slot) { return bytes.appendNull() }
            let word = target.property.entityWord
            let index = word >= 0 ? Int(row[word]) : target.property.destinationIndex
            guard let number = mapping.entities[index]?.number else { return bytes.appendNull() }
            bytes.append(Int32(2))
            bytes.append(Int16(truncatingIfNeeded: number))
        }
    }

    private func refusal(_ target: Target, _ row: RowPointer, _ refusal: WireValue.Refusal) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "The value of '\(target.property.name)' of '\(entity.layout.name)' (key \(row.rowKey)) cannot be saved: it \(refusal.reason). "
                + "Nothing was saved.", recovery: "Change the value, or keep it in another attribute.",
            userInfo: ["entity": entity.layout.name, NSValidationKeyErrorKey: target.property.name])
    }

    // MARK: Statements

    /// Joins rows `t` with lists of unique values, which are the table `d`: the places of the values as `d.n`, and the lists in the order of
    /// the columns.
    ///
    /// - Parameter first: the number of the parameter with the places, behind which those with the lists stand.
    static func joinOwners(of columns: [String], _ types: [UInt32], first: Int, _ dialect: any SQLDialect) -> String {
        let lists = types.enumerated().map { "$\(first + 1 + $0)::\(arrayName($1))" }.joined(separator: ", ")
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        let conditions = columns.enumerated().map { "t.\(dialect.identifier($1)) = d.c\($0)" }.joined(separator: " AND ")
        return "JOIN unnest($\(first)::int8[], \(lists)) AS d(n, \(names)) ON \(conditions)"
    }

    /// The columns of new rows, in order.
    private var insertColumns: [String] {
        entity.table.systemColumns + targets.flatMap { [$0.name, $0.entityColumn].compactMap { $0 } }
    }

    private func type(ofInsertColumn name: String) -> UInt32 {
        if let target = targets.first(where: { $0.name == name }) { return target.type }
        if name == mapping.naming.key { return WireType.int8 }
        return name == mapping.naming.version ? WireType.int4 : WireType.int2
    }

    private func list(_ columns: [String]) -> String { columns.map(mapping.dialect.identifier).joined(separator: ", ") }

    private var table: String { mapping.dialect.identifier(entity.table.name) }

    /// `COPY`, for many rows.
    var copyStatement: String { "COPY \(table) (\(list(insertColumns))) FROM STDIN (FORMAT binary)" }

    /// Sends all new rows, or some of them, as `COPY` takes them.
    func copyRows(_ rows: ContiguousArray<RowPointer>? = nil, to send: (UnsafeRawBufferPointer) throws -> Void) throws {
        var copied = CopiedRows()
        let count = Int16(insertColumns.count)
        let hasEntity = entity.table.entityColumn != nil
        for row in rows ?? inserted {
            copied.beginRow(columns: count)
            copied.bytes.append(Int32(8))
            copied.bytes.append(row.rowKey)
            if hasEntity {
                copied.bytes.append(Int32(2))
                copied.bytes.append(Int16(truncatingIfNeeded: entity.number))
            }
            copied.bytes.append(Int32(4))
            copied.bytes.append(Int32(truncatingIfNeeded: row.rowVersion))
            for target in targets {
                try appendField(row, target, to: &copied.bytes)
                if target.entityColumn != nil { appendEntityNumber(row, target, to: &copied.bytes) }
            }
            try copied.send(to: send)
        }
        try copied.finish(to: send)
    }

    /// Inserts all new rows, or some of them, an array for each column.
    func insertStatement(_ rows: ContiguousArray<RowPointer>? = nil) throws -> WireStatement {
        let columns = insertColumns
        let inserted = rows ?? inserted
        var arguments = WireArguments()
        try appendSystemColumns(inserted, to: &arguments)
        try append(targets, of: inserted, to: &arguments)
        let types = columns.enumerated().map { "$\($0 + 1)::\(Self.arrayName(type(ofInsertColumn: $1)))" }.joined(separator: ", ")
        return WireStatement("INSERT INTO \(table) (\(list(columns))) SELECT * FROM unnest(\(types))", arguments, isKept: true)
    }

    private func appendSystemColumns(_ rows: ContiguousArray<RowPointer>, to arguments: inout WireArguments) throws {
        arguments.append(keys: rows.lazy.map(\.rowKey))
        if entity.table.entityColumn != nil {
            let number = Int16(truncatingIfNeeded: entity.number)
            arguments.appendArray(of: WireType.int2, count: rows.count) { bytes in
                for _ in rows {
                    bytes.append(Int32(2))
                    bytes.append(number)
                }
            }
        }
        appendVersions(rows, to: &arguments)
    }

    private func appendVersions(_ rows: ContiguousArray<RowPointer>, to arguments: inout WireArguments) {
        arguments.appendArray(of: WireType.int4, count: rows.count) { bytes in
            for row in rows {
                bytes.append(Int32(4))
                bytes.append(Int32(truncatingIfNeeded: row.rowVersion))
            }
        }
    }

    private func append(_ targets: [Target], of rows: ContiguousArray<RowPointer>, to arguments: inout WireArguments) throws {
        for target in targets {
            var failure: (any Error)?
            arguments.appendArray(of: target.type, count: rows.count) { bytes in
                do { for row in rows { try appendField(row, target, to: &bytes) } } catch { failure = error }
            }
            if let failure { throw failure }
            guard target.entityColumn != nil else { continue }
            arguments.appendArray(of: WireType.int2, count: rows.count) { bytes in
                for row in rows { appendEntityNumber(row, target, to: &bytes) }
            }
        }
    }

    /// Writes the changed columns of rows, and their versions: an array for each column.
    ///
    /// - Parameter checksVersions: whether only rows are written that have the version before; not needed where they were locked.
    func updateStatement(_ rows: ContiguousArray<RowPointer>, changed: SlotMask, checksVersions: Bool = false) throws -> WireStatement {
        let written = targets.filter { changed.contains($0.slot) }
        let (key, version) = (mapping.dialect.identifier(mapping.naming.key), mapping.dialect.identifier(mapping.naming.version))
        var arguments = WireArguments()
        arguments.append(keys: rows.lazy.map(\.rowKey))
        appendVersions(rows, to: &arguments)
        try append(written, of: rows, to: &arguments)
        var assignments = ["\(version) = d.c2"]
        var types = ["$1::int8[]", "$2::int4[]"]
        for target in written {
            types.append("$\(types.count + 1)::\(Self.arrayName(target.type))")
            assignments.append("\(mapping.dialect.identifier(target.name)) = d.c\(types.count)")
            if let name = target.entityColumn {
                types.append("$\(types.count + 1)::int2[]")
                assignments.append("\(mapping.dialect.identifier(name)) = d.c\(types.count)")
            }
            // The place in an ordered relationship ends with the membership; a new one follows.
            if let name = target.orderColumn { assignments.append("\(mapping.dialect.identifier(name)) = NULL") }
        }
        let names = (1...types.count).map { "c\($0)" }.joined(separator: ", ")
        return WireStatement(
            "UPDATE \(table) t SET \(assignments.joined(separator: ", ")) FROM unnest(\(types.joined(separator: ", "))) AS d(\(names)) "
                + "WHERE t.\(key) = d.c1" + (checksVersions ? " AND t.\(version) = d.c2 - 1" : ""), arguments, isKept: true)
    }

    /// What an array of a type is called in SQL.
    static func arrayName(_ type: UInt32) -> String {
        let name =
            switch type {
            case WireType.int2: "int2"
            case WireType.int4: "int4"
            case WireType.int8: "int8"
            case WireType.boolean: "boolean"
            case WireType.float4: "float4"
            case WireType.float8: "float8"
            case WireType.timestamptz: "timestamptz"
            case WireType.numeric: "numeric"
            case WireType.uuid: "uuid"
            case WireType.bytea: "bytea"
            default: "text"
            }
        return name + "[]"
    }
}
