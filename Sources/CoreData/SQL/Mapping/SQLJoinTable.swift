import Foundation

/// The place where the destinations of a to-many relationship are stored.
package enum SQLToMany {
    /// In a to-one column of the destination's table: the inverse's column, or a hidden key if
    /// there is no inverse.
    case inverse(SQLColumn, of: SQLEntity, isOrdered: Bool)
    /// In a join table; `isFirst` when the owner is the table's first side.
    case join(SQLJoinTable, isFirst: Bool)
}

/// A table of pairs for a many-to-many relationship.
///
/// Stores from earlier versions of this project also keep to-many relationships without an inverse
/// in such a table.
package final class SQLJoinTable {
    package private(set) var name: String
    /// Holds the key of the row that owns `firstRelationship`.
    package private(set) var firstColumn: String
    /// Holds the key of the row that `firstRelationship` refers to.
    package private(set) var secondColumn: String
    /// Position within `firstRelationship`, where that is ordered.
    private(set) var firstOrderColumn: String?
    /// Position within the inverse relationship, where that is ordered.
    private(set) var secondOrderColumn: String?
    /// The relationship that names the table.
    package let firstRelationship: NSRelationshipDescription
    let secondRelationship: NSRelationshipDescription?
    package let owner: SQLEntity
    package let destination: SQLEntity
    let naming: any TableNaming
    /// Whether the relationship is its own inverse: each pair is in the table in both directions.
    var isReflexive: Bool { secondRelationship === firstRelationship }

    init(
        name: String, firstColumn: String, secondColumn: String, first: NSRelationshipDescription,
        second: NSRelationshipDescription?, owner: SQLEntity, destination: SQLEntity, naming: any TableNaming
    ) {
        self.name = name
        self.firstColumn = firstColumn
        self.secondColumn = secondColumn
        firstRelationship = first
        secondRelationship = second
        self.owner = owner
        self.destination = destination
        self.naming = naming
        nameOrderColumns()
    }

    private func nameOrderColumns() {
        firstOrderColumn =
            firstRelationship.isOrdered ? naming.positionColumn(of: firstRelationship, joinColumn: secondColumn) : nil
        let inverse = isReflexive ? nil : secondRelationship
        secondOrderColumn = inverse.flatMap {
            $0.isOrdered ? naming.positionColumn(of: $0, joinColumn: firstColumn) : nil
        }
    }

    /// All columns in the order of their declaration. The position columns have the order of their
    /// key columns.
    package var columnNames: [String] {
        [firstColumn, secondColumn] + [secondOrderColumn, firstOrderColumn].compactMap { $0 }
    }

    package func ownerColumn(isFirst: Bool) -> String { isFirst ? firstColumn : secondColumn }
    package func destinationColumn(isFirst: Bool) -> String { isFirst ? secondColumn : firstColumn }
    func orderColumn(isFirst: Bool) -> String? { isFirst ? firstOrderColumn : secondOrderColumn }

    /// Adopts the names that the table has in a store.
    func adopt(_ name: String, firstColumn: String, secondColumn: String, present: [String]) {
        self.name = name
        self.firstColumn = firstColumn
        self.secondColumn = secondColumn
        nameOrderColumns()
        if let order = firstOrderColumn, !present.contains(order) { firstOrderColumn = nil }
        if let order = secondOrderColumn, !present.contains(order) { secondOrderColumn = nil }
    }
}
