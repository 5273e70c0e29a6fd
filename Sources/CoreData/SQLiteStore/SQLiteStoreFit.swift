import Foundation

/// Checks whether a store whose metadata do not name its model can belong to a model.
///
/// Tables, columns, entity numbers and rows decide.
struct SQLiteStoreFit {
    let mapping: SQLMapping
    let schema: SQLiteSchemaReader
    let connection: SQLiteConnection

    /// The first number of the framework's own tables.
    private static let firstOwnNumber = 16_000

    /// Returns the reasons why the store cannot belong to the model, as text; empty when it fits.
    ///
    /// Reads every row's entity number.
    func problems() throws -> [String] {
        try missingEntities() + wrongTypes() + unknownObjects()
    }

    private func missingEntities() -> [String] {
        let missing = mapping.layouts.layouts.filter { layout in
            mapping.entity(layout) != nil && schema.entityNumbers[layout.name] == nil
                && layout.entity.renamingIdentifier.flatMap { schema.entityNumbers[$0] } == nil
        }
        return missing.map { "the entity '\($0.name)' in Z_PRIMARYKEY" }
    }

    /// Columns whose declared type differs from the type for the attribute.
    private func wrongTypes() throws -> [String] {
        var problems: [String] = []
        for table in mapping.tables {
            var declared: [String: String] = [:]
            try connection.query("SELECT name, upper(type) FROM pragma_table_info(?)", [.string(table.name)]) { row in
                if let name = row.string(0) { declared[name] = row.string(1) }
            }
            for column in table.declarations {
                let type = column.type.declaration
                guard let found = declared[column.name], let group = Group(found), group != Group(type) else {
                    continue
                }
                problems.append("\(table.name).\(column.name) as \(type) (it is \(found))")
            }
        }
        return problems
    }

    /// The kind of values that SQLite stores in a column.
    private enum Group {
        case number, text, bytes

        /// Nil for a column without a type, which may hold anything. By SQLite's rules for column
        /// affinity.
        init?(_ type: String) {
            if type.isEmpty { return nil }
            if type.contains("INT") {
                self = .number
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                self = .text
            } else {
                self = type.contains("BLOB") ? .bytes : .number
            }
        }
    }

    /// Objects of entities that the model lacks: their relationships to other objects would be left
    /// dangling.
    private func unknownObjects() throws -> [String] {
        let known = mapping.entities.compactMap { $0.map { String($0.number) } }.joined(separator: ", ")
        let names = Dictionary(schema.entityNumbers.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        var problems: [String] = []
        for (table, columns) in schema.columns.sorted(by: { $0.key < $1.key })
        where table.hasPrefix("Z") && columns.starts(with: ["Z_PK", "Z_ENT", "Z_OPT"]) {
            try connection.query(
                "SELECT Z_ENT, count(*) FROM \(SQLSchema.identifier(table)) "
                    + "WHERE Z_ENT < \(Self.firstOwnNumber) AND Z_ENT NOT IN (\(known)) GROUP BY Z_ENT"
            ) { row in
                let number = row.int64(0)
                let entity = Int(exactly: number).flatMap { names[$0] }.map { "'\($0)'" } ?? "number \(number)"
                problems.append("an entity for the \(row.int64(1)) object(s) of \(entity) in \(table)")
            }
        }
        return problems
    }
}
