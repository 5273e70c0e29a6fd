/// One statement that copies rows of a former table into a new one.
struct SQLRowCopy {
    /// What a column of the new table gets, in terms of a row `s` of the former one.
    enum Value {
        case null
        /// A column of the former table.
        case column(String)
        case sql(SQLText)
        /// By the former entity number.
        indirect case choice([(number: Int, value: Value)])

        var text: SQLText {
            switch self {
            case .null: SQLText("NULL")
            case .column(let name): SQLText("s." + SQLSchema.identifier(name))
            case .sql(let text): text
            case .choice(let values): Self.text(of: values)
            }
        }

        private static func text(of values: [(number: Int, value: Value)]) -> SQLText {
            guard let first = values.first else { return SQLText("NULL") }
            let texts = values.map(\.value.text)
            // Bound values cannot be compared; without any the texts say everything.
            if values.count == 1 || texts.allSatisfy({ $0.arguments.isEmpty && $0.sql == texts[0].sql }) {
                return first.value.text
            }
            let cases = zip(values, texts).map { value, text in SQLText(" WHEN \(value.number) THEN ") + text }
            return "CASE s.Z_ENT" + SQLText.joined(cases, by: "") + " END"
        }
    }

    let target: String
    /// The former table, by its own name.
    let source: String
    private(set) var targetColumns: [String] = []
    private var values: [Value] = []
    /// Which rows are copied; nil for all.
    var condition: SQLText?
    /// Whether there are no others.
    var takesAllRows = true
    /// Whether the rows are pairs of a join table: written in the order of its index, and one that is there already is no error.
    var isJoin = false
    private var name: (String) -> String = { $0 }

    init(target: String, source: String) {
        self.target = target
        self.source = source
    }

    mutating func add(_ column: String, _ value: Value) {
        targetColumns.append(column)
        values.append(value)
    }

    /// Whether the new table comes out exactly as the former one.
    var changesNothing: Bool {
        target == source && takesAllRows
            && zip(targetColumns, values).allSatisfy { column, value in
                let text = value.text
                return text.arguments.isEmpty && text.sql == "s." + SQLSchema.identifier(column)
            }
    }

    /// Stands in expressions for the place of a former table, which is known later.
    static func place(_ table: String) -> String { "\u{1}\(table)\u{1}" }

    /// The same copy, reading former tables under other names.
    func reading(_ name: @escaping (String) -> String) -> SQLRowCopy {
        var copy = self
        copy.name = name
        return copy
    }

    /// The former table under the name it has while its rows are copied.
    var sourceName: String { name(source) }

    /// How many rows to copy between two reports of progress; more where sorting them in parts would cost.
    var rowsPerStep: Int64 { isJoin ? 250_000 : 10_000 }

    /// Copies the rows whose row IDs lie above the first of two bounds and not above the second, which are bound last.
    var statement: SQLText {
        let columns = targetColumns.map(SQLSchema.identifier).joined(separator: ", ")
        var text = SQLText.joined(values.map(\.text), by: ", ")
        text =
            "INSERT \(isJoin ? "OR IGNORE " : "")INTO \(SQLSchema.identifier(target)) (\(columns)) SELECT " + text
            + " FROM \(SQLSchema.identifier(sourceName)) s WHERE "
        if let condition { text = text + condition + " AND " }
        text = text + "s.rowid > ? AND s.rowid <= ?"
        if isJoin { text = text + " ORDER BY 1, 2" }
        text.sql = Self.resolved(text.sql, name)
        return text
    }

    /// A statement in which former tables have the names under which they are read.
    fileprivate static func resolved(_ sql: String, _ name: (String) -> String) -> String {
        let parts = sql.split(separator: "\u{1}", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            index % 2 == 0 ? String(part) : SQLSchema.identifier(name(String(part)))
        }.joined()
    }
}

/// Sets the hidden keys of a to-many relationship without an inverse from pairs that were kept elsewhere.
///
/// A row keeps one owner. Where several had it, it stays with the one of the lowest key.
struct SQLHiddenKeyCopy {
    /// The relationship, as `Entity.name`.
    let relationship: String
    /// Whether rows may lose owners: of a relationship without an inverse, whose rows should have had one owner before.
    let mayLoseOwners: Bool
    let target: String
    let key: String
    let position: String?
    /// The former table, by its own name, and its columns.
    let source: String
    let owner: String
    let destination: String
    let formerPosition: String?
    /// In terms of a row `s` of the former table.
    let condition: SQLText?
    private var name: (String) -> String = { $0 }

    init(
        _ relationship: String, mayLoseOwners: Bool, target: String, key: String, position: String?, source: String,
        owner: String, destination: String, formerPosition: String?, condition: SQLText?
    ) {
        self.relationship = relationship
        self.mayLoseOwners = mayLoseOwners
        self.target = target
        self.key = key
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
    var sharedRows: SQLText {
        let column = SQLSchema.identifier
        var text = SQLText("SELECT count(*) FROM (SELECT 1 FROM \(column(name(source))) s")
        if let condition { text = text + " WHERE " + condition }
        text = text + " GROUP BY s.\(column(destination)) HAVING count(DISTINCT s.\(column(owner))) > 1)"
        text.sql = SQLRowCopy.resolved(text.sql, name)
        return text
    }

    var statement: SQLText {
        let column = SQLSchema.identifier
        var assignments = "\(column(key)) = p.owner"
        var places = ""
        if let position, let formerPosition {
            assignments += ", \(column(position)) = p.place"
            // SQLite takes it from the row with the lowest owner.
            places = ", s.\(column(formerPosition)) place"
        }
        var text =
            SQLText("UPDATE \(column(target)) SET \(assignments) FROM (SELECT s.\(column(destination)) row, ")
            + SQLText("min(s.\(column(owner))) owner\(places) FROM \(column(name(source))) s")
        if let condition { text = text + " WHERE " + condition }
        text = text + " GROUP BY 1) p WHERE \(column(target)).Z_PK = p.row"
        text.sql = SQLRowCopy.resolved(text.sql, name)
        return text
    }
}

/// Gives the rows of a relationship that is ordered now their positions, in the order of their keys.
struct SQLPositions {
    let table: String
    /// The column by which rows belong together.
    let owner: String
    let position: String

    /// Positions begin at 2048 and step by 1024, as Core Data sets them.
    ///
    /// They go through a temporary table, so that both tables are read and written in the order of their rows.
    var statements: [String] {
        let table = SQLSchema.identifier(table)
        let owner = SQLSchema.identifier(owner)
        let places = "temp.places_of_rows"
        return [
            "CREATE TABLE \(places) (row INTEGER PRIMARY KEY, place INTEGER)",
            "INSERT INTO \(places) SELECT rowid, 1024 + 1024 * row_number() OVER (PARTITION BY \(owner) ORDER BY rowid) "
                + "FROM \(table) WHERE \(owner) IS NOT NULL ORDER BY rowid",
            "UPDATE \(table) SET \(SQLSchema.identifier(position)) = (SELECT place FROM \(places) p WHERE p.row = \(table).rowid) "
                + "WHERE \(owner) IS NOT NULL",
            "DROP TABLE \(places)",
        ]
    }
}
