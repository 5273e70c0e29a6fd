import Foundation

/// Where the destinations of a to-many relationship are found.
package enum SQLToMany {
    /// In a to-one column of the destination's table: that of the inverse, or a hidden key where there is none.
    case inverse(SQLColumn, of: SQLEntity, isOrdered: Bool)
    /// In a join table; `isFirst` when the owner is the table's first side.
    case join(SQLJoinTable, isFirst: Bool)
}

/// A table of pairs for a many-to-many relationship.
///
/// A store that this project made in former times keeps a to-many relationship without an inverse in one too.
package final class SQLJoinTable {
    package private(set) var name: String
    /// Holds the key of the row that owns `firstRelationship`.
    package private(set) var firstColumn: String
    /// Holds the key of the row that `firstRelationship` leads to.
    package private(set) var secondColumn: String
    /// Position within `firstRelationship`, where that is ordered.
    private(set) var firstOrderColumn: String?
    /// Position within the inverse relationship, where that is ordered.
    private(set) var secondOrderColumn: String?
    /// The relationship that names the table.
    package let firstRelationship: NSRelationshipDescription
    package let secondRelationship: NSRelationshipDescription?
    package let owner: SQLEntity
    package let destination: SQLEntity
    let naming: any TableNaming
    /// Whether the relationship is its own inverse: each pair stands in the table in both directions.
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
        firstOrderColumn = firstRelationship.isOrdered ? naming.positionColumn(of: firstRelationship, joinColumn: secondColumn) : nil
        let inverse = isReflexive ? nil : secondRelationship
        secondOrderColumn = inverse.flatMap { $0.isOrdered ? naming.positionColumn(of: $0, joinColumn: firstColumn) : nil }
    }

    /// All columns in the order of their declaration: a position stands where its column stands.
    package var columnNames: [String] { [firstColumn, secondColumn] + [secondOrderColumn, firstOrderColumn].compactMap { $0 } }

    package func ownerColumn(isFirst: Bool) -> String { isFirst ? firstColumn : secondColumn }
    package func destinationColumn(isFirst: Bool) -> String { isFirst ? secondColumn : firstColumn }
    func orderColumn(isFirst: Bool) -> String? { isFirst ? firstOrderColumn : secondOrderColumn }

    /// Takes the names over under which a store has the table.
    func adopt(_ name: String, firstColumn: String, secondColumn: String, present: [String]) {
        self.name = name
        self.firstColumn = firstColumn
        self.secondColumn = secondColumn
        nameOrderColumns()
        if let order = firstOrderColumn, !present.contains(order) { firstOrderColumn = nil }
        if let order = secondOrderColumn, !present.contains(order) { secondOrderColumn = nil }
    }
}
