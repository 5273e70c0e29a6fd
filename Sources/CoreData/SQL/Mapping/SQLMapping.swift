import Foundation

/// The mapping of a model's entities to tables of a database.
///
/// It is created from a model alone, with the names that a `TableNaming` gives. A store may then
/// fit it to existing tables that have other names.
package final class SQLMapping: @unchecked Sendable {
    // Sendable: set up completely before a store shares it, then only read.

    package let layouts: ModelLayout
    package let dialect: any SQLDialect
    package let naming: any TableNaming
    package private(set) var tables: [SQLTable] = []
    /// The join tables, by the entity that names them, then by the relationship.
    package var joinTables: [SQLJoinTable] = []
    /// The key columns of to-many relationships without an inverse.
    package var hiddenKeys: [SQLHiddenKey] = []
    /// The names of indexes and triggers.
    private(set) var schemaNames = SQLSchemaNames()
    /// The mappings by layout index; nil for an entity that the store does not hold.
    package private(set) var entities: [SQLEntity?]
    /// Layout index by entity number; -1 for an unused number.
    private(set) var layoutByNumber: [Int] = []

    /// Creates the mapping of a configuration's entities, root by root in ascending order of name.
    ///
    /// - Parameter included: whether the store holds an entity.
    /// - Throws: an error that names a property whose type has no column.
    package init(
        layouts: ModelLayout, _ dialect: any SQLDialect, _ naming: any TableNaming, numbers: [String: Int] = [:],
        including included: (EntityLayout) -> Bool
    ) throws {
        self.layouts = layouts
        self.dialect = dialect
        self.naming = naming
        entities = Array(repeating: nil, count: layouts.layouts.count)
        // A table holds a whole hierarchy, so one included entity brings in its family.
        let roots = Set(layouts.layouts.filter(included).map(\.rootIndex))
        let held = layouts.layouts.filter { roots.contains($0.rootIndex) }
        // A renamed entity keeps the number that the store gave it under its former name.
        let names = Set(held.map(\.name))
        func storedNumber(_ layout: EntityLayout) -> Int? {
            if let number = numbers[layout.name] { return number }
            guard let former = layout.entity.renamingIdentifier, !names.contains(former) else { return nil }
            return numbers[former]
        }
        var taken = Set(held.compactMap(storedNumber))
        var next = 1
        for (position, layout) in held.enumerated() {
            var number = storedNumber(layout)
            if number == nil, !taken.contains(position + 1) { number = position + 1 }
            if number == nil {
                while taken.contains(next) { next += 1 }
                number = next
            }
            taken.insert(number ?? next)
            entities[layout.index] = SQLEntity(
                layout: layout, number: number ?? next, order: naming.followsNumbers ? number ?? next : layout.index)
        }
        hiddenKeys = makeHiddenKeys()
        for layout in held where layout.rootIndex == layout.index {
            let family = layout.familyIndexes.compactMap { entities[$0] }
            tables.append(SQLTable(root: layout, family: family, mapping: self))
        }
        try checkTableNames()
        layoutByNumber = Array(repeating: -1, count: (entities.compactMap { $0?.number }.max() ?? 0) + 1)
        for case let entity? in entities { layoutByNumber[entity.number] = entity.layout.index }
        makeToManyMappings()
        if naming.numbersAllNames { schemaNames = SQLSchemaNames(self) }
    }

    /// - Throws: an error that names the entities whose tables would have the same name.
    private func checkTableNames() throws {
        var owners = naming.reservedTables
        for table in tables {
            if let other = owners.updateValue("the entity '\(table.root.name)'", forKey: table.name) {
                throw CoreDataErrors.tableIsTaken(table.name, of: table.root.name, by: other, store: dialect.storeName)
            }
        }
    }

    // Relationships refer from entity to entity and form reference cycles; this breaks them.
    deinit { for entity in entities { entity?.toMany = [] } }

    package func entity(_ layout: EntityLayout) -> SQLEntity? { entities[layout.index] }

    /// Returns the mapping of an entity that the store must have.
    func requiredEntity(_ layout: EntityLayout) throws -> SQLEntity {
        guard let entity = entity(layout) else {
            throw CoreDataErrors.entityIsNotKept(layout.name)
        }
        return entity
    }

    /// Returns the layout of a row by its entity number; nil for a number the store's model does
    /// not know.
    @inline(__always)
    package func layoutIndex(forNumber number: Int64) -> Int? {
        guard number >= 0, number < Int64(layoutByNumber.count) else { return nil }
        let index = layoutByNumber[Int(number)]
        return index >= 0 ? index : nil
    }

    /// Returns the layout of a row of an entity or its subentities; nil for another row, which is
    /// damaged.
    package func layoutIndex(forNumber number: Int64, of entity: EntityLayout) -> Int? {
        layoutIndex(forNumber: number).flatMap { layouts.layouts[$0].isKind(of: entity) ? $0 : nil }
    }

    /// Returns the condition that limits a table's rows to an entity; nil when the table holds no
    /// other rows.
    func entityCondition(_ entity: SQLEntity, alias: String, includesSubentities: Bool) -> String? {
        let family = includesSubentities ? entity.layout.familyIndexes : [entity.layout.index]
        if family.count == entity.table.family.count { return nil }
        let numbers = family.compactMap { entities[$0]?.number }.map(String.init)
        let number = alias + "." + dialect.identifier(entity.table.numberColumn)
        return numbers.count == 1 ? "\(number) = \(numbers[0])" : "\(number) IN (\(numbers.joined(separator: ", ")))"
    }

    /// Returns the tables and columns of this mapping that a store lacks, as `TABLE` or
    /// `TABLE.COLUMN`.
    package func missing(from columns: [String: [String]]) -> [String] {
        var missing: [String] = []
        func require(_ wanted: [String], in table: String) {
            guard let present = columns[table].map(Set.init) else {
                missing.append(table)
                return
            }
            for column in wanted where !present.contains(column) { missing.append(table + "." + column) }
        }
        for table in tables { require(table.allColumnNames, in: table.name) }
        for join in joinTables { require(join.columnNames, in: join.name) }
        return missing
    }
}

/// The mapping of one entity to its table.
package final class SQLEntity {
    package let layout: EntityLayout
    /// The entity number of its rows.
    package let number: Int
    /// The entity's position in the order in which names and columns are assigned.
    let order: Int
    package unowned var table: SQLTable!
    /// The columns by slot; nil for properties that are not kept in a column.
    package var columns: [SQLColumn?]
    /// The storage of to-many relationships by slot; nil for other properties.
    package var toMany: [SQLToMany?]

    init(layout: EntityLayout, number: Int, order: Int) {
        self.layout = layout
        self.number = number
        self.order = order
        columns = Array(repeating: nil, count: layout.slots.count)
        toMany = Array(repeating: nil, count: layout.slots.count)
    }
}
