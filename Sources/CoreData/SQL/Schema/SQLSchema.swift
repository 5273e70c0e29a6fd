import Foundation

/// The tables, indexes and derived attributes of an empty store for a mapping, and the statements
/// that create them.
package struct SQLSchema {
    let mapping: SQLMapping

    package init(mapping: SQLMapping) {
        self.mapping = mapping
    }

    private var naming: any TableNaming { mapping.naming }
    private var dialect: any SQLDialect { mapping.dialect }

    /// Returns all statements for a new store: tables, indexes, triggers.
    func statements() throws -> [String] {
        tableStatements() + indexStatements() + spatialIndexes().flatMap(dialect.createSpatialIndex)
            + (try triggerStatements())
            + dialect.housekeeping
    }

    /// Returns the statements that create the tables of entities and the join tables.
    package func tableStatements() -> [String] {
        mapping.tables.flatMap { dialect.createTable($0) + joinTables(of: $0).flatMap(dialect.createTable) }
    }

    /// Returns the join tables that follow a table: those that its entities name.
    private func joinTables(of table: SQLTable) -> [SQLJoinTable] {
        mapping.joinTables.filter { $0.owner.table === table }
    }

    func indexStatements() -> [String] { indexes().map(\.statement) }

    /// Returns all indexes that the database can create, each with its statement.
    package func indexes() -> [(index: SQLIndex, statement: String)] {
        mapping.tables.flatMap { table in
            var seen: Set<String> = []
            return namedIndexes(of: table).filter { dialect.refusal(of: $0) == nil }.map {
                ($0, dialect.createIndex($0))
            }
            .filter { seen.insert($0.1).inserted }
        }
    }

    /// Returns the indexes that the database cannot create, each with the reason.
    package func omittedIndexes() -> [(index: SQLIndex, reason: String)] {
        mapping.tables.flatMap(namedIndexes).compactMap { index in dialect.refusal(of: index).map { (index, $0) } }
    }

    func triggerStatements() throws -> [String] { try derivations().flatMap { try dialect.triggers($0) } }

    package func derivations() -> [SQLDerivation] { mapping.tables.flatMap(derivations) }

    // MARK: Indexes

    /// Returns all indexes of a table and of the join tables that its entities name.
    private func namedIndexes(of table: SQLTable) -> [SQLIndex] {
        indexes(of: table).map { index in
            var index = index
            index.name = mapping.schemaNames.name(of: index, dialect)
            return index
        }
    }

    /// Returns the same indexes with the names that they would have if no other index existed.
    func indexes(of table: SQLTable) -> [SQLIndex] {
        var indexes: [SQLIndex] = []
        for column in table.columns where column.kind == .toOne {
            indexes.append(
                SQLIndex(
                    name: naming.keyIndex(table.name, column.name), table: table.name,
                    elements: [.init(column: column.name)]))
        }
        if table.family.count > 1, let entity = table.entityColumn {
            indexes.append(
                SQLIndex(name: naming.entityIndex(table.name), table: table.name, elements: [.init(column: entity)]))
        }
        indexes += joinTables(of: table).map { join in
            SQLIndex(
                name: naming.joinIndex(join.name, join.secondColumn), table: join.name,
                elements: [.init(column: join.secondColumn), .init(column: join.firstColumn)])
        }
        for entity in table.family {
            let description = entity.layout.entity
            let own = description.indexes.filter { $0.entity == nil || $0.entity === description }
            // The mark `isIndexed` decides only where the entity declares no indexes.
            for slot in entity.layout.slots
            where own.isEmpty && slot.property.isIndexed && slot.property.owningEntity === description {
                guard let column = entity.columns[slot.index], column.kind != .toOne else { continue }
                let index = index(entity, slot.name, [.init(column: column.name, isAscending: true)])
                indexes += [index] + textIndexes(like: index, name: slot.name, of: entity)
            }
            for fetchIndex in own {
                // The destinations of a to-many relationship are in other rows, so the index holds
                // only the other elements.
                let elements = fetchIndex.elements.filter {
                    ($0.property as? NSRelationshipDescription)?.isToMany != true
                }
                var columns: [SQLIndex.Element] = []
                for element in elements where element.collationType == .binary {
                    columns += columnNames(of: element, in: entity).map {
                        .init(column: $0, isAscending: element.isAscending)
                    }
                }
                guard !columns.isEmpty, columns.count >= elements.count else { continue }
                if isIndexOfForeignKey(fetchIndex, in: entity) { continue }
                var index = index(entity, fetchIndex.name, columns)
                index.condition = fetchIndex.partialIndexPredicate.flatMap(
                    SQLIndexCondition(entity: entity, dialect: dialect).sql)
                indexes += [index] + textIndexes(like: index, name: fetchIndex.name, of: entity)
            }
            indexes += description.uniquenessConstraintNames.compactMap { uniqueIndex($0, of: entity) }
        }
        return indexes
    }

    /// Returns the index of a uniqueness constraint; nil when one of its properties has no column.
    func uniqueIndex(_ constraint: [String], of entity: SQLEntity) -> SQLIndex? {
        guard let columns = columnNames(of: constraint, in: entity) else { return nil }
        return SQLIndex(
            name: naming.uniqueIndex(constraint, of: entity.layout.name), table: entity.table.name,
            elements: columns.map { .init(column: $0, isAscending: true) }, isUnique: true)
    }

    /// Whether an index would equal the one that each to-one relationship has anyway.
    private func isIndexOfForeignKey(_ index: NSFetchIndexDescription, in entity: SQLEntity) -> Bool {
        guard index.elements.count == 1, index.partialIndexPredicate == nil, let element = index.elements.first,
            element.isAscending, let name = element.propertyName, let slot = entity.layout.slotByName[name]
        else { return false }
        return entity.columns[slot]?.kind == .toOne
    }

    private func index(_ entity: SQLEntity, _ name: String, _ columns: [SQLIndex.Element]) -> SQLIndex {
        SQLIndex(name: naming.index(name, of: entity.layout.name), table: entity.table.name, elements: columns)
    }

    private func columnNames(of element: NSFetchIndexElementDescription, in entity: SQLEntity) -> [String] {
        guard let property = element.propertyName else { return [] }
        if entity.layout.slotByPath[property] != nil { return columnNames(of: property, in: entity) }
        guard let expression = (element.property as? NSExpressionDescription)?.expression else { return [] }
        switch expression.expressionType {
        case .evaluatedObject: return [entity.table.keyColumn]
        case .keyPath where ["self", "SELF"].contains(expression.keyPath): return [entity.table.keyColumn]
        case .keyPath where expression.keyPath == "entity": return [entity.table.entityColumn].compactMap { $0 }
        case .keyPath: return columnNames(of: expression.keyPath, in: entity)
        default: return []
        }
    }

    /// Returns the column of a property or an element; for a composite attribute, the columns of
    /// all its elements.
    private func columnNames(of path: String, in entity: SQLEntity) -> [String] {
        if let composite = entity.layout.composite(at: path.pathNames) {
            return composite.slots.compactMap { entity.columns[$0]?.name }
        }
        return [entity.layout.slotByPath[path].flatMap { entity.columns[$0]?.name }].compactMap { $0 }
    }

    /// Returns the columns of a uniqueness constraint; nil when one of its properties has none.
    package func columnNames(of constraint: [String], in entity: SQLEntity) -> [String]? {
        let paths = entity.layout.constrainedPaths(constraint)
        let names = paths.compactMap { entity.layout.slotByPath[$0].flatMap { entity.columns[$0]?.name } }
        return names.count == paths.count && !names.isEmpty ? names : nil
    }

    // MARK: Derived attributes

    /// Returns the derived attributes of a table's entities.
    package func derivations(of table: SQLTable) -> [SQLDerivation] {
        table.family.flatMap { entity in
            entity.layout.slots.compactMap { slot in
                guard let derived = slot.property as? NSDerivedAttributeDescription,
                    derived.owningEntity === entity.layout.entity, !derived.isTransient,
                    let expression = derived.derivationExpression
                else { return nil }
                return SQLDerivation(
                    mapping: mapping, entity: entity, slot: slot, expression: expression,
                    name: mapping.schemaNames.trigger(of: slot) ?? naming.trigger(slot, of: table.name))
            }
        }
    }

    /// Whether an index requires derived values to be unique. Such an index is created when these
    /// are computed.
    package func keepsDerivedValuesApart(_ index: SQLIndex) -> Bool {
        index.isUnique
            && derivations().contains { derivation in
                derivation.table == dialect.identifier(index.table)
                    && index.elements.contains { dialect.identifier($0.column) == derivation.column }
            }
    }
}
