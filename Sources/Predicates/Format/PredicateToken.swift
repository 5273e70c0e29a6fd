struct PredicateToken {
    enum Kind {
        /// A name or a keyword; the parser tells them apart by their place. `isEscaped`: written
        /// with `#`, never a keyword.
        case identifier(String, isEscaped: Bool)
        /// A name with colons, in front of a parenthesis: `add:to:`.
        case functionName(String)
        case string(String)
        case number(Any)
        /// `$name`.
        case variable(String)
        /// The value for `%@`, `%d` and the like.
        case value(Any?)
        /// The value for `%K`, or a key path in quotes after `#`.
        case keyPath(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The offset of the token's first Unicode scalar in the text.
    let offset: Int

    var description: String {
        switch kind {
        case .identifier(let name, _), .functionName(let name): "\"\(name)\""
        case .string: "a string"
        case .number(let number): "the number \(number)"
        case .variable(let name): "\"$\(name)\""
        case .value: "a value"
        case .keyPath(let path): "the key path \"\(path)\""
        case .symbol(let symbol): "\"\(symbol)\""
        case .end: "the end"
        }
    }
}
