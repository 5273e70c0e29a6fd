/// SQL with its bound values, in order.
///
/// The values are kept between the parts of the text, and the SQL is assembled only for a dialect.
/// So no code ever searches SQL for a placeholder.
package struct SQLText {
    enum Part {
        case text(String)
        case argument(SQLArgument)
        /// A table whose final name is known only when the text is used.
        case table(String)
    }

    private(set) var parts: [Part]

    package init(_ sql: String) { parts = sql.isEmpty ? [] : [.text(sql)] }

    /// Creates a value to bind.
    package init(_ argument: SQLArgument) { parts = [.argument(argument)] }

    /// Creates a value to bind that is the same in every statement with this text.
    package init(value: StoredValue, kind: ValueKind? = nil) { parts = [.argument(SQLArgument(value, kind: kind))] }

    /// Creates the name of a table, to be resolved when the text is rendered.
    init(table: String) { parts = [.table(table)] }

    var isEmpty: Bool { parts.isEmpty }

    /// The values, in order.
    var arguments: [SQLArgument] {
        parts.compactMap { part in
            guard case .argument(let argument) = part else { return nil }
            return argument
        }
    }

    /// Whether this text and another one bind no values and are equal.
    func isSame(as other: SQLText) -> Bool {
        parts.count == other.parts.count
            && zip(parts, other.parts).allSatisfy { mine, theirs in
                switch (mine, theirs) {
                case (.text(let mine), .text(let theirs)), (.table(let mine), .table(let theirs)): mine == theirs
                default: false
                }
            }
    }

    // MARK: Putting together

    package static func + (left: SQLText, right: SQLText) -> SQLText {
        var sum = left
        sum.append(right)
        return sum
    }

    package static func + (left: SQLText, right: String) -> SQLText {
        var sum = left
        sum.append(right)
        return sum
    }

    package static func + (left: String, right: SQLText) -> SQLText {
        var sum = SQLText(left)
        sum.append(right)
        return sum
    }

    mutating func append(_ other: SQLText) {
        guard case .text(let text)? = other.parts.first else {
            parts += other.parts
            return
        }
        append(text)
        parts += other.parts.dropFirst()
    }

    mutating func append(_ text: String) {
        if text.isEmpty { return }
        guard case .text(var last)? = parts.last else {
            parts.append(.text(text))
            return
        }
        // The string is taken out of the array first, so that appending does not copy it.
        parts[parts.count - 1] = .table("")
        last += text
        parts[parts.count - 1] = .text(last)
    }

    /// Returns the text with another argument in place of its only one.
    func replacing(argument: SQLArgument) -> SQLText {
        var text = self
        text.parts = parts.map { part in
            if case .argument = part { return .argument(argument) }
            return part
        }
        return text
    }

    package static func joined(_ parts: some Sequence<SQLText>, by separator: String) -> SQLText {
        var result = SQLText("")
        var isFirst = true
        for part in parts {
            if !isFirst { result.append(separator) }
            isFirst = false
            result.append(part)
        }
        return result
    }

    // MARK: Using

    /// Returns the text as a statement for a database.
    ///
    /// - Parameter name: returns the final name of a table.
    package func statement(_ dialect: some SQLDialect, table name: (String) -> String = { $0 }) -> SQLStatement {
        var sql = ""
        var values: [SQLArgument] = []
        var places: [SQLArgument.Mention: Int] = [:]
        for part in parts {
            switch part {
            case .text(let text): sql += text
            case .table(let table): sql += dialect.identifier(name(table))
            case .argument(let argument):
                if dialect.bindsValuesOnce, let mention = argument.mention {
                    if let place = places[mention] {
                        sql += dialect.placeholder(place)
                        continue
                    }
                    places[mention] = values.count + 1
                }
                values.append(argument)
                sql += dialect.placeholder(values.count)
            }
        }
        return SQLStatement(sql: sql, arguments: values)
    }
}

/// SQL for a database, with its bound values.
package struct SQLStatement {
    package let sql: String
    package let arguments: [SQLArgument]

    var values: [StoredValue] { arguments.map(\.value) }
}
