import CoreData

/// Alters a former table, which was renamed out of the way, and gives it its new name.
struct PostgreSQLAlteration {
    private typealias Column = PostgreSQLDialect.Column

    private let alteration: SQLTableAlteration
    private let connection: PostgreSQLConnection
    private let dialect = PostgreSQLDialect()
    /// The table's present name, quoted.
    private let table: String
    private let former: [String: Column]
    private let target: [Column]
    private let origins: [String: SQLTableAlteration.Origin]

    init(_ alteration: SQLTableAlteration, _ connection: PostgreSQLConnection) {
        self.alteration = alteration
        self.connection = connection
        table = PostgreSQLDialect().identifier(SQLMigrationPlan.formerName(alteration.source))
        former = Dictionary(
            Self.columns(alteration.former).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        target = Self.columns(alteration.target)
        origins = Dictionary(alteration.columns.map { ($0.name, $0.origin) }, uniquingKeysWith: { first, _ in first })
    }

    private static func columns(_ table: SQLTableAlteration.Table) -> [Column] {
        switch table {
        case .entities(let table): PostgreSQLDialect().columns(of: table)
        case .join(let join): PostgreSQLDialect().columns(of: join)
        }
    }

    func run() throws {
        try alter(dropsOfChecks())
        try alter(dropsOfColumns())
        try rename()
        try alter(changesOfTypes())
        try add()
        try fill()
        try alter(requirements())
        try alter(
            target.compactMap { column in
                guard let check = column.check, !keeps(check, of: column) else { return nil }
                return "ADD " + dialect.addCheck(check)
            })
        try alter(
            target.filter { $0.isExternal != (origin($0)?.isExternal ?? false) }.map {
                "ALTER COLUMN \(dialect.identifier($0.name)) SET STORAGE \($0.isExternal ? "EXTERNAL" : "EXTENDED")"
            })
        try takeName()
    }

    private func alter(_ actions: [String]) throws {
        if !actions.isEmpty { try connection.wire.run("ALTER TABLE \(table) " + actions.joined(separator: ", ")) }
    }

    /// Returns the former column that becomes a column of the new table.
    private func origin(_ column: Column) -> Column? { origins[column.name]?.column.flatMap { former[$0] } }

    /// Whether a check exists already: its column must have kept its name.
    private func keeps(_ check: (name: String, condition: String), of column: Column) -> Bool {
        guard let origin = origin(column), origin.name == column.name else { return false }
        return origin.check?.name == check.name && origin.check?.condition == check.condition
    }

    private func dropsOfChecks() -> [String] {
        former.values.compactMap { column in
            guard let check = column.check else { return nil }
            let stays = target.contains { $0.check.map { $0 == check } ?? false && keeps(check, of: $0) }
            if stays { return nil }
            return "DROP CONSTRAINT IF EXISTS \(dialect.identifier(check.name))"
        }.sorted()
    }

    private func dropsOfColumns() -> [String] {
        let used = Set(target.compactMap { origin($0)?.name })
        return former.keys.sorted().filter { !used.contains($0) }.map { "DROP COLUMN \(dialect.identifier($0))" }
    }

    /// Renames columns in two steps, because columns may swap their names.
    private func rename() throws {
        let renamed = target.compactMap { column in origin(column).map { ($0.name, column.name) } }.filter {
            $0.0 != $0.1
        }
        func statement(_ from: String, _ to: String) -> String {
            "ALTER TABLE \(table) RENAME COLUMN \(dialect.identifier(from)) TO \(dialect.identifier(to))"
        }
        let steps =
            renamed.enumerated().map { statement($1.0, SQLMigrationPlan.formerName("\($0)")) }
            + renamed.enumerated().map { statement(SQLMigrationPlan.formerName("\($0)"), $1.1) }
        if !steps.isEmpty { try connection.wire.run(steps.joined(separator: "; ")) }
    }

    private func changesOfTypes() -> [String] {
        target.compactMap { column in
            guard let origin = origin(column), origin.type != column.type else { return nil }
            return "ALTER COLUMN \(dialect.identifier(column.name)) TYPE \(column.type)"
        }
    }

    /// Adds new columns. A constant is not written into the existing rows: the server remembers it
    /// for them.
    private func add() throws {
        var (additions, standards): ([String], [String]) = ([], [])
        for column in target where origin(column) == nil {
            var definition = column
            guard case .constant(let value, let kind)? = origins[column.name] else {
                definition.isRequired = false
                additions.append("ADD COLUMN " + dialect.definition(definition))
                continue
            }
            let literal = try literal(value, kind, column)
            additions.append("ADD COLUMN \(dialect.definition(column)) DEFAULT \(literal)::\(column.type)")
            standards.append("ALTER COLUMN \(dialect.identifier(column.name)) DROP DEFAULT")
        }
        try alter(additions)
        try alter(standards)
    }

    /// Returns a constant as an SQL literal that the server wrote.
    private func literal(_ value: StoredValue, _ kind: ValueKind, _ column: Column) throws -> String {
        let statement = try PostgreSQLMigration.wire(
            "SELECT quote_literal(CAST($1 AS \(column.type))::text)", [SQLArgument(value, kind: kind)])
        return try connection.texts(statement).last ?? "NULL"
    }

    /// Gives rows without a value the default of an attribute that is required now.
    private func fill() throws {
        for column in target {
            guard case .formerOrElse(_, let value, let kind)? = origins[column.name] else { continue }
            let name = dialect.identifier(column.name)
            try connection.execute(
                PostgreSQLMigration.wire(
                    "UPDATE \(table) SET \(name) = $1 WHERE \(name) IS NULL", [SQLArgument(value, kind: kind)]))
        }
    }

    private func requirements() -> [String] {
        target.compactMap { column in
            let name = dialect.identifier(column.name)
            var wasRequired = origin(column)?.isRequired ?? false
            if case .constant? = origins[column.name] { wasRequired = column.isRequired }
            if column.isRequired == wasRequired { return nil }
            return "ALTER COLUMN \(name) \(column.isRequired ? "SET" : "DROP") NOT NULL"
        }
    }

    private func takeName() throws {
        let name = alteration.target.name
        try connection.wire.run("ALTER TABLE \(table) RENAME TO \(dialect.identifier(name))")
        guard name != alteration.source else { return }
        var arguments = WireArguments(text: dialect.identifier(name))
        arguments.append(text: name + "_pkey")
        let statement = try connection.texts(
            WireStatement(
                "SELECT format('ALTER INDEX %I RENAME TO %I', conname, $2) FROM pg_catalog.pg_constraint "
                    + "WHERE conrelid = $1::regclass AND contype = 'p'", arguments)
        ).last
        if let statement { try connection.wire.run(statement) }
    }
}
