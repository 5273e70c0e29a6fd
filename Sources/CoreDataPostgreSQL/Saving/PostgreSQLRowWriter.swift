import CoreData
import Foundation

/// Makes the new rows of one entity, and encodes them as the server takes them.
final class PostgreSQLRowWriter {
    /// The columns, and the SQL of the statements.
    let plan: PostgreSQLWritePlan
    /// The largest number of bytes of values in a statement.
    private let bytesOfStatement: Int
    let entity: SQLEntity
    private let targets: [PostgreSQLWritePlan.Target]
    /// The slot of each target: most rows set few of them, and a target is costly to copy.
    private let slots: [Int]
    private var builder: RowPageBuilder
    /// The new rows, whose pages the builder holds.
    private(set) var inserted: ContiguousArray<RowPointer> = []
    /// The keys of new rows whose value is written later, by slot: the row that it refers to does
    /// not exist yet.
    var postponed: [Int: Set<Int64>] = [:]

    init(_ entity: SQLEntity, _ backend: PostgreSQLBackend, expectedRows: Int) {
        plan = backend.writePlan(entity)
        self.entity = plan.entity
        targets = plan.targets
        slots = targets.map(\.slot)
        bytesOfStatement = backend.bytesOfStatement.load(ordering: .relaxed)
        builder = RowPageBuilder(layout: entity.layout, expectedRows: expectedRows)
    }

    /// Returns the pages of all rows. The writer must not be used afterwards.
    func finish() -> [RowPage] { builder.finish() }

    /// - Throws: an error for what is missing in a row that was made.
    func requireWholeRows() throws { try builder.requireWholeRows() }

    // MARK: Making rows

    func insert(_ change: RowChange) -> RowPointer {
        let row = builder.appendRow(key: change.key, version: change.insertedVersion)
        let page = builder.page
        for slot in 0..<entity.layout.storedCount { page.setNull(row, slot) }
        if let values = change.values { set(values, row, page) }
        inserted.append(row)
        return row
    }

    /// Makes the row that an update turns its base into.
    func update(_ change: RowChange, _ base: Snapshot) -> RowPointer {
        let row = builder.appendRow(key: change.key, version: base.version + 1)
        let page = builder.page
        page.copyValues(of: base, to: row)
        if let values = change.values { set(values, row, page) }
        return row
    }

    private func set(_ values: RowValues, _ row: RowPointer, _ page: RowPage) {
        let mask = values.mask
        for (place, slot) in slots.enumerated() where mask.contains(slot) {
            set(values[slot], targets[place], row, page)
        }
    }

    /// Sets a slot to the value that the column will hold.
    @inline(__always)
    private func set(_ value: StoredValue, _ target: PostgreSQLWritePlan.Target, _ row: RowPointer, _ page: RowPage) {
        if case .null = value { return page.setNull(row, target.slot) }
        let value = target.type == WireType.jsonb ? asRead(value) : value
        let bitmap = entity.layout.wordCount
        row[bitmap + target.slot >> 6] &= ~(1 << UInt64(target.slot & 63))
        page.set(row, target.slot, value)
        guard target.property.kind == .date, target.type == WireType.timestamptz, !page.isNull(row, target.slot) else {
            return
        }
        // A time that the column cannot hold is refused when the row is written.
        let seconds = Double(bitPattern: row[target.slot])
        if let time = WireTime.microseconds(ofSeconds: seconds) {
            row[target.slot] = WireTime.seconds(ofMicroseconds: time).bitPattern
        }
    }

    /// Returns JSON as it is read back. Bytes that the column cannot hold are refused when the row
    /// is written.
    @inline(never)
    private func asRead(_ value: StoredValue) -> StoredValue {
        guard case .data(let data) = value, let json = try? WireValue.json(data) else { return value }
        return .data(Data(json))
    }

    // MARK: Writing rows

    /// Appends a row's value for a column, preceded by its length.
    ///
    /// - Throws: code 134070 for a value that the column cannot hold.
    func appendField(_ row: RowPointer, _ target: PostgreSQLWritePlan.Target, to bytes: inout WireBytes) throws {
        let page = row.rowPage
        try page.withObject { page in
            if page.isNull(row, target.slot) { return bytes.appendNull() }
            let start = bytes.beginValue()
            do throws(WireValue.Refusal) {
                switch target.property.kind {
                case .int16, .int32, .int64, .boolean, .toOne:
                    try WireValue.append(Int64(bitPattern: row[target.slot]), as: target.type, to: &bytes)
                case .double, .float, .date:
                    try WireValue.append(Double(bitPattern: row[target.slot]), as: target.type, to: &bytes)
                default: try WireValue.append(page.bytes(row, target.slot), as: target.type, to: &bytes)
                }
            } catch { throw refusal(target, row, error) }
            bytes.endValue(start)
        }
    }

    /// Appends the same for a new row.
    @inline(__always)
    private func appendInsertedField(_ row: RowPointer, _ target: PostgreSQLWritePlan.Target, to bytes: inout WireBytes)
        throws
    {
        if !postponed.isEmpty, postponed[target.slot]?.contains(row.rowKey) == true { return bytes.appendNull() }
        try appendField(row, target, to: &bytes)
    }

    /// Appends the number of a destination's entity, preceded by its length.
    private func appendEntityNumber(
        _ row: RowPointer, _ target: PostgreSQLWritePlan.Target, as type: UInt32, to bytes: inout WireBytes
    ) {
        let page = row.rowPage
        page.withObject { page in
            if page.isNull(row, target.slot) { return bytes.appendNull() }
            let word = target.property.entityWord
            let index = word >= 0 ? Int(row[word]) : target.property.destinationIndex
            guard let number = plan.mapping.entities[index]?.number else { return bytes.appendNull() }
            let start = bytes.beginValue()
            // Numbers have 16 bits.
            try? WireValue.append(Int64(number), as: type, to: &bytes)
            bytes.endValue(start)
        }
    }

    private func refusal(_ target: PostgreSQLWritePlan.Target, _ row: RowPointer, _ refusal: WireValue.Refusal)
        -> NSError
    {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "The value of '\(target.property.name)' of '\(entity.layout.name)' (key \(row.rowKey)) cannot be saved: "
                + "it \(refusal.reason). "
                + "Nothing was saved.", recovery: "Change the value, or keep it in another attribute.",
            userInfo: ["entity": entity.layout.name, NSValidationKeyErrorKey: target.property.name])
    }

    // MARK: Statements

    /// Returns the rows that a statement has to write.
    func expected(_ rows: ContiguousArray<RowPointer>, _ kind: PostgreSQLExpectedRows.Kind, place: Int)
        -> PostgreSQLExpectedRows
    {
        PostgreSQLExpectedRows(place: place, kind: kind, keys: rows.map(\.rowKey), entity: entity)
    }

    /// Returns the rows that a statement has to change.
    ///
    /// - Parameter versions: the versions that rows have before, by key, where they are not one
    ///   less than those of the rows made.
    func expectedUpdates(_ rows: ContiguousArray<RowPointer>, _ versions: [Int64: UInt32] = [:], place: Int)
        -> PostgreSQLExpectedRows
    {
        guard plan.versionsTellUpdates else { return expected(rows, .updated(nil), place: place) }
        let before = rows.map { versions[$0.rowKey] ?? UInt32(truncatingIfNeeded: $0.rowVersion &- 1) }
        return expected(rows, .updated(before), place: place)
    }

    /// The largest number of rows that a statement inserts where they cannot be copied.
    private static let rowsOfStatement = 1000

    /// Returns all new rows, or some of them, in parts for one statement each. Returns nil where
    /// they are so many, or so large, that they are copied.
    func parts(_ rows: ContiguousArray<RowPointer>? = nil) -> [ContiguousArray<RowPointer>]? {
        let rows = rows ?? inserted
        let isFew = rows.count < PostgreSQLSave.fewestCopiedRows
        if !isFew, plan.takesCopies { return nil }
        let parts = split(rows, targets, mostRows: Self.rowsOfStatement)
        return plan.takesCopies && parts.count > 1 ? nil : parts
    }

    /// Returns rows in parts that one statement updates each.
    func parts(
        _ rows: ContiguousArray<RowPointer>, changed: SlotMask, mostRows: Int = .max
    ) -> [ContiguousArray<RowPointer>] {
        split(rows, plan.targets(in: changed), mostRows: mostRows)
    }

    /// Splits rows into parts whose values one statement takes. A larger row is a part of its own.
    private func split(_ rows: ContiguousArray<RowPointer>, _ written: [PostgreSQLWritePlan.Target], mostRows: Int)
        -> [ContiguousArray<
            RowPointer
        >]
    {
        let variable = written.filter { $0.property.kind.isVariableLength }.map(\.slot)
        // Includes the key, the version and the entity numbers.
        let fixed = 32 + 16 * written.count
        if variable.isEmpty, rows.count <= mostRows, rows.count < bytesOfStatement / fixed { return [rows] }
        var parts: [ContiguousArray<RowPointer>] = []
        var (start, size) = (0, 0)
        for (index, row) in rows.enumerated() {
            var bytes = fixed
            row.rowPage.withObject { page in
                for slot in variable where !page.isNull(row, slot) { bytes += page.bytes(row, slot).count }
            }
            if index > start, index - start == mostRows || size + bytes > bytesOfStatement {
                parts.append(ContiguousArray(rows[start..<index]))
                (start, size) = (index, 0)
            }
            size += bytes
        }
        if start == 0 { return [rows] }
        parts.append(ContiguousArray(rows[start...]))
        return parts
    }

    /// Sends all new rows, or some of them, in the format of `COPY`.
    func copyRows(_ rows: ContiguousArray<RowPointer>? = nil, to send: (UnsafeRawBufferPointer) throws -> Void) throws {
        var copied = CopiedRows()
        let count = Int16(plan.insertColumns.count)
        let hasEntity = entity.table.entityColumn != nil
        for row in rows ?? inserted {
            copied.beginRow(columns: count)
            try copied.append(row.rowKey, as: plan.keyType)
            if hasEntity { try copied.append(Int64(entity.number), as: plan.numberType) }
            if entity.table.writesVersions { try copied.append(row.rowVersion, as: plan.versionType) }
            for target in targets {
                try appendInsertedField(row, target, to: &copied.bytes)
                if target.entityColumn != nil {
                    appendEntityNumber(row, target, as: target.entityType, to: &copied.bytes)
                }
            }
            try copied.send(to: send)
        }
        try copied.finish(to: send)
    }

    /// Returns the statement that inserts all new rows, or some of them, with an array for each
    /// column.
    func insertStatement(_ rows: ContiguousArray<RowPointer>? = nil) throws -> WireStatement {
        let inserted = rows ?? inserted
        var arguments = WireArguments()
        try appendSystemColumns(inserted, to: &arguments)
        try append(targets, of: inserted, areNew: true, to: &arguments)
        return WireStatement(plan.insertStatement, arguments, isKept: true)
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
        if entity.table.writesVersions { appendVersions(rows, to: &arguments) }
    }

    private func appendVersions(_ rows: ContiguousArray<RowPointer>, to arguments: inout WireArguments) {
        arguments.appendArray(of: WireType.int4, count: rows.count) { bytes in
            for row in rows {
                bytes.append(Int32(4))
                bytes.append(Int32(truncatingIfNeeded: row.rowVersion))
            }
        }
    }

    private func append(
        _ targets: [PostgreSQLWritePlan.Target], of rows: ContiguousArray<RowPointer>, areNew: Bool = false,
        to arguments: inout WireArguments
    ) throws {
        for target in targets {
            var failure: (any Error)?
            arguments.appendArray(of: target.type, count: rows.count) { bytes in
                do {
                    if areNew {
                        for row in rows { try appendInsertedField(row, target, to: &bytes) }
                    } else {
                        for row in rows { try appendField(row, target, to: &bytes) }
                    }
                } catch { failure = error }
            }
            if let failure { throw failure }
            guard target.entityColumn != nil else { continue }
            arguments.appendArray(of: WireType.int2, count: rows.count) { bytes in
                for row in rows { appendEntityNumber(row, target, as: WireType.int2, to: &bytes) }
            }
        }
    }

    /// Returns the statement that writes the changed columns of rows, and their versions, with an
    /// array for each column.
    ///
    /// - Parameter checksVersions: whether to write only rows that have the version before; not
    ///   needed where they were locked.
    func updateStatement(_ rows: ContiguousArray<RowPointer>, changed: SlotMask, checksVersions: Bool = false) throws
        -> WireStatement
    {
        let update = plan.update(of: changed, checksVersions: checksVersions)
        var arguments = WireArguments(keys: rows.lazy.map(\.rowKey))
        if entity.table.writesVersions { appendVersions(rows, to: &arguments) }
        try append(update.written, of: rows, to: &arguments)
        return WireStatement(update.sql, arguments, isKept: true)
    }
}
