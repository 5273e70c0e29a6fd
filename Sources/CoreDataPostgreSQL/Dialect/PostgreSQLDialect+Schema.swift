import CoreData

// Schemas, in PostgreSQL's SQL.
extension PostgreSQLDialect {
    struct Column {
        let name: String
        let type: String
        var isRequired = false
        /// The name and the condition of a constraint on the rows.
        var check: (name: String, condition: String)?
        var isExternal = false

        var isText: Bool { type == "text" }
    }

    private func type(_ declaration: SQLTable.Declaration) -> String {
        switch declaration.role {
        case .entity: "int2"
        case .position: "int8"
        case .value: type(declaration.column.kind)
        }
    }

    private func type(_ kind: ValueKind) -> String {
        switch kind {
        case .int16: "int2"
        case .int64, .toOne: "int8"
        case .int32: "int4"
        case .boolean: "boolean"
        case .double: "float8"
        case .float: "float4"
        case .decimal: "numeric"
        case .date: "timestamptz"
        case .uuid: "uuid"
        case .string, .uri: "text"
        case .json: "jsonb"
        default: "bytea"
        }
    }

    func createSpatialIndex(_ index: SQLSpatialIndex) -> [String] { [] }

    // Numbers are cast where they are assigned. Booleans can be cast only to integers of 32 bits.
    func number(_ value: SQLText, of kind: ValueKind, as wider: ValueKind) -> SQLText? {
        kind == .boolean ? "CAST(CAST(" + value + " AS int4) AS \(type(wider)))" : nil
    }

    /// Returns the columns after the key.
    func columns(of table: SQLTable) -> [Column] {
        var columns: [Column] = []
        if let entity = table.entityColumn { columns.append(Column(name: entity, type: "int2", isRequired: true)) }
        columns.append(Column(name: table.naming.version, type: "int4", isRequired: true))
        for declaration in table.declarations {
            var column = Column(name: declaration.name, type: type(declaration))
            if case .value = declaration.role, declaration.column.kind != .toOne {
                switch requirement(of: declaration.column, in: table) {
                case .none: break
                case .always: column.isRequired = true
                case .check(let name, let condition): column.check = (name, condition)
                }
                column.isExternal = declaration.type == .bytes && declaration.column.allowsExternalStorage
            }
            columns.append(column)
        }
        return columns
    }

    func columns(of join: SQLJoinTable) -> [Column] { join.columnNames.map { Column(name: $0, type: "int8") } }

    /// The rows in which a column must hold a value.
    enum Requirement {
        case none
        case always
        /// In the rows of some entities.
        case check(name: String, condition: String)
    }

    /// Returns the rows in which a column must hold a value: all rows where the property is
    /// required in all entities of the table, or those of the entities that have it.
    func requirement(of column: SQLColumn, in table: SQLTable) -> Requirement {
        var owners: [SQLEntity] = []
        for entity in table.family {
            guard let index = entity.columns.firstIndex(where: { $0 === column }) else { continue }
            let slot = entity.layout.slots[index]
            // An element is required only where its composite has a value.
            if slot.isOptional || slot.isDerived || slot.isElement { return .none }
            owners.append(entity)
        }
        if owners.count == table.family.count { return .always }
        guard let number = table.entityColumn, !owners.isEmpty else { return .none }
        let numbers = owners.map(\.number).sorted().map(String.init).joined(separator: ", ")
        return .check(
            name: SnakeCaseNaming.limited("\(table.name)_\(column.name)_check"),
            condition: "\(identifier(number)) NOT IN (\(numbers)) OR \(identifier(column.name)) IS NOT NULL")
    }

    func definition(_ column: Column) -> String {
        "\(identifier(column.name)) \(column.type)" + (column.isText ? " COLLATE \"C\"" : "")
            + (column.isRequired ? " NOT NULL" : "")
    }

    func addCheck(_ check: (name: String, condition: String)) -> String {
        "CONSTRAINT \(identifier(check.name)) CHECK (\(check.condition))"
    }

    /// Returns the statements by which values that are too large for their rows are stored
    /// uncompressed.
    func columnForms(of table: SQLTable) -> [String] {
        columns(of: table).filter(\.isExternal).map { setExternal($0, of: table.name) }
    }

    func setExternal(_ column: Column, of table: String) -> String {
        "ALTER TABLE \(identifier(table)) ALTER COLUMN \(identifier(column.name)) SET STORAGE EXTERNAL"
    }

    func createTable(_ table: SQLTable) -> [String] {
        let columns = columns(of: table)
        let all =
            ["\(identifier(table.naming.key)) int8 PRIMARY KEY"] + columns.map(definition)
            + columns.compactMap { $0.check.map(addCheck) }
        return ["CREATE TABLE \(identifier(table.name)) (\(all.joined(separator: ", ")))"]
    }

    func createTable(_ join: SQLJoinTable) -> [String] {
        let columns = columns(of: join).map { definition($0) + ", " }.joined()
        return [
            "CREATE TABLE \(identifier(join.name)) (\(columns)PRIMARY KEY (\(identifier(join.firstColumn)), "
                + "\(identifier(join.secondColumn))))"
        ]
    }

    func createIndex(_ index: SQLIndex) -> String {
        if index.isUnique {
            let columns = index.elements.map { identifier($0.column) }.joined(separator: ", ")
            return
                "ALTER TABLE \(identifier(index.table)) ADD CONSTRAINT \(identifier(index.name)) "
                + "UNIQUE (\(columns)) DEFERRABLE INITIALLY IMMEDIATE"
        }
        let elements = index.elements.map { indexed($0, findsParts: index.findsParts) }.joined(separator: ", ")
        return
            "CREATE INDEX \(identifier(index.name)) ON \(identifier(index.table)) "
            + "\(index.findsParts ? "USING gin " : "")(\(elements))"
            + (index.condition.map { " WHERE " + $0 } ?? "")
    }

    /// Returns an element of an index, written as in the conditions and orders that are to use the
    /// index.
    private func indexed(_ element: SQLIndex.Element, findsParts: Bool) -> String {
        let column = SQLText(identifier(element.column))
        let value =
            switch element.form {
            case nil: column
            case .folded(let options)?: findsParts ? composed(column, options) : folded(column, options)
            case .ordered(let collation)?: ordered(column, collation)
            }
        if findsParts { return value.statement(self).sql + " " + (trigrams ?? "") }
        return value.statement(self).sql + (element.isAscending.map { $0 ? " NULLS FIRST" : " DESC NULLS LAST" } ?? "")
    }

    func refusal(of index: SQLIndex) -> String? {
        if !hasICU, index.elements.contains(where: { $0.form != nil }) { return foldingRefusal }
        return index.findsParts && trigrams == nil ? "the extension pg_trgm is not installed in the database" : nil
    }

    var housekeeping: [String] { PostgreSQLHousekeeping.statements }

    /// The setting of a transaction that lists the keys of rows whose derived values its triggers
    /// have changed.
    static func touchedRows(_ table: String) -> String {
        "ocd.touched_" + String(SnakeCaseNaming.hash(table), radix: 16)
    }

    /// Returns the possible names of a derived attribute's triggers, and of their functions.
    static func triggerNames(_ derivation: SQLDerivation) -> [String] {
        ["own", "insert", "update", "delete"].map { derivation.name + "_" + $0 }
    }

    func triggers(_ derivation: SQLDerivation) throws -> [String] { try triggers(derivation, in: nil) }

    /// Returns the statements that make the triggers of a derived attribute.
    ///
    /// An attribute is set before its row is written. A row whose attribute depends on other rows
    /// is written again, unchanged, after a statement that changed those rows.
    ///
    /// A program that writes rows may have another search path: tables are named with their schema.
    /// Columns may have the names of variables.
    ///
    /// - Parameters:
    ///   - schema: the schema of the tables; nil where statements find them.
    ///   - replacing: whether to replace triggers of these names that may exist.
    func triggers(_ derivation: SQLDerivation, in schema: String?, replacing: Bool = false) throws -> [String] {
        var writer = self
        writer.triggerSchema = schema
        var derivation = derivation
        derivation.writer = writer
        guard let column = derivation.column else { return [] }
        let kind = try derivation.kind()
        let create = replacing ? "CREATE OR REPLACE" : "CREATE"
        func trigger(_ role: String, _ event: String, _ table: String, _ body: String) -> [String] {
            let function = identifier(derivation.name + "_" + role)
            return [
                "\(create) FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql AS $$ #variable_conflict use_column "
                    + "DECLARE ocd$ignored text; ocd$keys int8[]; BEGIN \(body) END $$",
                "\(create) TRIGGER \(function) \(event.replacingOccurrences(of: "%", with: identifier(table))) "
                    + "EXECUTE FUNCTION \(function)()",
            ]
        }
        let owners = writer.qualified(derivation.table) + " AS d"
        let id = identifier(derivation.mapping.naming.key)
        var isOwn = derivation.members(row: "NEW").map { [$0] } ?? []
        // A change that other rows cause is no save: it does not change the time of the last save.
        if case .now = kind {
            let version = identifier(derivation.mapping.naming.version)
            isOwn.append("(TG_OP = 'INSERT' OR NEW.\(version) IS DISTINCT FROM OLD.\(version))")
        }
        let assignment = "NEW.\(column) := \(derivation.value(of: kind, row: "NEW"));"
        let own = trigger(
            "own", "BEFORE INSERT OR UPDATE ON % FOR EACH ROW", derivation.entity.table.name,
            (isOwn.isEmpty ? assignment : "IF \(isOwn.joined(separator: " AND ")) THEN \(assignment) END IF;")
                + " RETURN NEW;")
        // Only rows whose change affects a derived value cause an update, and no rows cause none:
        // attributes may be derived from each other's rows in a circle.
        //
        // Owners that count are locked first. After a wait for another transaction, only a
        // statement that begins afterwards counts the rows that the other transaction has
        // committed.
        func touched(_ table: String, _ key: String, by foreign: String, of columns: [String], locks: Bool = true)
            -> [String]
        {
            let list = ([foreign] + columns.filter { $0 != foreign }).map(identifier).joined(separator: ", ")
            func body(_ rows: String) -> String {
                let setting = "'\(Self.touchedRows(derivation.entity.table.name))'"
                let conditions =
                    [
                        "d.\(identifier(key)) = ANY(ocd$keys)",
                        "d.\(column) IS DISTINCT FROM \(derivation.value(of: kind, row: "d"))",
                    ]
                    + [derivation.members(row: "d")].compactMap { $0 }
                let lock = "PERFORM 1 FROM \(owners) WHERE \(conditions[0]) ORDER BY d.\(id) FOR NO KEY UPDATE; "
                return
                    "ocd$keys := ARRAY(SELECT DISTINCT \(identifier(foreign)) FROM \(rows) WHERE "
                    + "\(identifier(foreign)) IS NOT NULL); "
                    + "IF cardinality(ocd$keys) = 0 THEN RETURN NULL; END IF; " + (locks ? lock : "")
                    + "WITH touched AS (UPDATE \(owners) SET \(column) = d.\(column) "
                    + "WHERE \(conditions.joined(separator: " AND ")) RETURNING d.\(id)) "
                    + "SELECT set_config(\(setting), concat_ws(',', NULLIF(current_setting(\(setting), true), ''), "
                    + "string_agg(\(id)::text, ',')), true) FROM touched INTO ocd$ignored; RETURN NULL;"
            }
            let (former, now) = ("SELECT \(list) FROM ocd_former", "SELECT \(list) FROM ocd_now")
            return trigger(
                "insert", "AFTER INSERT ON % REFERENCING NEW TABLE AS ocd_now FOR EACH STATEMENT", table,
                body("ocd_now"))
                + trigger(
                    "update",
                    "AFTER UPDATE ON % REFERENCING OLD TABLE AS ocd_former NEW TABLE AS ocd_now FOR EACH STATEMENT",
                    table,
                    body("((\(now) EXCEPT \(former)) UNION ALL (\(former) EXCEPT \(now))) AS changed"))
                + trigger(
                    "delete", "AFTER DELETE ON % REFERENCING OLD TABLE AS ocd_former FOR EACH STATEMENT", table,
                    body("ocd_former"))
        }
        let key = derivation.mapping.naming.key
        switch kind {
        case .now, .value(nil, _, _, _): return own
        case .value(let relationship?, let column, let source, _):
            return own + touched(source.table.name, relationship.name, by: key, of: [column.name], locks: false)
        case .count(let column, let destination):
            return own + touched(destination.table.name, key, by: column.name, of: [key])
        case .sum(let summed, let column, let destination):
            return own + touched(destination.table.name, key, by: column.name, of: [key, summed.name])
        case .joinCount(let join, let isFirst):
            return own
                + touched(
                    join.name, key, by: join.ownerColumn(isFirst: isFirst),
                    of: [join.destinationColumn(isFirst: isFirst)])
        }
    }

    /// Returns a table that derived values are read from, with an alias that no other table has.
    func derivationSource(_ table: String) -> String { qualified(identifier(table)) + " AS \(Self.derivationSource)" }
    func derivationColumn(_ column: String) -> String { "\(Self.derivationSource).\(identifier(column))" }
    private static let derivationSource = "ocd_source"

    /// Returns the name of an object in the store's schema, as triggers write it.
    func qualified(_ name: String) -> String { (triggerSchema.map { identifier($0) + "." } ?? "") + name }

    var now: String { "now()" }
}
