import Foundation

// To-many relationships: pairs from join tables or key columns.
extension SQLMigrationPlan {
    /// Returns the copy that fills a join table from a join table or a key column; nil when it
    /// starts empty.
    func pairs(of join: SQLJoinTable) -> SQLRowCopy? {
        guard let former = formerPairs(of: join.firstRelationship) else { return nil }
        let storage = former.storage
        var copy = SQLRowCopy(target: join.name, source: storage.table, target)
        copy.isJoin = true
        copy.add(join.firstColumn, .column(storage.owner))
        copy.add(join.secondColumn, .column(storage.destination))
        // The positions are added in the order of the table's columns, so that an unchanged table
        // is recognized.
        if let column = join.secondOrderColumn, let position = storage.inversePosition {
            copy.add(column, .column(position))
        }
        if let column = join.firstOrderColumn, let position = storage.position { copy.add(column, .column(position)) }
        copy.takesAllRows = former.conditions.isEmpty
        copy.condition = former.all
        return copy
    }

    /// Returns the copy that sets the hidden keys of a to-many relationship without an inverse,
    /// from a join table or a to-one column.
    ///
    /// - Returns: nil when the keys start empty or are in the rows that are copied.
    func hiddenKeys(_ key: SQLHiddenKey) -> SQLHiddenKeyCopy? {
        guard let relationship = key.slot.relationship, let former = formerPairs(of: relationship),
            !liesInRows(of: key.destination.table, former.storage)
        else { return nil }
        let wasAlone: Bool
        if case .relationship(let source)? = inference.links[ObjectIdentifier(relationship)] {
            wasAlone = source.isToMany && source.inverseRelationship == nil
        } else {
            wasAlone = false
        }
        return SQLHiddenKeyCopy(
            relationship: "\(relationship.entity.name ?? "").\(relationship.name)", mapping: target,
            mayLoseOwners: wasAlone, target: key.destination.table.name, key: key.column.name,
            position: key.column.orderColumn,
            source: former.storage.table, owner: former.storage.owner, destination: former.storage.destination,
            formerPosition: former.storage.position, condition: former.all)
    }

    /// Returns the copies that set the columns of new to-one relationships whose inverses had
    /// several objects on their other side.
    ///
    /// The object with the lowest key is used.
    func keysOfFormerPairs(_ entity: SQLEntity) -> [SQLHiddenKeyCopy] {
        entity.layout.slots.compactMap { slot in
            guard slot.kind == .toOne, let relationship = slot.relationship,
                relationship.owningEntity === entity.layout.entity,
                let column = entity.columns[slot.index], let links = inference.links[ObjectIdentifier(relationship)],
                links.mayLeadToSeveral, let former = formerPairs(of: relationship),
                let destination = target.entities[slot.destinationIndex]
            else { return nil }
            return SQLHiddenKeyCopy(
                relationship: "\(relationship.entity.name ?? "").\(relationship.name)", mapping: target,
                mayLoseOwners: true, target: entity.table.name, key: column.name,
                number: column.entityColumn.map { ($0, destination.table) }, position: nil,
                source: former.storage.table, owner: former.storage.destination, destination: former.storage.owner,
                formerPosition: nil, condition: former.all)
        }
    }

    /// The links of a to-one relationship to objects that do not lead back, although the inverse is
    /// to-one: they took one object of several.
    struct OneWayLinks {
        let relationship: NSRelationshipDescription
        let entity: SQLEntity
        let removal: SQLStatement
        let count: SQLStatement
    }

    /// The links that the migration removes, so that both ends agree.
    var oneWayLinks: [OneWayLinks] { target.entities.compactMap { $0 }.flatMap(oneWayLinks) }

    private func oneWayLinks(_ entity: SQLEntity) -> [OneWayLinks] {
        entity.layout.slots.compactMap { slot in
            guard slot.kind == .toOne, let relationship = slot.relationship,
                relationship.owningEntity === entity.layout.entity, mayLeadOneWay(relationship),
                let column = entity.columns[slot.index], let destination = target.entities[slot.destinationIndex],
                let inverse = relationship.inverseRelationship.flatMap({ destination.layout.slotByName[$0.name] }),
                let back = destination.columns[inverse]
            else { return nil }
            let (table, quoted) = (dialect.identifier(entity.table.name), dialect.identifier)
            let assignments = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }
                .map { "\(quoted($0)) = NULL" }
            let condition =
                "\(quoted(column.name)) IS NOT NULL AND NOT EXISTS ("
                + "SELECT 1 FROM \(quoted(destination.table.name)) d "
                + "WHERE d.\(quoted(naming.key)) = \(table).\(quoted(column.name)) "
                + "AND d.\(quoted(back.name)) = \(table).\(quoted(naming.key)))"
            let update = "UPDATE \(table) SET \(assignments.joined(separator: ", "))"
            return OneWayLinks(
                relationship: relationship, entity: entity,
                removal: SQLStatement(sql: "\(update) WHERE \(condition)", arguments: []),
                count: SQLStatement(sql: "SELECT count(*) FROM \(table) WHERE \(condition)", arguments: []))
        }
    }

    private func mayLeadOneWay(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, inverse !== relationship, !relationship.isToMany,
            !inverse.isToMany
        else { return false }
        return [relationship, inverse].contains { inference.links[ObjectIdentifier($0)]?.mayLeadToSeveral ?? false }
    }

    /// Returns the values that a hidden key column gets from the row that is copied.
    func hiddenLink(_ column: SQLColumn, in table: SQLTable) -> Link {
        guard let relationship = column.property as? NSRelationshipDescription,
            let former = formerPairs(of: relationship),
            liesInRows(of: table, former.storage)
        else { return Link() }
        func limited(_ name: String) -> SQLRowCopy.Value {
            guard !former.conditions.isEmpty else { return .column(name) }
            let value = SQLRowCopy.Value.column(name).text(target)
            return .sql("CASE WHEN " + .joined(former.conditions, by: " AND ") + " THEN " + value + " END")
        }
        return Link(
            key: limited(former.storage.owner), position: former.storage.position.map(limited) ?? .null)
    }

    /// Whether a relationship's pairs are stored as a key in the rows that are copied to a table.
    private func liesInRows(of table: SQLTable, _ storage: Storage) -> Bool {
        storage.destination == naming.key && storage.table == formerTable(of: table)?.name
    }

    /// The former pairs of a relationship, and the conditions under which they stay pairs.
    private struct FormerPairs {
        let storage: Storage
        /// The conditions on a row `s`.
        let conditions: [SQLText]

        let dialect: any SQLDialect

        /// The conditions, and the condition that both ends exist.
        var all: SQLText? {
            var conditions = conditions
            if !storage.isJoin {
                let keys = [storage.owner, storage.destination].map { "s." + dialect.identifier($0) + " IS NOT NULL" }
                conditions.append(SQLText(keys.joined(separator: " AND ")))
            }
            return conditions.isEmpty ? nil : .joined(conditions, by: " AND ")
        }
    }

    private func formerPairs(of relationship: NSRelationshipDescription) -> FormerPairs? {
        guard let links = inference.links[ObjectIdentifier(relationship)],
            let newDestination = relationship.destinationEntity
        else { return nil }
        let storage: Storage?
        let owner: NSEntityDescription?
        let destination: NSEntityDescription?
        switch links {
        case .relationship(let former):
            storage = self.storage(of: former)
            (owner, destination) = (former.entity, former.destinationEntity)
        case .reversed(let former):
            storage = self.storage(of: former)?.reversed
            (owner, destination) = (former.destinationEntity, former.entity)
        }
        guard let storage, let owner, let destination else { return nil }
        let conditions = [
            Ends(owner, relationship.entity, self).condition(on: "s." + dialect.identifier(storage.owner)),
            Ends(destination, newDestination, self).condition(on: "s." + dialect.identifier(storage.destination)),
        ]
        return FormerPairs(storage: storage, conditions: conditions.compactMap { $0 }, dialect: dialect)
    }

    /// The columns that hold the pairs of a relationship.
    private struct Storage {
        var table: String
        var owner: String
        var destination: String
        /// The position among the owner's destinations.
        var position: String?
        /// The position among the destination's owners.
        var inversePosition: String?
        var isJoin = false

        var reversed: Storage {
            Storage(
                table: table, owner: destination, destination: owner, position: inversePosition,
                inversePosition: position, isJoin: isJoin)
        }
    }

    private func storage(of relationship: NSRelationshipDescription) -> Storage? {
        guard let entity = source.layouts.layoutByName[relationship.entity.name ?? ""].flatMap({ source.entity($0) }),
            let slot = entity.layout.slotByName[relationship.name]
        else { return nil }
        if let column = entity.columns[slot] {
            return Storage(
                table: entity.table.name, owner: naming.key, destination: column.name,
                inversePosition: column.orderColumn)
        }
        switch entity.toMany[slot] {
        case .inverse(let column, let destination, _):
            return Storage(
                table: destination.table.name, owner: column.name, destination: naming.key, position: column.orderColumn
            )
        case .join(let join, let isFirst):
            return Storage(
                table: join.name, owner: join.ownerColumn(isFirst: isFirst),
                destination: join.destinationColumn(isFirst: isFirst), position: join.orderColumn(isFirst: isFirst),
                inversePosition: join.orderColumn(isFirst: !isFirst), isJoin: true)
        case nil: return nil
        }
    }
}
