/// SQL with the values bound to its placeholders, in order.
struct SQLText {
    var sql: String
    var arguments: [PropertyValue] = []

    init(_ sql: String, _ arguments: [PropertyValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    static func + (left: SQLText, right: SQLText) -> SQLText {
        SQLText(left.sql + right.sql, left.arguments + right.arguments)
    }

    static func + (left: SQLText, right: String) -> SQLText { SQLText(left.sql + right, left.arguments) }

    static func + (left: String, right: SQLText) -> SQLText { SQLText(left + right.sql, right.arguments) }

    mutating func append(_ other: SQLText) {
        sql += other.sql
        arguments += other.arguments
    }

    mutating func append(_ text: String) { sql += text }

    static func joined(_ parts: [SQLText], by separator: String) -> SQLText {
        SQLText(parts.map(\.sql).joined(separator: separator), parts.flatMap(\.arguments))
    }

    /// Conditions in parentheses with AND or OR between them. Many are put together in groups, as SQLite takes each operator
    /// for one more level of an expression, of which it allows 1,000.
    static func combined(_ parts: [SQLText], by separator: String) -> SQLText {
        let groupSize = 100
        var parts = parts
        while parts.count > groupSize {
            parts = stride(from: 0, to: parts.count, by: groupSize).map { start in
                "(" + joined(Array(parts[start..<min(start + groupSize, parts.count)]), by: separator) + ")"
            }
        }
        return "(" + joined(parts, by: separator) + ")"
    }
}
