import Foundation

/// The definition of an index for a database to create.
package struct SQLIndex {
    package struct Element {
        package let column: String
        /// nil for an index whose order is never used.
        package var isAscending: Bool?
        /// The form in which the index holds a text; nil for the value as it is.
        package var form: SQLTextForm?
    }

    package var name: String
    package let table: String
    package let elements: [Element]
    package var isUnique = false
    /// Whether the index finds parts of the texts of its one element.
    package var findsParts = false
    /// The condition of the rows that are in the index; nil for all rows.
    package var condition: String?

    /// Whether the index holds texts in other forms than their own, which not every database
    /// supports.
    var isOfOtherForms: Bool { findsParts || elements.contains { $0.form != nil } }
}

/// The form of a text in an index.
package enum SQLTextForm {
    /// Without the differences that the options ignore, as texts are compared.
    case folded(NSComparisonPredicate.Options)
    /// In the order of a sort descriptor.
    case ordered(SQLCollation)
}
