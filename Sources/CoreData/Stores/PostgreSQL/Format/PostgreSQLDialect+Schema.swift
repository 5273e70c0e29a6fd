// Schemas, in PostgreSQL's words.
extension PostgreSQLDialect {
    func type(_ declaration: SQLTable.Declaration) -> String {
        switch (declaration.role, declaration.column.kind) {
        case (.entity, _), (.value, .int16): "int2"
        case (.position, _), (.value, .int64), (.value, .toOne): "int8"
        case (.value, .int32): "int4"
        case (.value, .boolean): "boolean"
        case (.value, .double): "float8"
        case (.value, .float): "float4"
        case (.value, .decimal): "numeric"
        case (.value, .date): "timestamptz"
        case (.value, .uuid): "uuid"
        case (.value, .string), (.value, .uri): "text COLLATE \"C\""
        default: "bytea"
        }
    }

    func createTable(_ table: SQLTable) -> [String] {
        let naming = table.naming
        var columns = ["\(identifier(naming.key)) int8 PRIMARY KEY"]
        if let entity = table.entityColumn { columns.append("\(identifier(entity)) int2 NOT NULL") }
        columns.append("\(identifier(naming.version)) int4 NOT NULL")
        columns += table.declarations.map { "\(identifier($0.name)) \(type($0))\(requirement($0, in: table))" }
        let external = table.columns.filter { $0.type == .bytes && $0.allowsExternalStorage }.map {
            "ALTER TABLE \(identifier(table.name)) ALTER COLUMN \(identifier($0.name)) SET STORAGE EXTERNAL"
        }
        return ["CREATE TABLE \(identifier(table.name)) (\(columns.joined(separator: ", ")))"] + external
    }

    /// What a column must hold: a value, where its attribute is required in all entities of the table, or in those that have it.
    private func requirement(_ declaration: SQLTable.Declaration, in table: SQLTable) -> String {
        guard case .value = declaration.role, declaration.column.kind != .toOne else { return "" }
        var owners: [SQLEntity] = []
        for entity in table.family {
            guard let index = entity.columns.firstIndex(where: { $0 === declaration.column }) else { continue }
            let slot = entity.layout.slots[index]
            // An element is required only where its composite is there.
            if slot.isOptional || slot.isDerived || slot.isElement { return "" }
            owners.append(entity)
        }
        if owners.count == table.family.count { return " NOT NULL" }
        guard let number = table.entityColumn, !owners.isEmpty else { return "" }
        let numbers = owners.map { String($0.number) }.joined(separator: ", ")
        return " CHECK (\(identifier(number)) NOT IN (\(numbers)) OR \(identifier(declaration.name)) IS NOT NULL)"
    }

    func createTable(_ join: SQLJoinTable) -> [String] {
        let columns = join.columnNames.map { "\(identifier($0)) int8, " }.joined()
        return [
            "CREATE TABLE \(identifier(join.name)) (\(columns)PRIMARY KEY (\(identifier(join.firstColumn)), \(identifier(join.secondColumn))))"
        ]
    }

    func createIndex(_ index: SQLIndex) -> String {
        let elements = index.elements.map { element in
            identifier(element.column) + (element.isAscending.map { $0 ? " NULLS FIRST" : " DESC NULLS LAST" } ?? "")
        }
        if index.isUnique {
            let columns = index.elements.map { identifier($0.column) }.joined(separator: ", ")
            return "ALTER TABLE \(identifier(index.table)) ADD CONSTRAINT \(identifier(index.name)) UNIQUE (\(columns)) "
                + "DEFERRABLE INITIALLY IMMEDIATE"
        }
        return "CREATE INDEX \(identifier(index.name)) ON \(identifier(index.table)) (\(elements.joined(separator: ", ")))"
            + (index.condition.map { " WHERE " + $0 } ?? "")
    }

    var housekeeping: [String] { PostgreSQLHousekeeping.statements }

    /// The setting of a transaction that lists the keys of rows whose derived values its triggers have changed.
    static func touchedRows(_ table: String) -> String { "ocd.touched_" + String(SnakeCaseNaming.hash(table), radix: 16) }

    /// An attribute is set before its row is written. Rows whose attribute depends on others are written again, unchanged, after a statement
    /// that touched those.
    func triggers(_ derivation: SQLDerivation) throws -> [String] {
        guard let column = derivation.column else { return [] }
        let kind = try derivation.kind()
        let name = SnakeCaseNaming.limited("\(derivation.entity.table.name)_\(SnakeCaseNaming.words(derivation.slot.name))", to: 50)
        func trigger(_ role: String, _ event: String, _ table: String, _ body: String) -> [String] {
            let function = identifier(name + "_" + role)
            return [
                "CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE ignored text; BEGIN \(body) END $$",
                "CREATE TRIGGER \(function) \(event.replacingOccurrences(of: "%", with: identifier(table))) EXECUTE FUNCTION \(function)()",
            ]
        }
        let id = identifier(derivation.mapping.naming.key)
        var isOwn = derivation.members(row: "NEW").map { [$0] } ?? []
        // The time of the last save is not that of a change that others bring about.
        if case .now = kind {
            let version = identifier(derivation.mapping.naming.version)
            isOwn.append("(TG_OP = 'INSERT' OR NEW.\(version) IS DISTINCT FROM OLD.\(version))")
        }
        let assignment = "NEW.\(column) := \(derivation.value(of: kind, row: "NEW"));"
        let own = trigger(
            "own", "BEFORE INSERT OR UPDATE ON % FOR EACH ROW", derivation.entity.table.name,
            (isOwn.isEmpty ? assignment : "IF \(isOwn.joined(separator: " AND ")) THEN \(assignment) END IF;") + " RETURN NEW;")
        /// Rows whose value is another now are written again. Nothing is done for statements that have touched no row: triggers of tables
        /// that depend on each other would call each other for ever.
        func touched(_ table: String, _ key: String, by foreign: String) -> [String] {
            func body(_ tables: String...) -> String {
                let keys = tables.map { "SELECT \(identifier(foreign)) FROM \($0)" }.joined(separator: " UNION ")
                let setting = "'\(Self.touchedRows(derivation.entity.table.name))'"
                let isTouched = tables.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")
                let conditions =
                    ["d.\(identifier(key)) IN (\(keys))", "d.\(column) IS DISTINCT FROM \(derivation.value(of: kind, row: "d"))"]
                    + [derivation.members(row: "d")].compactMap { $0 }
                return "IF NOT (\(isTouched)) THEN RETURN NULL; END IF; "
                    + "WITH touched AS (UPDATE \(derivation.table) AS d SET \(column) = d.\(column) "
                    + "WHERE \(conditions.joined(separator: " AND ")) RETURNING d.\(id)) "
                    + "SELECT set_config(\(setting), concat_ws(',', NULLIF(current_setting(\(setting), true), ''), "
                    + "string_agg(\(id)::text, ',')), true) FROM touched INTO ignored; RETURN NULL;"
            }
            return trigger("insert", "AFTER INSERT ON % REFERENCING NEW TABLE AS now FOR EACH STATEMENT", table, body("now"))
                + trigger(
                    "update", "AFTER UPDATE ON % REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT", table,
                    body("now", "former"))
                + trigger("delete", "AFTER DELETE ON % REFERENCING OLD TABLE AS former FOR EACH STATEMENT", table, body("former"))
        }
        switch kind {
        case .now, .value(nil, _, _, _): return own
        case .value(let relationship?, _, let source, _): return own + touched(source.table.name, relationship.name, by: derivation.mapping.naming.key)
        case .count(let key, let destination), .sum(_, let key, let destination):
            return own + touched(destination.table.name, derivation.mapping.naming.key, by: key.name)
        case .joinCount(let join, let isFirst): return own + touched(join.name, derivation.mapping.naming.key, by: join.ownerColumn(isFirst: isFirst))
        }
    }

    var now: String { "now()" }
}
