/// One statement that copies rows of a former table into a new one.
struct SQLRowCopy {
    /// The value of a column of the new table, in terms of a row `s` of the former one.
    enum Value {
        case null
        /// A column of the former table.
        case column(String)
        /// A column of the former table, or a constant where that is nil.
        case columnOrElse(String, StoredValue, ValueKind)
        case constant(StoredValue, ValueKind)
        case sql(SQLText)
        /// A value for each former entity number.
        indirect case choice([(number: Int, value: Value)])

        /// Returns the value as SQL in terms of the tables of a mapping.
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
            // Texts with bound values cannot be compared. Texts without any are compared
            // completely.
            if values.count == 1 || texts.allSatisfy({ $0.isSame(as: texts[0]) }) { return first.value.text(mapping) }
            let cases = zip(values, texts).map { value, text in SQLText(" WHEN \(value.number) THEN ") + text }
            return "CASE s.\(mapping.dialect.identifier(mapping.naming.entity))" + SQLText.joined(cases, by: "")
                + " END"
        }

        /// The former column that supplies the value in every row; nil if there is none.
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
    /// The former table, by its original name.
    let source: String
    private(set) var targetColumns: [String] = []
    private(set) var values: [Value] = []
    /// The condition of the rows that are copied; nil for all rows.
    var condition: SQLText?
    /// Whether the condition leaves no rows out.
    var takesAllRows = true
    /// Whether the rows are pairs of a join table. They are written in the order of its index, and
    /// a pair that exists already is no error.
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

    /// Whether the new table equals the former one.
    var changesNothing: Bool {
        target == source && takesAllRows
            && zip(targetColumns, values).allSatisfy { column, value in value.column == column }
    }

    /// Returns the same copy, reading former tables under other names.
    func reading(_ name: @escaping (String) -> String) -> SQLRowCopy {
        var copy = self
        copy.name = name
        return copy
    }

    /// The name of the former table while its rows are copied.
    var sourceName: String { name(source) }

    /// The number of rows to copy between two progress reports; larger where sorting the rows in
    /// parts would be costly.
    var rowsPerStep: Int64 { isJoin ? 250_000 : 10_000 }

    /// The SQL that numbers the former table's rows in the order in which they are stored.
    var rowNumber: String { dialect.rowNumber(key: values.first?.column ?? mapping.naming.key) }

    /// Copies the rows whose numbers are greater than the first of two bounds and not greater than
    /// the second. The bounds are bound last.
    var statement: SQLStatement {
        let columns = targetColumns.map { dialect.identifier($0) }.joined(separator: ", ")
        var rows =
            "SELECT " + SQLText.joined(values.map { $0.text(mapping) }, by: ", ") + " FROM " + SQLText(table: source)
            + " s WHERE "
        if let condition { rows = rows + condition + " AND " }
        let bound = SQLText(value: .null, kind: .int64)
        rows = rows + "s.\(rowNumber) > " + bound + " AND s.\(rowNumber) <= " + bound
        if isJoin { rows = rows + " ORDER BY 1, 2" }
        let table = dialect.identifier(target)
        let text =
            isJoin ? dialect.insertIfMissing(into: table, columns, rows) : "INSERT INTO \(table) (\(columns)) " + rows
        return text.statement(dialect, table: name)
    }
}

/// Sets the hidden keys of a to-many relationship without an inverse from pairs that were stored
/// elsewhere.
///
/// A row keeps one owner. Of several owners, it keeps the one with the lowest key.
struct SQLHiddenKeyCopy {
    /// The relationship, as `Entity.name`.
    let relationship: String
    let mapping: SQLMapping
    /// Whether rows may lose owners, as in a relationship without an inverse, whose rows should
    /// have had one owner before.
    let mayLoseOwners: Bool
    let target: String
    let key: String
    /// The column for the entity number of the key's destination, and the destination's table.
    var number: (column: String, table: SQLTable)?
    let position: String?
    /// The former table, by its original name, and its columns.
    let source: String
    let owner: String
    let destination: String
    let formerPosition: String?
    /// The condition on a row `s` of the former table.
    let condition: SQLText?
    private(set) var name: (String) -> String = { $0 }
    private var dialect: any SQLDialect { mapping.dialect }

    /// Returns the same copy, reading former tables under other names.
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

    var statement: SQLStatement {
        let column = dialect.identifier
        var assignments = "\(column(key)) = p.owner"
        var places = ""
        if let number {
            assignments +=
                ", \(column(number.column)) = (SELECT d.\(column(mapping.naming.entity)) FROM "
                + "\(column(number.table.name)) d "
                + "WHERE d.\(column(mapping.naming.key)) = p.owner)"
        }
        if let position, let formerPosition {
            assignments += ", \(column(position)) = p.place"
            let place = dialect.value("s.\(column(formerPosition))", ofRowWithLeast: "s.\(column(owner))")
            places = ", \(place) place"
        }
        var text =
            "UPDATE \(column(target)) SET \(assignments) FROM (SELECT s.\(column(destination)) row, "
            + "min(s.\(column(owner))) owner\(places)"
            + " FROM " + SQLText(table: source) + " s"
        if let condition { text = text + " WHERE " + condition }
        text = text + " GROUP BY 1) p WHERE \(column(target)).\(column(mapping.naming.key)) = p.row"
        return text.statement(dialect, table: name)
    }
}

/// Assigns positions to the rows of a newly ordered relationship, in the order of their keys.
struct SQLPositions {
    let table: String
    /// The column by which rows belong together.
    let owner: String
    /// The column of the keys that decide the order.
    let key: String
    let position: String

    /// The distance between neighbouring positions, and between 1024 and the first position.
    static let step = 1024
}
