import Foundation

/// Whether a store whose metadata do not say which model it was made with can be of a model: judged by its tables, columns, entity
/// numbers and rows.
struct SQLiteStoreFit {
    let mapping: SQLMapping
    let schema: SQLiteSchemaReader
    let connection: SQLiteConnection

    /// Numbers from here on are those of the framework's own tables.
    private static let firstOwnNumber = 16_000

    /// What keeps the store from being of the model, in words; empty when it fits. Looks at every row's entity number.
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

    /// Columns that hold something else than the attribute's type would be kept in.
    private func wrongTypes() throws -> [String] {
        var problems: [String] = []
        for table in mapping.tables {
            var declared: [String: String] = [:]
            try connection.query("SELECT name, upper(type) FROM pragma_table_info(?)", [.string(table.name)]) { row in
                if let name = row.string(0) { declared[name] = row.string(1) }
            }
            for column in table.declarations {
                let type = column.type.declaration
                guard let found = declared[column.name], let group = Group(found), group != Group(type) else { continue }
                problems.append("\(table.name).\(column.name) as \(type) (it is \(found))")
            }
        }
        return problems
    }

    /// What SQLite makes of values in a column.
    private enum Group {
        case number, text, bytes

        /// Nil for a column without a type, which may hold anything. By SQLite's rules for column affinity.
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

    /// Objects that the model would not know of: their relationships to others would be left dangling.
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
