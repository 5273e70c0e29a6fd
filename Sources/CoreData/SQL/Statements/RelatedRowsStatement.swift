/// The statement that reads the rows related to one row, or to many, through one relationship.
struct RelatedRowsStatement {
    let sql: String
    /// Whether the rows are found by their own foreign key, so that none belongs to two owners.
    let isInverse: Bool
    /// The place of the owner's key in each row.
    var owner = OwnerKey.lastColumn
    /// The rows' table and their foreign-key column; set only where the rows may come in any order.
    var foreignKey: (table: String, column: String)?
}

extension SQLMapping {
    /// Returns the statement that reads the destination rows of some owners.
    ///
    /// - Parameters:
    ///   - select: the columns of the destination's rows.
    ///   - owners: the form in which the owners' keys are bound.
    ///   - readsTable: whether the statement scans the whole table instead of using an index, where
    ///     a foreign key identifies the owner.
    func relatedRows(
        _ slot: PropertySlot, of owner: SQLEntity, to select: SelectColumns, owners: SQLKeys.Form,
        readsTable: Bool = false
    ) throws -> RelatedRowsStatement {
        let condition = dialect.keyCondition(owners)
        let alias = SQLScope.firstAlias
        let table = dialect.identifier(select.entity.table.name) + " " + alias
        func column(_ alias: String, _ name: String) -> String { alias + "." + dialect.identifier(name) }
        func place(_ alias: String, _ position: String) -> String {
            dialect.order(SQLText(column(alias, position)), nil, ascending: true).statement(dialect).sql
        }
        let destinationKey = column(alias, select.entity.table.keyColumn)
        if let key = owner.columns[slot.index], slot.kind == .toOne {
            let ownerKey = column("o", owner.table.keyColumn)
            return RelatedRowsStatement(
                sql: "SELECT \(select.sql), \(ownerKey) FROM \(dialect.identifier(owner.table.name)) o JOIN \(table) "
                    + "ON \(column("o", key.name)) = \(destinationKey) WHERE \(ownerKey) \(condition)", isInverse: false
            )
        }
        switch owner.toMany[slot.index] {
        case .inverse(let inverse, _, let isOrdered)?:
            let key = column(alias, inverse.name)
            var order = ""
            if isOrdered, let position = inverse.orderColumn {
                order = " ORDER BY \(key), \(place(alias, position)), \(destinationKey)"
            }
            let withoutIndex = dialect.withoutIndex(SQLText(key)).statement(dialect).sql
            let rows = "FROM \(table) WHERE \(readsTable ? withoutIndex : key) \(condition)\(order)"
            let foreignKey = isOrdered ? nil : (table: select.entity.table.name, column: inverse.name)
            // When the rows' own values are read, the owner's key is among them.
            let ownerSlot =
                select.isSingle && select.positions[inverse.name] != nil
                ? slot.inverseSlot(in: select.entity.layout) : -1
            if ownerSlot >= 0 {
                return RelatedRowsStatement(
                    sql: "SELECT \(select.sql) \(rows)", isInverse: true, owner: .slot(ownerSlot),
                    foreignKey: foreignKey)
            }
            return RelatedRowsStatement(
                sql: "SELECT \(select.sql), \(key) \(rows)", isInverse: true, foreignKey: foreignKey)
        case .join(let join, let isFirst)?:
            let key = column("j", join.ownerColumn(isFirst: isFirst))
            let link = column("j", join.destinationColumn(isFirst: isFirst))
            var order = ""
            if let position = join.orderColumn(isFirst: isFirst) {
                order = " ORDER BY \(key), \(place("j", position)), \(destinationKey)"
            }
            return RelatedRowsStatement(
                sql: "SELECT \(select.sql), \(key) FROM \(dialect.identifier(join.name)) j JOIN \(table) "
                    + "ON \(link) = \(destinationKey) WHERE \(key) \(condition)\(order)", isInverse: false)
        case nil:
            throw CoreDataErrors.noStoredRelationship(slot.name, of: owner.layout.name)
        }
    }

    /// Returns the mapping of a relationship's destination.
    func destination(of slot: PropertySlot, of entity: EntityLayout) throws -> SQLEntity {
        guard slot.destinationIndex >= 0, let destination = entities[slot.destinationIndex] else {
            throw CoreDataErrors.destinationIsNotKept(slot.name, of: entity.name)
        }
        return destination
    }
}

/// References to the rows related to some owners, by owner, and the SQL that finds them.
package struct RelatedReferences {
    package let sql: String
    package private(set) var references: [Int64: [RowReference]] = [:]
    private let select: SelectColumns
    private let mapping: SQLMapping

    /// - Parameter owners: the form in which the owners' keys are bound.
    package init(
        through slot: PropertySlot, of entity: EntityLayout, owners: SQLKeys.Form, in mapping: SQLMapping
    ) throws {
        self.mapping = mapping
        select = SelectColumns(
            try mapping.destination(of: slot, of: entity), includesSubentities: true, in: mapping, present: [])
        sql = try mapping.relatedRows(slot, of: try mapping.requiredEntity(entity), to: select, owners: owners).sql
    }

    /// Adds the row that the columns 0, 1 and 3 of a result identify, unless it is of an entity
    /// that the model does not know.
    package mutating func append(entityNumber: Int64, key: Int64, owner: Int64) {
        let index = select.isSingle ? select.entity.layout.index : mapping.layoutIndex(forNumber: entityNumber)
        if let index { references[owner, default: []].append(RowReference(key: key, layoutIndex: index)) }
    }
}

/// The place of the owner's key in rows that are read through a relationship.
package enum OwnerKey: Sendable {
    /// In a slot of the row.
    case slot(Int)
    /// In the last column of the result.
    case lastColumn
}
