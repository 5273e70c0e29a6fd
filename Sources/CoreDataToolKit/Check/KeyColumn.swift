import CoreData

/// A column with keys of other rows: that of a to-one relationship, or the hidden one of a to-many
/// relationship without an inverse.
struct KeyColumn {
    let table: StoreInspection.EntityTable
    let cell: StoreInspection.Cell
    let relationship: NSRelationshipDescription
    /// The table of the rows to which the keys lead.
    let destination: StoreInspection.EntityTable
    /// The names of the entities of these rows.
    let destinationEntities: [String]
    /// The column with the entity numbers of these rows, where they vary.
    let entityColumn: String?
    /// The column with the positions of the rows in the ordered relationship that the column keeps.
    let orderColumn: String?

    var column: String { cell.column }
    /// Whether a row may be without the key.
    var isOptional: Bool { relationship.isToMany || relationship.isOptional }

    /// Returns nil for an attribute, and for a destination that is not in the store.
    init?(_ cell: StoreInspection.Cell, of table: StoreInspection.EntityTable, in store: CheckedStore) {
        guard case .key = cell.content, let relationship = store.property(of: cell) as? NSRelationshipDescription
        else { return nil }
        // The hidden key of a to-many relationship leads to the owner.
        let target = relationship.isToMany ? store.entities[cell.entity] : relationship.destinationEntity
        guard let target, let destination = store.table(of: target.name ?? "") else { return nil }
        self.table = table
        self.cell = cell
        self.relationship = relationship
        self.destination = destination
        destinationEntities = store.family(of: target)
        let tail = cell.column.dropFirst()
        let order = "Z_FOK_\(tail)"
        orderColumn = store.hasColumn(order, in: table.name) ? order : nil
        entityColumn = table.columns.first { name in
            guard name.hasPrefix("Z"), name.hasSuffix("_\(tail)"), store.hasColumn(name, in: table.name) else {
                return false
            }
            let number = name.dropFirst().dropLast(tail.count + 1)
            return !number.isEmpty && number.allSatisfy(\.isNumber)
        }
    }

    /// Returns the assignments that take the key out of a row.
    var clearing: String {
        [column, entityColumn, orderColumn].compactMap { $0 }.map { "\(SQLiteReader.identifier($0)) = NULL" }
            .joined(separator: ", ")
    }

    var sql: String { "t." + SQLiteReader.identifier(column) }
    var tableName: String { SQLiteReader.identifier(table.name) }
    var destinationName: String { SQLiteReader.identifier(destination.name) }

    /// The rule's mend that clears the keys that meet a condition; nil if rows must have the key.
    func clear(where condition: String) -> Mend? {
        guard isOptional else { return nil }
        return Mend("clears the key", sql: "UPDATE \(tableName) AS t SET \(clearing) WHERE \(condition)")
    }
}

extension CheckedStore {
    /// The key columns of all tables.
    var keyColumns: [KeyColumn] {
        tables.flatMap { table in cells(of: table).compactMap { KeyColumn($0, of: table, in: self) } }
    }
}
