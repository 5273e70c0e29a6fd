import CoreData
import Foundation

/// Finds the reasons why external tables do not fit a model.
struct ExternalTableChecks {
    let mapping: SQLMapping
    let catalog: PostgreSQLCatalog
    /// The sets of columns whose values are unique, by table.
    private let unique: [String: [Set<String>]]
    private(set) var problems: [String] = []

    init(
        _ mapping: SQLMapping, _ catalog: PostgreSQLCatalog, naming: ExternalNaming, _ connection: PostgreSQLConnection,
        schema: String
    ) throws {
        self.mapping = mapping
        self.catalog = catalog
        unique = try Self.uniqueColumns(connection, schema)
        for table in mapping.tables { check(table) }
        for join in mapping.joinTables { check(join, naming) }
    }

    private static func uniqueColumns(_ connection: PostgreSQLConnection, _ schema: String) throws -> [String: [Set<
        String
    >]] {
        var columns: [String: [Int64: Set<String>]] = [:]
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text, i.indexrelid::int8, a.attname::text FROM pg_catalog.pg_index i \
                JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = \
                c.relnamespace \
                JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = \
                ANY((i.indkey::int2[])[0:i.indnkeyatts - 1]) \
                WHERE n.nspname = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
                """, WireArguments(text: schema))
        ) { row in
            guard let table = row.string(0), let column = row.string(2) else { return }
            columns[table, default: [:]][row.int64(1), default: []].insert(column)
        }
        return columns.mapValues { Array($0.values) }
    }

    private static let integers: Set<UInt32> = [WireType.int2, WireType.int4, WireType.int8]

    private func place(_ column: String, _ table: String) -> String { "'\(table).\(column)'" }

    // MARK: Tables

    private mutating func check(_ table: SQLTable) {
        let name = table.name
        guard catalog.kinds[name] != nil else {
            problems.append("there is no table '\(name)' for '\(table.root.name)'")
            return
        }
        requireInteger(table.keyColumn, of: name, "keys of '\(table.root.name)'")
        if let number = table.entityColumn {
            requireInteger(number, of: name, "entity numbers of '\(table.root.name)'")
        }
        if table.versionColumn != ExternalNaming.transactionColumn {
            if table.writesVersions {
                requireInteger(table.versionColumn, of: name, "versions of '\(table.root.name)'")
            }
        } else if !catalog.isTable(name) {
            problems.append(
                "'\(name)' is no table, and its rows have no versions: name a column of them by "
                    + "\(ExternalNaming.Word.version) in the user info of "
                    + "'\(table.root.name)'")
        }
        checkColumns(of: table)
        if catalog.isTable(name) { checkUniqueness(of: table) }
    }

    /// Checks keys and uniqueness constraints of a table. The catalog says nothing about uniqueness
    /// in a view.
    private mutating func checkUniqueness(of table: SQLTable) {
        let known = unique[table.name] ?? []
        if let key = catalog.column(table.keyColumn, of: table.name),
            !key.isRequired || !known.contains([table.keyColumn])
        {
            problems.append(
                "the column \(place(table.keyColumn, table.name)) is no key of its own: it has to be NOT NULL and "
                    + "UNIQUE, or the primary key"
            )
        }
        for entity in table.family {
            for names in entity.layout.entity.uniquenessConstraintNames {
                guard let columns = SQLSchema(mapping: mapping).columnNames(of: names, in: entity),
                    !known.contains(where: { $0.isSubset(of: columns) })
                else { continue }
                problems.append(
                    "the table '\(table.name)' has no constraint by which "
                        + "\(columns.map { "'\($0)'" }.joined(separator: ", ")) is unique, as "
                        + "\(names.joined(separator: ", ")) of '\(entity.layout.name)' is")
            }
        }
    }

    private mutating func checkColumns(of table: SQLTable) {
        // The mapping would add a number to a name that is taken, which the model does not ask for.
        var owners = [table.keyColumn: "the keys"]
        for (column, role) in [
            (table.writesVersions ? table.versionColumn : nil, "the versions"),
            (table.entityColumn, "the entity numbers"),
        ] {
            guard let column, let owner = owners.updateValue(role, forKey: column) else { continue }
            problems.append(
                "\(role) of '\(table.root.name)' have the column \(place(column, table.name)), which is that of "
                    + "\(owner)"
            )
        }
        for declaration in table.declarations {
            let column = declaration.column
            let property = "'\(column.property.owningEntity?.name ?? table.root.name).\(column.propertyName)'"
            let wanted = wantedName(of: declaration, in: table)
            if let owner = owners[wanted] {
                problems.append("\(property) has the column \(place(wanted, table.name)), which is that of \(owner)")
                continue
            }
            owners[wanted] = property
            guard let present = catalog.column(wanted, of: table.name) else {
                problems.append("there is no column \(place(wanted, table.name)) for \(property)")
                continue
            }
            let isFit =
                switch declaration.role {
                case .value: Self.types(of: column.kind).contains(present.type)
                case .entity, .position: Self.integers.contains(present.type)
                }
            guard !isFit else { continue }
            problems.append(
                "the column \(place(wanted, table.name)) is of the type \(present.typeName), which does not keep "
                    + "every value of \(property), "
                    + "\(Self.word(for: column.kind, declaration.role))")
        }
    }

    private func wantedName(of declaration: SQLTable.Declaration, in table: SQLTable) -> String {
        guard case .value = declaration.role, !declaration.column.isHiddenKey else { return declaration.name }
        for entity in table.family {
            guard let slot = entity.columns.firstIndex(where: { $0 === declaration.column }) else { continue }
            return mapping.naming.column(entity.layout.slots[slot])
        }
        return declaration.name
    }

    private mutating func requireInteger(_ column: String, of table: String, _ what: String) {
        guard let present = catalog.column(column, of: table) else {
            problems.append("there is no column \(place(column, table)) for the \(what)")
            return
        }
        guard !Self.integers.contains(present.type) else { return }
        problems.append(
            "the column \(place(column, table)) of the \(what) is of the type \(present.typeName), and has to be an "
                + "integer"
        )
    }

    private mutating func check(_ join: SQLJoinTable, _ naming: ExternalNaming) {
        let relationship = "'\(join.owner.layout.name).\(join.firstRelationship.name)'"
        let wanted = naming.joinTable(join.firstRelationship, of: join.owner)
        guard join.name == wanted else {
            problems.append("the table '\(wanted)' of \(relationship) is that of something else too")
            return
        }
        guard catalog.kinds[join.name] != nil else {
            problems.append("there is no table '\(join.name)' for \(relationship)")
            return
        }
        for column in join.columnNames { requireInteger(column, of: join.name, "pairs of \(relationship)") }
    }

    // MARK: Types

    /// Returns the types that lose nothing of a property's values. A narrower type refuses values
    /// that it cannot hold.
    static func types(of kind: ValueKind) -> Set<UInt32> {
        switch kind {
        case .int16: [WireType.int2]
        case .int32: [WireType.int2, WireType.int4]
        case .int64, .toOne: integers
        case .boolean: [WireType.boolean]
        case .double: [WireType.float8]
        case .float: [WireType.float4]
        case .decimal: [WireType.numeric]
        case .date: [WireType.timestamptz]
        case .string, .uri: [WireType.text]
        case .uuid: [WireType.uuid]
        case .data, .transformable: [WireType.bytea]
        case .json: [WireType.jsonb, WireType.bytea]
        case .composite, .toMany, .orderedToMany, .fetched, .undefined: []
        }
    }

    private static func word(for kind: ValueKind, _ role: SQLTable.Declaration.Role) -> String {
        switch role {
        case .entity: return "whose destination's entity is a number"
        case .position: return "whose positions are numbers"
        case .value: break
        }
        switch kind {
        case .int16: return "an Integer 16"
        case .int32: return "an Integer 32"
        case .int64: return "an Integer 64"
        case .boolean: return "a Boolean"
        case .double: return "a Double"
        case .float: return "a Float"
        case .decimal: return "a Decimal"
        case .date: return "a Date"
        case .string: return "a String"
        case .uri: return "a URI"
        case .uuid: return "a UUID"
        case .data: return "Binary Data"
        case .json: return "JSON"
        case .transformable: return "a Transformable"
        case .toOne: return "a relationship by keys"
        default: return "which no column has"
        }
    }
}

extension PostgreSQLStore {
    /// Returns the numbers that the model gives to the entities of hierarchies.
    ///
    /// - Throws: code 134020 where an entity has no number, or the number of another one.
    private func externalEntityNumbers(_ layouts: ModelLayout, including names: Set<String>) throws -> [String: Int] {
        var numbers: [String: Int] = [:]
        var owners: [Int: String] = [:]
        let roots = Set(layouts.layouts.filter { names.contains($0.name) }.map(\.rootIndex))
        for layout in layouts.layouts
        where roots.contains(layout.rootIndex) && layouts.layouts[layout.rootIndex].familyIndexes.count > 1 {
            let word = ExternalNaming.Word.entityNumber
            let value = layout.entity.userInfo?[word]
            guard
                let number = (value as? NSNumber)?.intValue ?? (value as? Int)
                    ?? (value as? String).flatMap({ Int($0) }),
                (1...Int(Int16.max)).contains(number)
            else {
                throw externalMisfit([
                    "'\(layout.name)' is of a hierarchy of several entities, and \(word) in its user info is no "
                        + "number from 1 to \(Int16.max)"
                ])
            }
            if let other = owners.updateValue(layout.name, forKey: number) {
                throw externalMisfit(["'\(other)' and '\(layout.name)' have the same \(word), \(number)"])
            }
            numbers[layout.name] = number
        }
        return numbers
    }

    private func externalMisfit(_ problems: [String]) -> NSError {
        CoreDataErrors.make(
            .persistentStoreIncompatibleSchema,
            "The tables of \(StoreName.path(url)) do not fit the model: \(problems.joined(separator: "; ")).",
            recovery:
                "Correct the model's user info (ocd.table, ocd.column and others), or give the entity a view that "
                + "fits.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Maps the model to external tables, and checks that they fit.
    func externalBackend(
        _ pool: PostgreSQLPool, _ catalog: PostgreSQLCatalog, _ entities: [NSEntityDescription],
        _ connection: PostgreSQLConnection
    ) throws -> PostgreSQLBackend {
        let names = Set(entities.compactMap(\.name))
        let naming = ExternalNaming(catalog: catalog, isReadOnly: isReadOnly)
        let layouts = try requiredLayout(of: StoreName.path(url))
        let numbers = try externalEntityNumbers(layouts, including: names)
        let mapping = try SQLMapping(layouts: layouts, catalog.externalDialect, naming, numbers: numbers) {
            names.contains($0.name)
        }
        let schema = pool.configuration.address.schema
        let checks = try ExternalTableChecks(mapping, catalog, naming: naming, connection, schema: schema)
        guard checks.problems.isEmpty else { throw externalMisfit(checks.problems) }
        mapping.takeJSON(from: catalog)
        let external = try ExternalTables(connection, schema: schema, mapping: mapping)
        return PostgreSQLBackend(pool: pool, mapping: mapping, schema: catalog, external: external)
    }
}
