import Foundation

/// An index as a database is to make it.
struct SQLIndex {
    struct Element {
        let column: String
        /// nil for an index whose order nobody asks for.
        var isAscending: Bool?
        /// What stands in the index in the place of a text; nil for the value as it is.
        var form: SQLTextForm?
    }

    var name: String
    let table: String
    let elements: [Element]
    var isUnique = false
    /// Whether it finds parts of the texts of its one element.
    var findsParts = false
    /// The condition of the rows that are in it; nil for all.
    var condition: String?

    /// Whether it has texts in other forms than their own, which not every database can make.
    var isOfOtherForms: Bool { findsParts || elements.contains { $0.form != nil } }
}

/// A text as an index has it.
enum SQLTextForm {
    /// Without what the options leave out, as texts are compared.
    case folded(NSComparisonPredicate.Options)
    /// In the order of a sort descriptor.
    case ordered(SQLCollation)
}
