import CoreData

// Texts. PostgreSQL compares attribute columns, and texts computed here, by code points.
extension PostgreSQLDialect {
    private static let lacksICU = "the server was built without ICU, by which texts are folded and ordered"
    static let lacksFunctions = "the schema has none of this library's functions, which it takes"

    /// The reason why texts are not folded.
    var foldingRefusal: String { hasFunctions ? Self.lacksICU : Self.lacksFunctions }

    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText? {
        if let exact = term.exact, kind.isNumber { return computed("ocd_text(" + exact + ")") }
        switch kind {
        case .int16, .int32, .int64: return computed("CAST(" + term.text + " AS text)")
        case .boolean: return computed("CAST(CAST(" + term.text + " AS integer) AS text)")
        case .double, .float: return computed("ocd_text(CAST(" + term.text + " AS double precision))")
        case .decimal: return computed("CAST(trim_scale(" + term.text + ") AS text)")
        case .uuid: return computed("upper(CAST(" + term.text + " AS text))")
        case .string, .uri: return term.text
        default: return nil
        }
    }

    func computed(_ text: SQLText) -> SQLText { "(" + text + #" COLLATE "C")"# }

    func ordered(_ term: SQLTerm) -> SQLText {
        // The type of a column in an external table may have an order of its own.
        ordersColumnsByLanguage && (term.kind == .string || term.kind == .uri)
            ? computed("CAST(" + term.text + " AS text)") : term.text
    }

    // MARK: Changes

    func refusal(of change: SQLTextChange) -> String? { hasICU ? nil : foldingRefusal }

    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText {
        switch change {
        case .uppercase: computed(SQLText(qualified("ocd_upper(")) + text + ")")
        case .lowercase: computed(SQLText(qualified("ocd_lower(")) + text + ")")
        case .canonical: computed(SQLText(qualified("ocd_canonical(")) + text + ")")
        }
    }

    /// Returns a text without the differences that the options ignore, in the form that is compared
    /// for equality and order.
    func folded(_ text: SQLText, _ options: NSComparisonPredicate.Options) -> SQLText {
        "\(PostgreSQLFunctions.folding)(" + text + ", \(options.folding))"
    }

    // MARK: Comparisons

    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLTerm,
        _ pattern: SQLTerm
    ) throws(SQLRefusal) -> SQLText {
        let folds = !options.ignored.isEmpty
        if folds && !hasICU { throw SQLRefusal(reason: foldingRefusal) }
        if operation == .matches { return try matches(text, pattern, options) }
        if let symbol = operation.symbol {
            if options.contains(.localeSensitive) {
                throw SQLRefusal(reason: "the server knows nothing of this program's locale, by which [l] compares")
            }
            if folds { return folded(text.text, options) + symbol + folded(pattern.text, options) }
            return (operation == .equalTo ? text.text : ordered(text)) + symbol + pattern.text
        }
        let indexOptions = text.indexOptions
        let isIndexed = indexOptions?.foldings.contains(options.ignored) ?? false
        // Parts are searched in composed texts, so that a plain letter is not found in an accented
        // one.
        let value = folds ? composed(text.text, options) : text.text
        let part = folds ? composed(pattern.text, options) : pattern.text
        // A trigram index holds texts folded by one of its options, or plain texts if it has none.
        let isSearched = indexOptions.map { $0.findsParts && (folds ? isIndexed : $0.foldings.isEmpty) } ?? false
        switch operation {
        case .beginsWith:
            if folds, isIndexed, pattern.isConstant { return beginning(text, options, pattern) }
            return "starts_with(" + value + ", " + part + ")"
        case .endsWith: return hasSuffix(value, part, isSearched: isSearched)
        case .contains: return contains(value, part, isSearched: isSearched)
        case .like where !hasFunctions:
            guard case .string(let constant)? = pattern.constant?.value else {
                throw SQLRefusal(
                    reason: "the pattern has to be a constant where the schema has none of this library's functions")
            }
            return value + " LIKE " + SQLText(value: .string(Self.wildcards(constant)), kind: .string)
        case .like: return value + " LIKE ocd_wildcards(" + part + ")"
        default: throw SQLRefusal(reason: "PostgreSQL has nothing for this comparison")
        }
    }

    /// Returns a folded text in the form in which parts are searched.
    func composed(_ text: SQLText, _ options: NSComparisonPredicate.Options) -> SQLText {
        "ocd_compose(" + text + ", \(options.folding))"
    }

    func hasSuffix(_ text: SQLTerm, _ suffix: SQLText, negativeLength: SQLText) -> SQLText {
        hasSuffix(text.text, suffix, isSearched: isSearched(text))
    }

    func contains(_ text: SQLTerm, _ part: SQLText) -> SQLText {
        contains(text.text, part, isSearched: isSearched(text))
    }

    // MARK: Indexes

    /// Whether an index may hold the parts of the unfolded texts.
    private func isSearched(_ text: SQLTerm) -> Bool {
        text.indexOptions.map { $0.findsParts && $0.foldings.isEmpty } ?? false
    }

    private func hasSuffix(_ text: SQLText, _ suffix: SQLText, isSearched: Bool) -> SQLText {
        if isSearched { return text + " LIKE '%' || " + escaped(suffix) }
        return "right(" + text + ", length(" + suffix + ")) = " + suffix
    }

    /// - Parameter isSearched: whether to write the condition so that an index of parts is used: a
    ///   trigram index supports LIKE only.
    private func contains(_ text: SQLText, _ part: SQLText, isSearched: Bool) -> SQLText {
        if isSearched { return text + " LIKE '%' || " + escaped(part) + " || '%'" }
        return "position(" + part + " IN " + text + ") > 0"
    }

    /// Returns the LIKE pattern that matches a text literally.
    private func escaped(_ text: SQLText) -> SQLText {
        #"replace(replace(replace("# + text + #", '\', '\\'), '%', '\%'), '_', '\_')"#
    }

    /// Tests whether a folded text begins with a constant, with the bounds between which an index
    /// has all such texts.
    ///
    /// In the index, texts are decomposed, and other marks may be between those of the constant.
    /// The part with which both certainly begin therefore ends before the constant's last marks.
    private func beginning(_ text: SQLTerm, _ options: NSComparisonPredicate.Options, _ pattern: SQLTerm) -> SQLText {
        guard let stem = pattern.derived(.stem) else {
            return "starts_with(" + composed(text.text, options) + ", "
                + composed(pattern.forThisStatement.text, options) + ")"
        }
        let (value, start) = (folded(text.text, options), folded(stem, options))
        // The least text after them: its last code point is the next one, and surrogates are
        // skipped.
        let end =
            "left(" + start + ", -1) || CASE ascii(right(" + start
            + ", 1)) WHEN 55295 THEN chr(57344) ELSE chr(ascii(right(" + start
            + ", 1)) + 1) END"
        return "(" + value + " >= " + start + " AND " + value + " < " + end + " AND starts_with("
            + composed(text.text, options) + ", "
            + composed(pattern.text, options) + "))"
    }

    /// Returns a regular expression in PostgreSQL's syntax, where that means the same.
    private func matches(
        _ text: SQLTerm, _ pattern: SQLTerm, _ options: NSComparisonPredicate.Options
    ) throws(SQLRefusal) -> SQLText {
        guard case .string(let expression)? = pattern.constant?.value else {
            throw SQLRefusal(reason: "a regular expression has to be a constant")
        }
        let ignoresDiacritics = options.ignored.contains(.diacriticInsensitive)
        let translated = try PostgreSQLPattern.translation(
            ignoresDiacritics ? expression.folding(options: .diacriticInsensitive, locale: nil) : expression,
            ignoresCase: options.ignored.contains(.caseInsensitive))
        let value = ignoresDiacritics ? "ocd_unmarked(" + text.text + ")" : text.text
        return value + " ~ " + SQLText(value: .string(translated), kind: .string)
    }
}

extension NSComparisonPredicate.Options {
    /// The differences that are ignored.
    fileprivate var ignored: Self {
        contains(.normalized) ? [] : intersection([.caseInsensitive, .diacriticInsensitive])
    }

    /// The same in SQL: 1 for case, 2 for diacritics.
    fileprivate var folding: UInt { ignored.rawValue }
}

extension NSComparisonPredicate.Operator {
    /// The SQL operator for an equality or an order.
    var symbol: String? {
        switch self {
        case .equalTo: " = "
        case .lessThan: " < "
        case .lessThanOrEqualTo: " <= "
        case .greaterThan: " > "
        case .greaterThanOrEqualTo: " >= "
        default: nil
        }
    }
}
