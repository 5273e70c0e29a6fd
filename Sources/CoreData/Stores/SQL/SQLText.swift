/// SQL with the values that are bound in it, in order.
///
/// The values stand between the parts of the text, which is put together only for a dialect: nothing ever looks for a placeholder in SQL.
package struct SQLText {
    enum Part {
        case text(String)
        case argument(SQLArgument)
        /// A table that is called otherwise by the time the text is used.
        case table(String)
    }

    private(set) var parts: [Part]

    package init(_ sql: String) { parts = sql.isEmpty ? [] : [.text(sql)] }

    /// A value to bind.
    package init(_ argument: SQLArgument) { parts = [.argument(argument)] }

    /// A value to bind, which every statement with this text has.
    package init(value: StoredValue, kind: ValueKind? = nil) { parts = [.argument(SQLArgument(value, kind: kind))] }

    /// The name of a table, to be resolved when the text is rendered.
    init(table: String) { parts = [.table(table)] }

    var isEmpty: Bool { parts.isEmpty }

    /// The values, in order.
    var arguments: [SQLArgument] {
        parts.compactMap { part in
            guard case .argument(let argument) = part else { return nil }
            return argument
        }
    }

    /// Whether this and another text bind nothing and say the same.
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
        // Taken out, so that it is not copied for being there as well.
        parts[parts.count - 1] = .table("")
        last += text
        parts[parts.count - 1] = .text(last)
    }

    /// The same with another argument in the place of its only one.
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

    /// The text for a database.
    ///
    /// - Parameter name: what a table is called in it that was left open.
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

/// SQL as a database takes it, and what is bound in it.
package struct SQLStatement {
    package let sql: String
    package let arguments: [SQLArgument]

    var values: [StoredValue] { arguments.map(\.value) }
}
