import Foundation

/// The alteration of a former table in place, without copying rows.
package struct SQLTableAlteration {
    package enum Table {
        case entities(SQLTable)
        case join(SQLJoinTable)

        package var name: String {
            switch self {
            case .entities(let table): table.name
            case .join(let join): join.name
            }
        }
    }

    /// The source of a column's values.
    package enum Origin {
        case nothing
        case former(String)
        /// A former column, or a constant where that is nil.
        case formerOrElse(String, StoredValue, ValueKind)
        case constant(StoredValue, ValueKind)

        package var column: String? {
            switch self {
            case .former(let name), .formerOrElse(let name, _, _): name
            case .nothing, .constant: nil
            }
        }
    }

    /// The former table, by its original name.
    package var source: String { former.name }
    package let former: Table
    package let target: Table
    /// Each column of the new table.
    package let columns: [(name: String, origin: Origin)]

    /// Creates the alteration; nil where rows have to be left out, or values have to be computed.
    init?(_ copy: SQLRowCopy, from former: SQLTable, to table: SQLTable) {
        self.init(copy, .entities(former), .entities(table))
    }

    /// Creates the alteration; nil also where the two sides of the pairs are exchanged.
    init?(_ copy: SQLRowCopy, from former: SQLJoinTable, to join: SQLJoinTable) {
        guard copy.values.first?.column == former.firstColumn else { return nil }
        self.init(copy, .join(former), .join(join))
    }

    private init?(_ copy: SQLRowCopy, _ former: Table, _ target: Table) {
        guard copy.takesAllRows else { return nil }
        var columns: [(name: String, origin: Origin)] = []
        var taken: Set<String> = []
        for (name, value) in zip(copy.targetColumns, copy.values) {
            guard let origin = Self.origin(value) else { return nil }
            if let column = origin.column, !taken.insert(column).inserted { return nil }
            columns.append((name, origin))
        }
        if case .join(let join) = target {
            for name in join.columnNames where !copy.targetColumns.contains(name) { columns.append((name, .nothing)) }
        }
        self.former = former
        self.target = target
        self.columns = columns
    }

    /// Whether the table keeps its name and all of its columns, perhaps under other names.
    ///
    /// - Parameter present: the columns that the database's table has.
    func onlyAddsColumns(to present: [String]) -> Bool {
        guard case .entities(let former) = former, case .entities(let target) = target, former.name == target.name,
            Set(columns.compactMap(\.origin.column)) == Set(present)
        else { return false }
        let (types, formerTypes) = (target.types, former.types)
        return columns.allSatisfy { name, origin in origin.column.map { formerTypes[$0] == types[name] } ?? true }
    }

    /// The columns whose names change.
    package var renamedColumns: [(former: String, name: String)] {
        columns.compactMap { name, origin in
            origin.column.flatMap { $0 == name ? nil : (former: $0, name: name) }
        }
    }

    /// Whether indexes of the table stay as they are: former columns keep their names and values.
    var keepsIndexes: Bool {
        columns.allSatisfy { name, origin in
            switch origin {
            case .nothing, .constant: true
            case .former(let former): former == name
            case .formerOrElse: false
            }
        }
    }

    private static func origin(_ value: SQLRowCopy.Value) -> Origin? {
        switch value {
        case .null: return .nothing
        case .column(let name): return .former(name)
        case .columnOrElse(let name, let value, let kind): return .formerOrElse(name, value, kind)
        case .constant(let value, let kind): return .constant(value, kind)
        case .sql: return nil
        case .choice(let values):
            let origins = values.map { origin($0.value) }
            guard let first = origins.first, let first else { return nil }
            return origins.allSatisfy { $0.map { isSame($0, first) } ?? false } ? first : nil
        }
    }

    private static func isSame(_ left: Origin, _ right: Origin) -> Bool {
        switch (left, right) {
        case (.nothing, .nothing): true
        case (.former(let left), .former(let right)): left == right
        case (.formerOrElse(let left, let value, _), .formerOrElse(let right, let other, _)):
            left == right && value == other
        case (.constant(let value, _), .constant(let other, _)): value == other
        default: false
        }
    }
}

extension SQLTable {
    /// The types of the columns, by name; those of system columns are missing.
    package var types: [String: SQLColumnType] {
        Dictionary(declarations.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    }
}
