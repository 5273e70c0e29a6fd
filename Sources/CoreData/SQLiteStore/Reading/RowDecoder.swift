import CSQLite
import Foundation

/// Decodes the result columns of one statement into the slots of one entity's rows.
///
/// The steps are computed once, then followed for each row without allocation.
final class RowDecoder {
    enum Kind: UInt8 {
        case integer
        case floating
        case text
        /// A number of any storage class, or text, kept as text.
        case decimal
        case bytes
        /// A foreign key whose destination's entity is fixed.
        case key
        /// A foreign key with an entity number in another column.
        case keyAndEntity
        /// Bytes after a leading byte that says where they are stored.
        case external
    }

    struct Step {
        let kind: Kind
        let column: Int32
        let slot: Int32
        var entityColumn: Int32 = -1
        var entityWord: Int32 = -1
        var fallbackLayout: Int32 = -1
    }

    let layout: EntityLayout
    private let steps: UnsafeMutablePointer<Step>
    private let stepCount: Int
    private let mapping: SQLMapping
    private let externalFiles: ExternalFiles?

    /// - Parameter columnIndex: the position of each column's name among the results of the
    ///   statement.
    init(entity: SQLEntity, mapping: SQLMapping, externalFiles: ExternalFiles?, columnIndex: [String: Int32]) {
        layout = entity.layout
        self.mapping = mapping
        self.externalFiles = externalFiles
        var list: [Step] = []
        for slot in layout.slots.prefix(layout.storedCount) {
            guard let column = entity.columns[slot.index], let index = columnIndex[column.name] else { continue }
            let kind: Kind
            switch slot.kind {
            case .int16, .int32, .int64, .boolean: kind = .integer
            case .double, .float, .date: kind = .floating
            case .decimal: kind = .decimal
            case .string, .uri: kind = .text
            case .data, .json, .transformable, .uuid: kind = column.allowsExternalStorage ? .external : .bytes
            case .toOne: kind = slot.entityWord >= 0 ? .keyAndEntity : .key
            case .composite, .toMany, .orderedToMany, .fetched, .undefined: continue
            }
            var step = Step(kind: kind, column: index, slot: Int32(slot.index))
            if kind == .keyAndEntity {
                step.entityWord = Int32(slot.entityWord)
                step.fallbackLayout = Int32(slot.destinationIndex)
                step.entityColumn = column.entityColumn.flatMap { columnIndex[$0] } ?? -1
            }
            list.append(step)
        }
        // Slots without a column stay null.
        let present = Set(list.map { Int($0.slot) })
        absent = (0..<layout.storedCount).filter { !present.contains($0) }
        steps = .allocate(capacity: list.count)
        steps.initialize(from: list, count: list.count)
        stepCount = list.count
    }

    private let absent: [Int]

    deinit { steps.deallocate() }

    /// Fills a new row from the statement's current one.
    ///
    /// A value that needs more than one call is read once with `sqlite3_column_value`: each
    /// `sqlite3_column` function looks up the column and clears the connection's error again. Such
    /// a value may be read while no other thread uses the connection. Connections are opened
    /// without their own mutex, and each is used by one thread at a time.
    @inline(__always)
    func decode(_ statement: OpaquePointer, into row: RowPointer, of page: RowPage) {
        var step = steps
        let end = steps + stepCount
        while step != end {
            let slot = Int(truncatingIfNeeded: step.pointee.slot)
            let column = step.pointee.column
            switch step.pointee.kind {
            case .integer, .key:
                let value = sqlite3_column_int64(statement, column)
                if value == 0, sqlite3_column_type(statement, column) == SQLITE_NULL {
                    page.setNull(row, slot)
                } else {
                    row[slot] = UInt64(bitPattern: value)
                }
            case .floating:
                let value = sqlite3_column_double(statement, column)
                if value == 0, sqlite3_column_type(statement, column) == SQLITE_NULL {
                    page.setNull(row, slot)
                } else {
                    row[slot] = value.bitPattern
                }
            case .text:
                let value = sqlite3_column_value(statement, column)
                if let text = sqlite3_value_text(value) {
                    page.setBytes(row, slot, text, Int(truncatingIfNeeded: sqlite3_value_bytes(value)))
                } else {
                    page.setNull(row, slot)
                }
            case .decimal: decodeDecimal(statement, column, slot, row, page)
            case .bytes:
                let value = sqlite3_column_value(statement, column)
                let bytes = sqlite3_value_blob(value)
                if bytes == nil, sqlite3_value_type(value) == SQLITE_NULL {
                    page.setNull(row, slot)
                } else {
                    page.setBytes(row, slot, bytes, Int(truncatingIfNeeded: sqlite3_value_bytes(value)))
                }
            case .keyAndEntity: decodeKeyAndEntity(statement, step.pointee, row, page)
            case .external:
                decodeExternal(statement, column, slot, row, page)
            }
            step += 1
        }
        if !absent.isEmpty { for slot in absent { page.setNull(row, slot) } }
    }

    /// The entity that a reference names.
    ///
    /// The relationship's own destination where the store names no entity of the destination's
    /// hierarchy.
    @inline(__always)
    private func destination(_ number: Int64, _ declared: Int) -> Int {
        guard let named = mapping.layoutIndex(forNumber: number), named != declared else { return declared }
        let layouts = mapping.layouts.layouts
        return layouts[named].isKind(of: layouts[declared]) ? named : declared
    }

    @inline(never)
    private func decodeKeyAndEntity(_ statement: OpaquePointer, _ step: Step, _ row: RowPointer, _ page: RowPage) {
        let value = sqlite3_column_int64(statement, step.column)
        let slot = Int(truncatingIfNeeded: step.slot)
        let word = Int(truncatingIfNeeded: step.entityWord)
        if value == 0, sqlite3_column_type(statement, step.column) == SQLITE_NULL {
            page.setNull(row, slot)
            row[word] = 0
        } else {
            row[slot] = UInt64(bitPattern: value)
            let number = step.entityColumn >= 0 ? sqlite3_column_int64(statement, step.entityColumn) : -1
            row[word] = UInt64(destination(number, Int(step.fallbackLayout)))
        }
    }

    @inline(never)
    private func decodeDecimal(
        _ statement: OpaquePointer, _ column: Int32, _ slot: Int, _ row: RowPointer, _ page: RowPage
    ) {
        if sqlite3_column_type(statement, column) == SQLITE_FLOAT {
            var text = DecimalText.text(of: sqlite3_column_double(statement, column))
            text.withUTF8 { page.setBytes(row, slot, $0.baseAddress, $0.count) }
        } else if let text = sqlite3_column_text(statement, column) {
            page.setBytes(row, slot, text, Int(sqlite3_column_bytes(statement, column)))
        } else {
            page.setNull(row, slot)
        }
    }

    @inline(never)
    private func decodeExternal(
        _ statement: OpaquePointer, _ column: Int32, _ slot: Int, _ row: RowPointer, _ page: RowPage
    ) {
        guard let bytes = sqlite3_column_blob(statement, column) else {
            if sqlite3_column_type(statement, column) == SQLITE_NULL {
                page.setNull(row, slot)
            } else {
                page.setBytes(row, slot, nil, 0)
            }
            return
        }
        let raw = UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column)))
        switch raw.first {
        case ExternalColumn.inlineMarker?:
            page.setBytes(row, slot, raw.baseAddress.map { $0 + 1 }, raw.count - 1)
        case ExternalColumn.fileMarker?:
            do {
                guard let content = try externalFiles?.content(named: raw.dropFirst()) else {
                    return page.setNull(row, slot)
                }
                content.withUnsafeBytes { page.setBytes(row, slot, $0.baseAddress, $0.count) }
            } catch {
                page.setNull(row, slot)
                page.failure = error
            }
        default:
            page.setBytes(row, slot, raw.baseAddress, raw.count)
        }
    }
}
