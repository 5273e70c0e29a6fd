import Foundation

/// The statements that make an empty store for a mapping, in Core Data's words.
struct SQLSchema {
    let mapping: SQLMapping

    /// Everything a new store needs: tables, indexes, triggers.
    func statements() throws -> [String] {
        mapping.tables.flatMap { [Self.createTable($0)] + joinTables(of: $0).map(Self.createTable) } + indexStatements()
            + (try triggerStatements()) + Self.housekeeping
    }

    /// The join tables that follow a table: those that its entities name.
    private func joinTables(of table: SQLTable) -> [SQLJoinTable] { mapping.joinTables.filter { $0.owner.table === table } }

    /// The statements that make all indexes.
    func indexStatements() -> [String] { mapping.tables.flatMap(indexes) }

    /// The statements that make all triggers.
    func triggerStatements() throws -> [String] { try mapping.tables.flatMap(triggers) }

    /// The tables that every store has.
    static let housekeeping = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    /// A row's version as snapshots keep it: 32 bits, whatever a damaged file holds.
    static let rowVersion = "(IFNULL(Z_OPT, 0) & 4294967295)"

    /// Quoted unless it is a plain identifier for SQLite, which takes every letter beyond ASCII for a plain one.
    static func identifier(_ name: String) -> String {
        let isPlain =
            name.utf8.allSatisfy {
                ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5f || $0 >= 0x80
            } && name.utf8.first.map { $0 < 0x30 || $0 > 0x39 } == true
        return isPlain ? name : "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    static func createTable(_ table: SQLTable) -> String {
        let columns = table.declarations.map { ", \(identifier($0.name)) \($0.type.rawValue)" }.joined()
        return
            "CREATE TABLE \(identifier(table.name)) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(columns) )"
    }

    static func createTable(_ join: SQLJoinTable) -> String {
        let list = join.columnNames.map { "\(identifier($0)) INTEGER, " }.joined()
        return "CREATE TABLE \(identifier(join.name)) ( \(list)"
            + "PRIMARY KEY (\(identifier(join.firstColumn)), \(identifier(join.secondColumn))) )"
    }

    static func createIndex(_ join: SQLJoinTable) -> String {
        "CREATE INDEX \(identifier("\(join.name)_\(join.secondColumn)_INDEX")) ON \(identifier(join.name)) "
            + "(\(identifier(join.secondColumn)), \(identifier(join.firstColumn)))"
    }

    /// All indexes of a table and of the join tables that its entities name.
    func indexes(of table: SQLTable) -> [String] {
        let name = Self.identifier(table.name)
        var statements: [String] = []
        for column in table.columns where column.kind == .toOne {
            statements.append(
                "CREATE INDEX \(Self.identifier("\(table.name)_\(column.name)_INDEX")) ON \(name) "
                    + "(\(Self.identifier(column.name)))")
        }
        if table.family.count > 1 {
            statements.append("CREATE INDEX \(Self.identifier("\(table.name)_Z_ENT_INDEX")) ON \(name) (Z_ENT)")
        }
        statements += joinTables(of: table).map(Self.createIndex)
        for entity in table.family {
            let description = entity.layout.entity
            for slot in entity.layout.slots where slot.property.isIndexed && slot.property.owningEntity === description {
                guard let column = entity.columns[slot.index], column.kind != .toOne else { continue }
                statements.append(index(entity, slot.name, [(column.name, true)], in: name))
            }
            for fetchIndex in description.indexes where fetchIndex.entity == nil || fetchIndex.entity === description {
                // What a to-many relationship leads to is in other rows: the index is of the other elements.
                let elements = fetchIndex.elements.filter { ($0.property as? NSRelationshipDescription)?.isToMany != true }
                var columns: [(String, Bool)] = []
                for element in elements where element.collationType == .binary {
                    columns += columnNames(of: element, in: entity).map { ($0, element.isAscending) }
                }
                guard !columns.isEmpty, columns.count >= elements.count else { continue }
                if isIndexOfForeignKey(fetchIndex, in: entity) { continue }
                let condition = fetchIndex.partialIndexPredicate.flatMap(SQLIndexCondition(entity: entity).sql)
                statements.append(index(entity, fetchIndex.name, columns, in: name) + (condition.map { " WHERE " + $0 } ?? ""))
            }
            for constraint in description.uniquenessConstraintNames {
                guard let columns = columnNames(of: constraint, in: entity) else { continue }
                let list = columns.map { "\(Self.identifier($0)) COLLATE BINARY ASC" }.joined(separator: ", ")
                let indexName = "Z_\(entity.layout.name)_UNIQUE_" + constraint.joined(separator: "_")
                statements.append("CREATE UNIQUE INDEX \(Self.identifier(indexName)) ON \(name) (\(list))")
            }
        }
        var seen: Set<String> = []
        return statements.filter { seen.insert($0).inserted }
    }

    /// Whether an index would be the same as the one that each to-one relationship has anyway.
    private func isIndexOfForeignKey(_ index: NSFetchIndexDescription, in entity: SQLEntity) -> Bool {
        guard index.elements.count == 1, index.partialIndexPredicate == nil, let element = index.elements.first,
            element.isAscending, let name = element.propertyName, let slot = entity.layout.slotByName[name]
        else { return false }
        return entity.columns[slot]?.kind == .toOne
    }

    private func index(_ entity: SQLEntity, _ name: String, _ columns: [(String, Bool)], in table: String) -> String {
        let list = columns.map { "\(Self.identifier($0.0)) COLLATE BINARY \($0.1 ? "ASC" : "DESC")" }
        return "CREATE INDEX \(Self.identifier("Z_\(entity.layout.name)_\(name)")) ON \(table) "
            + "(\(list.joined(separator: ", ")))"
    }

    private func columnNames(of element: NSFetchIndexElementDescription, in entity: SQLEntity) -> [String] {
        guard let property = element.propertyName else { return [] }
        if entity.layout.slotByPath[property] != nil { return columnNames(of: property, in: entity) }
        guard let expression = (element.property as? NSExpressionDescription)?.expression else { return [] }
        switch expression.expressionType {
        case .evaluatedObject: return ["Z_PK"]
        case .keyPath where expression.keyPath == "entity": return ["Z_ENT"]
        case .keyPath: return columnNames(of: expression.keyPath, in: entity)
        default: return []
        }
    }

    /// The column of a property or of an element; of a composite attribute those of all its elements.
    private func columnNames(of path: String, in entity: SQLEntity) -> [String] {
        if let composite = entity.layout.composite(at: path.split(separator: ".").map(String.init)) {
            return composite.slots.compactMap { entity.columns[$0]?.name }
        }
        return [entity.layout.slotByPath[path].flatMap { entity.columns[$0]?.name }].compactMap { $0 }
    }

    /// The columns of a uniqueness constraint; nil when one of its properties has none.
    func columnNames(of constraint: [String], in entity: SQLEntity) -> [String]? {
        let paths = entity.layout.constrainedPaths(constraint)
        let names = paths.compactMap { entity.layout.slotByPath[$0].flatMap { entity.columns[$0]?.name } }
        return names.count == paths.count && !names.isEmpty ? names : nil
    }

    /// The triggers that keep the derived attributes of a table's entities.
    func triggers(of table: SQLTable) throws -> [String] {
        try derivations(of: table).flatMap { try $0.triggers() }
    }

    /// The derived attributes of a table's entities.
    func derivations(of table: SQLTable) -> [SQLDerivation] {
        table.family.flatMap { entity in
            entity.layout.slots.compactMap { slot in
                guard let derived = slot.property as? NSDerivedAttributeDescription,
                    derived.owningEntity === entity.layout.entity, !derived.isTransient,
                    let expression = derived.derivationExpression
                else { return nil }
                return SQLDerivation(mapping: mapping, entity: entity, slot: slot, expression: expression)
            }
        }
    }

    /// The names of all tables, indexes and triggers that a statement list makes, for comparing with a store.
    static func name(of statement: String) -> String? {
        let words = statement.split(separator: " ", maxSplits: 4)
        guard words.count > 2 else { return nil }
        let word = words[1] == "UNIQUE" ? words[3] : words[2]
        return word.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }
}
