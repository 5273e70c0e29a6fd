/// A fault of a store: the rows that have it, and what mends them.
struct StoreFinding {
    let kind: FindingKind
    let table: String?
    var entity: String?
    var property: String?
    let count: Int64
    /// At most three of the rows or files that have the fault.
    let examples: [String]
    /// The fault, as one sentence.
    let sentence: String
    /// The repair; nil if `repair` cannot do anything.
    var mend: Mend?

    /// The number of examples that are shown.
    static let exampleCount = 3
}

/// The steps that mend a fault.
struct Mend {
    enum Step {
        /// A statement with values for its question marks.
        case statement(String, [SQLiteReader.Value] = [])
        /// Changes of values to the type of their attribute, where nothing gets lost.
        case conversion(ValueConversion)
        /// Moves a file of the external data into the backup.
        case moveFile(String)
    }

    /// The action, as the end of a sentence about `repair`: `clears the key`.
    let action: String
    let steps: [Step]

    init(_ action: String, _ steps: [Step]) {
        self.action = action
        self.steps = steps
    }

    /// A mend of statements without values.
    init(_ action: String, sql: String...) { self.init(action, sql.map { .statement($0) }) }
}
