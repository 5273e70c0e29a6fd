import CoreData

/// The values of a query's rows that contradict the model, counted by column and fault.
struct OddCells {
    private struct Key: Hashable {
        let entity: String
        let property: String
        let fault: CellChecks.Fault
    }

    private var findings: [Key: CellChecks.Finding] = [:]

    mutating func add(_ cells: [CellChecks.OddCell], of key: Int64) {
        for odd in cells {
            let place = Key(entity: odd.cell.entity, property: odd.cell.property, fault: odd.fault)
            let former = findings[place]
            let keys = former?.keys ?? []
            findings[place] = CellChecks.Finding(
                cell: odd.cell, fault: odd.fault, count: (former?.count ?? 0) + 1,
                keys: keys.count < 3 ? keys + [key] : keys)
        }
    }

    var sentences: [String] { findings.values.map(\.sentence).sorted() }

    /// Returns the value of a column as it is in the file, if the engine would show another value.
    static func value(of column: QueryColumn, among cells: [CellChecks.OddCell]?) -> CellValue? {
        cells?.first { $0.cell.property == column.name }.flatMap(value)
    }

    /// Returns the values of a composite attribute's elements as they are in the file, by their
    /// paths in the attribute, if the engine would show other values.
    static func elements(of column: QueryColumn, among cells: [CellChecks.OddCell]?) -> [String: CellValue] {
        let prefix = column.name + "."
        let elements = (cells ?? []).filter { $0.cell.property.hasPrefix(prefix) }.compactMap { odd in
            value(odd).map { (String(odd.cell.property.dropFirst(prefix.count)), $0) }
        }
        return Dictionary(elements, uniquingKeysWith: { first, _ in first })
    }

    private static func value(_ odd: CellChecks.OddCell) -> CellValue? {
        switch odd.fault {
        case .kind: return CellValue(odd.value)
        case .missingFile: return .null
        case .danglingKey: return nil
        }
    }
}
