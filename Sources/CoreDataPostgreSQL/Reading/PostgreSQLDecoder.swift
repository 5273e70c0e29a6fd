import CoreData

/// Decodes the columns of one statement into the slots of one entity's rows.
///
/// The steps are computed once, then followed for each row without allocation.
final class PostgreSQLDecoder {
    private enum Kind: UInt8 {
        case integer
        case floating
        case date
        case decimal
        case json
        /// Texts, bytes and identifiers.
        case bytes
        /// A text of a fixed length, padded with blanks.
        case padded
        /// A foreign key with an entity number in another column.
        case keyAndEntity
    }

    private struct Step {
        let kind: Kind
        let column: Int
        let slot: Int
        var entityColumn = -1
        var entityWord = -1
        var fallbackLayout = -1
    }

    let layout: EntityLayout
    private let steps: ContiguousArray<Step>
    /// Slots without a column, which stay null.
    private let absent: [Int]
    private let mapping: SQLMapping

    /// - Parameter columnIndex: the position of each column's name among the results of the
    ///   statement.
    init(entity: SQLEntity, mapping: SQLMapping, schema: PostgreSQLCatalog, columnIndex: [String: Int32]) {
        layout = entity.layout
        self.mapping = mapping
        var list: ContiguousArray<Step> = []
        for slot in layout.slots.prefix(layout.storedCount) {
            guard let column = entity.columns[slot.index], let index = columnIndex[column.name] else { continue }
            let kind: Kind
            switch slot.kind {
            case .int16, .int32, .int64, .boolean: kind = .integer
            case .double, .float: kind = .floating
            case .date: kind = .date
            case .decimal: kind = .decimal
            case .string, .uri:
                kind = schema.column(column.name, of: entity.table.name)?.isPadded == true ? .padded : .bytes
            case .data: kind = column.kind == .json ? .json : .bytes
            case .transformable, .uuid: kind = .bytes
            case .toOne: kind = slot.entityWord >= 0 ? .keyAndEntity : .integer
            case .composite, .toMany, .orderedToMany, .fetched, .undefined, .json: continue
            }
            var step = Step(kind: kind, column: Int(index), slot: slot.index)
            if kind == .keyAndEntity {
                step.entityWord = slot.entityWord
                step.fallbackLayout = slot.destinationIndex
                step.entityColumn = column.entityColumn.flatMap { columnIndex[$0] }.map(Int.init) ?? -1
            }
            list.append(step)
        }
        steps = list
        let present = Set(list.map(\.slot))
        absent = (0..<layout.storedCount).filter { !present.contains($0) }
    }

    /// Fills a new row.
    @inline(__always)
    func decode(_ wire: WireRow, into row: RowPointer, of page: RowPage) {
        steps.withUnsafeBufferPointer { steps in
            for step in steps {
                guard let bytes = wire.values[step.column] else {
                    page.setNull(row, step.slot)
                    if step.entityWord >= 0 { row[step.entityWord] = 0 }
                    continue
                }
                let length = wire.lengths[step.column]
                switch step.kind {
                case .integer: row[step.slot] = UInt64(bitPattern: WireValue.integer(bytes, length))
                case .floating: setDouble(WireValue.double(bytes, length), row, step.slot, page)
                case .date:
                    row[step.slot] = WireTime.seconds(ofMicroseconds: WireValue.integer(bytes, length)).bitPattern
                case .decimal: decodeDecimal(bytes, length, row, step.slot, page)
                case .json: decodeJSON(bytes, length, row, step.slot, page)
                case .bytes: page.setBytes(row, step.slot, bytes, Int(length))
                case .padded:
                    let text = UnsafeBufferPointer(start: bytes, count: Int(length)).withoutPadding
                    page.setBytes(row, step.slot, text.baseAddress, text.count)
                case .keyAndEntity:
                    row[step.slot] = UInt64(bitPattern: WireValue.integer(bytes, length))
                    row[step.entityWord] = UInt64(destination(wire, step))
                }
            }
        }
        for slot in absent { page.setNull(row, slot) }
    }

    /// NaN is no value, in every store.
    @inline(__always)
    private func setDouble(_ double: Double, _ row: RowPointer, _ slot: Int, _ page: RowPage) {
        if double.isNaN { page.setNull(row, slot) } else { row[slot] = double.bitPattern }
    }

    @inline(never)
    private func decodeDecimal(
        _ bytes: UnsafePointer<UInt8>, _ length: Int32, _ row: RowPointer, _ slot: Int, _ page: RowPage
    ) {
        guard var text = WireNumeric.text(UnsafeBufferPointer(start: bytes, count: Int(length))) else {
            return page.setNull(row, slot)
        }
        text.withUTF8 { page.setBytes(row, slot, $0.baseAddress, $0.count) }
    }

    @inline(never)
    private func decodeJSON(
        _ bytes: UnsafePointer<UInt8>, _ length: Int32, _ row: RowPointer, _ slot: Int, _ page: RowPage
    ) {
        WireValue.json(received: UnsafeBufferPointer(start: bytes, count: Int(length))).withUnsafeBufferPointer {
            page.setBytes(row, slot, $0.baseAddress, $0.count)
        }
    }

    /// Returns the entity that a reference names; the relationship's own where the store names none
    /// that the relationship may refer to.
    private func destination(_ wire: WireRow, _ step: Step) -> Int {
        let declared = step.fallbackLayout
        guard step.entityColumn >= 0, let bytes = wire.values[step.entityColumn],
            let named = mapping.layoutIndex(forNumber: WireValue.integer(bytes, wire.lengths[step.entityColumn])),
            named != declared
        else { return declared }
        let layouts = mapping.layouts.layouts
        return layouts[named].isKind(of: layouts[declared]) ? named : declared
    }
}
