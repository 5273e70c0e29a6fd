/// The R-tree of a spatial index, and the triggers that maintain it.
struct SpatialIndexTable {
    private let index: SQLSpatialIndex
    private let name: String
    private var entity: SQLEntity { index.entity }
    private var table: String { SQLiteDialect.identifier(entity.table.name) }

    private static let prefix = "Z_RT_"

    /// - Returns: nil where the name needs quotes: such a table would not be recognized as an
    ///   R-tree of Core Data.
    init?(_ index: SQLSpatialIndex) {
        let name = "\(Self.prefix)\(index.entity.layout.name)_\(index.name)"
        guard SQLiteDialect.identifier(name) == name else { return nil }
        self.index = index
        self.name = name
    }

    /// Whether a statement creates such a table.
    static func isMade(by statement: String) -> Bool {
        let words = statement.split(separator: " ", maxSplits: 6)
        return words.count > 5 && words[..<3] == ["CREATE", "VIRTUAL", "TABLE"] && words[3].hasPrefix(prefix)
            && words[4] == "USING"
            && words[5] == "RTREE"
    }

    /// The statements that create the table and its triggers.
    func statements() -> [String] {
        let bounds = index.columns.flatMap { [column($0) + "_MIN", column($0) + "_MAX"] }
        let changed = index.columns.map(column).joined(separator: ", ")
        let replacement =
            "INSERT OR REPLACE INTO \(name) (Z_PK, \(bounds.joined(separator: ", "))) VALUES (\(values("NEW.")))"
        return [
            "CREATE VIRTUAL TABLE \(name) USING RTREE (Z_PK INTEGER PRIMARY KEY, "
                + "\(bounds.map { $0 + " FLOAT" }.joined(separator: ", ")))",
            trigger("INSERT", "INSERT", members("NEW."), replacement),
            trigger("UPDATE", "UPDATE OF \(changed)", members("NEW."), replacement),
            trigger("DELETE", "DELETE", nil, "DELETE FROM \(name) WHERE Z_PK = OLD.Z_PK"),
        ]
    }

    /// The statement that fills the table from the existing rows.
    func filling() -> String {
        "INSERT INTO \(name) SELECT \(values("")) FROM \(table)" + (members("").map { " WHERE " + $0 } ?? "")
    }

    private func column(_ column: SQLColumn) -> String { SQLiteDialect.identifier(column.name) }

    private func values(_ row: String) -> String {
        (["\(row)Z_PK"] + index.columns.flatMap { [row + column($0), row + column($0)] }).joined(separator: ", ")
    }

    private func members(_ row: String) -> String? {
        guard entity.layout.superIndex >= 0 else { return nil }
        let numbers = entity.layout.familyIndexes.compactMap { index in
            entity.table.family.first { $0.layout.index == index }?.number
        }
        return "\(row)Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }

    private func trigger(_ role: String, _ event: String, _ condition: String?, _ body: String) -> String {
        let when = condition.map { "WHEN (\($0)) " } ?? ""
        return "CREATE TRIGGER \(name)_\(role) AFTER \(event) ON \(table) FOR EACH ROW \(when)BEGIN \(body) ; END"
    }
}

extension SQLiteConnection {
    /// Lets triggers write R-trees, if the schema contains nothing else that needs trust.
    ///
    /// SQLite allows this only with a trusted schema. The schema is trusted if it has no view and
    /// no other virtual table. Triggers cannot call functions with side effects in any case.
    func trustSpatialIndexes() throws {
        var made: [String] = []
        try query("SELECT sql FROM sqlite_master WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL TABLE%'") { row in
            made.append(row.string(0) ?? "")
        }
        trustsSchema = !made.isEmpty && made.allSatisfy(SpatialIndexTable.isMade)
    }
}
