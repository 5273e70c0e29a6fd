/// One statement that copies rows of a former table into a new one.
package struct SQLRowCopy {
    /// What a column of the new table gets, in terms of a row `s` of the former one.
    enum Value {
        case null
        /// A column of the former table.
        case column(String)
        /// A column of the former table, or a constant where that is nil.
        case columnOrElse(String, StoredValue, ValueKind)
        case constant(StoredValue, ValueKind)
        case sql(SQLText)
        /// By the former entity number.
        indirect case choice([(number: Int, value: Value)])

        /// The value in terms of the tables of a mapping.
        func text(_ mapping: SQLMapping) -> SQLText {
            switch self {
            case .null: SQLText("NULL")
            case .column(let name): SQLText("s." + mapping.dialect.identifier(name))
            case .columnOrElse(let name, let value, let kind):
                mapping.dialect.value(Self.column(name).text(mapping), orElse: SQLText(value: value, kind: kind))
            case .constant(let value, let kind): SQLText(value: value, kind: kind)
            case .sql(let text): text
            case .choice(let values): Self.text(of: values, mapping)
            }
        }

        private static func text(of values: [(number: Int, value: Value)], _ mapping: SQLMapping) -> SQLText {
            guard let first = values.first else { return SQLText("NULL") }
            let texts = values.map { $0.value.text(mapping) }
            // Bound values cannot be compared; without any the texts say everything.
            if values.count == 1 || texts.allSatisfy({ $0.isSame(as: texts[0]) }) { return first.value.text(mapping) }
            let cases = zip(values, texts).map { value, text in SQLText(" WHEN \(value.number) THEN ") + text }
            return "CASE s.\(mapping.dialect.identifier(mapping.naming.entity))" + SQLText.joined(cases, by: "") + " END"
        }

        /// The former column that the value is, whatever the row.
        var column: String? {
            switch self {
            case .column(let name): return name
            case .choice(let values):
                let columns = values.map(\.value.column)
                guard let first = columns.first, columns.allSatisfy({ $0 == first }) else { return nil }
                return first
            case .null, .constant, .columnOrElse, .sql: return nil
            }
        }
    }

    let target: String
    /// The former table, by its own name.
    let source: String
    private(set) var targetColumns: [String] = []
    private(set) var values: [Value] = []
    /// Which rows are copied; nil for all.
    var condition: SQLText?
    /// Whether there are no others.
    var takesAllRows = true
    /// Whether the rows are pairs of a join table: written in the order of its index, and one that is there already is no error.
    var isJoin = false
    private var name: (String) -> String = { $0 }
    private let mapping: SQLMapping
    private var dialect: any SQLDialect { mapping.dialect }

    init(target: String, source: String, _ mapping: SQLMapping) {
        self.target = target
        self.source = source
        self.mapping = mapping
    }

    mutating func add(_ column: String, _ value: Value) {
        targetColumns.append(column)
        values.append(value)
    }

    /// Whether the new table comes out exactly as the former one.
    var changesNothing: Bool {
        target == source && takesAllRows
            && zip(targetColumns, values).allSatisfy { column, value in value.column == column }
    }

    /// The same copy, reading former tables under other names.
    func reading(_ name: @escaping (String) -> String) -> SQLRowCopy {
        var copy = self
        copy.name = name
        return copy
    }

    /// The former table under the name it has while its rows are copied.
    package var sourceName: String { name(source) }

    /// How many rows to copy between two reports of progress; more where sorting them in parts would cost.
    package var rowsPerStep: Int64 { isJoin ? 250_000 : 10_000 }

    /// What numbers the former table's rows, in the order in which they lie.
    package var rowNumber: String { dialect.rowNumber(key: values.first?.column ?? mapping.naming.key) }

    /// Copies the rows whose numbers lie above the first of two bounds and not above the second, which are bound last.
    package var statement: SQLStatement {
        let columns = targetColumns.map { dialect.identifier($0) }.joined(separator: ", ")
        var rows = "SELECT " + SQLText.joined(values.map { $0.text(mapping) }, by: ", ") + " FROM " + SQLText(table: source) + " s WHERE "
        if let condition { rows = rows + condition + " AND " }
        let bound = SQLText(value: .null, kind: .int64)
        rows = rows + "s.\(rowNumber) > " + bound + " AND s.\(rowNumber) <= " + bound
        if isJoin { rows = rows + " ORDER BY 1, 2" }
        let table = dialect.identifier(target)
        let text = isJoin ? dialect.insertIfMissing(into: table, columns, rows) : "INSERT INTO \(table) (\(columns)) " + rows
        return text.statement(dialect, table: name)
    }
}

/// Sets the hidden keys of a to-many relationship without an inverse from pairs that were kept elsewhere.
///
/// A row keeps one owner. Where several had it, it stays with the one of the lowest key.
package struct SQLHiddenKeyCopy {
    /// The relationship, as `Entity.name`.
    let relationship: String
    /// Whether rows may lose owners: of a relationship without an inverse, whose rows should have had one owner before.
    let mayLoseOwners: Bool
    let target: String
    let key: String
    /// The column beside the key with the number of the entity that it leads to, and the table of that.
    let number: (column: String, table: SQLTable)?
    let position: String?
    /// The former table, by its own name, and its columns.
    let source: String
    let owner: String
    let destination: String
    let formerPosition: String?
    /// In terms of a row `s` of the former table.
    let condition: SQLText?
    private var name: (String) -> String = { $0 }
    private let mapping: SQLMapping
    private var dialect: any SQLDialect { mapping.dialect }

    init(
        _ relationship: String, _ mapping: SQLMapping, mayLoseOwners: Bool, target: String, key: String,
        number: (column: String, table: SQLTable)? = nil, position: String?, source: String, owner: String, destination: String,
        formerPosition: String?, condition: SQLText?
    ) {
        self.relationship = relationship
        self.mapping = mapping
        self.mayLoseOwners = mayLoseOwners
        self.target = target
        self.key = key
        self.number = number
        self.position = position
        self.source = source
        self.owner = owner
        self.destination = destination
        self.formerPosition = formerPosition
        self.condition = condition
    }

    /// The same, reading former tables under other names.
    func reading(_ name: @escaping (String) -> String) -> SQLHiddenKeyCopy {
        var copy = self
        copy.name = name
        return copy
    }

    /// Counts the rows that have several owners.
    var sharedRows: SQLStatement {
        let column = dialect.identifier
        var rows = "SELECT 1 FROM " + SQLText(table: source) + " s"
        if let condition { rows = rows + " WHERE " + condition }
        rows = rows + " GROUP BY s.\(column(destination)) HAVING count(DISTINCT s.\(column(owner))) > 1"
        return ("SELECT count(*) FROM " + dialect.table(of: rows)).statement(dialect, table: name)
    }

    package var statement: SQLStatement {
        let column = dialect.identifier
        var assignments = "\(column(key)) = p.owner"
        var places = ""
        if let number {
            assignments +=
                ", \(column(number.column)) = (SELECT d.\(column(mapping.naming.entity)) FROM \(column(number.table.name)) d "
                + "WHERE d.\(column(mapping.naming.key)) = p.owner)"
        }
        if let position, let formerPosition {
            assignments += ", \(column(position)) = p.place"
            let place = dialect.value("s.\(column(formerPosition))", ofRowWithLeast: "s.\(column(owner))")
            places = ", \(place) place"
        }
        var text =
            "UPDATE \(column(target)) SET \(assignments) FROM (SELECT s.\(column(destination)) row, min(s.\(column(owner))) owner\(places)"
            + " FROM " + SQLText(table: source) + " s"
        if let condition { text = text + " WHERE " + condition }
        text = text + " GROUP BY 1) p WHERE \(column(target)).\(column(mapping.naming.key)) = p.row"
        return text.statement(dialect, table: name)
    }
}

/// Gives the rows of a relationship that is ordered now their positions, in the order of their keys.
package struct SQLPositions {
    package let table: String
    /// The column by which rows belong together.
    package let owner: String
    /// The column of the keys in whose order they stand.
    package let key: String
    package let position: String

    /// The distance between neighbours, which is that of the first position from 1024.
    package static let step = 1024
}
