/// An index as a database is to make it.
struct SQLIndex {
    struct Element {
        let column: String
        /// nil for an index whose order nobody asks for.
        var isAscending: Bool?
    }

    let name: String
    let table: String
    let elements: [Element]
    var isUnique = false
    /// The condition of the rows that are in it; nil for all.
    var condition: String?
}
