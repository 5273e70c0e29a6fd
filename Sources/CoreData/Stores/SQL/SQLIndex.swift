import Foundation

/// An index as a database is to make it.
package struct SQLIndex {
    package struct Element {
        package let column: String
        /// nil for an index whose order nobody asks for.
        package var isAscending: Bool?
        /// What stands in the index in the place of a text; nil for the value as it is.
        package var form: SQLTextForm?
    }

    package var name: String
    package let table: String
    package let elements: [Element]
    package var isUnique = false
    /// Whether it finds parts of the texts of its one element.
    package var findsParts = false
    /// The condition of the rows that are in it; nil for all.
    package var condition: String?

    /// Whether it has texts in other forms than their own, which not every database can make.
    var isOfOtherForms: Bool { findsParts || elements.contains { $0.form != nil } }
}

/// A text as an index has it.
package enum SQLTextForm {
    /// Without what the options leave out, as texts are compared.
    case folded(NSComparisonPredicate.Options)
    /// In the order of a sort descriptor.
    case ordered(SQLCollation)
}
