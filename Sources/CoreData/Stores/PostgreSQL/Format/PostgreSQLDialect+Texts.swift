import Foundation

// Texts: PostgreSQL compares the columns of attributes, and what is computed here, by code points.
extension PostgreSQLDialect {
    private static let lacksICU = "the server was built without ICU, by which texts are folded and ordered"
    static let lacksFunctions = "the schema has none of this library's functions, which it takes"

    /// Why texts are not folded.
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
        // A type of others may have an order of its own.
        ordersColumnsByLanguage && (term.kind == .string || term.kind == .uri) ? computed("CAST(" + term.text + " AS text)") : term.text
    }

    // MARK: Changes

    func refusal(of change: SQLTextChange) -> String? { hasICU ? nil : foldingRefusal }

    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText {
        switch change {
        case .uppercase: computed("ocd_upper(" + text + ")")
        case .lowercase: computed("ocd_lower(" + text + ")")
        case .canonical: computed("ocd_canonical(" + text + ")")
        }
    }

    /// A text without what options leave out, as it is compared for equality and order.
    func folded(_ text: SQLText, _ options: NSComparisonPredicate.Options) -> SQLText {
        "\(PostgreSQLFunctions.folding)(" + text + ", \(options.folding))"
    }

    // MARK: Comparisons

    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLTerm, _ pattern: SQLTerm
    ) throws(SQLRefusal) -> SQLText {
        let folds = options.folding != 0
        if folds && !hasICU { throw SQLRefusal(reason: foldingRefusal) }
        if operation == .matches { return try matches(text, pattern, options) }
        if let symbol = operation.symbol {
            if options.contains(.init(rawValue: 8)) {
                throw SQLRefusal(reason: "the server knows nothing of this program's locale, by which [l] compares")
            }
            if folds { return folded(text.text, options) + symbol + folded(pattern.text, options) }
            return (operation == .equalTo ? text.text : ordered(text)) + symbol + pattern.text
        }
        // Parts are looked for in composed texts, so that an accented letter does not begin with the plain one.
        func composed(_ text: SQLText) -> SQLText { folds ? "ocd_compose(" + text + ", \(options.folding))" : text }
        let (value, part) = (composed(text.text), composed(pattern.text))
        switch operation {
        case .beginsWith: return "starts_with(" + value + ", " + part + ")"
        case .endsWith: return hasSuffix(value, part, negativeLength: SQLText(""))
        case .contains: return contains(value, part)
        case .like where !hasFunctions:
            guard case .string(let constant)? = pattern.constant?.value else {
                throw SQLRefusal(reason: "the pattern has to be a constant where the schema has none of this library's functions")
            }
            return value + " LIKE " + SQLText(value: .string(Self.wildcards(constant)), kind: .string)
        case .like: return value + " LIKE ocd_wildcards(" + part + ")"
        default: throw SQLRefusal(reason: "PostgreSQL has nothing for this comparison")
        }
    }

    func hasSuffix(_ text: SQLText, _ suffix: SQLText, negativeLength: SQLText) -> SQLText {
        "right(" + text + ", length(" + suffix + ")) = " + suffix
    }

    func contains(_ text: SQLText, _ part: SQLText) -> SQLText { "position(" + part + " IN " + text + ") > 0" }

    /// A regular expression as PostgreSQL writes it, where that means the same.
    private func matches(
        _ text: SQLTerm, _ pattern: SQLTerm, _ options: NSComparisonPredicate.Options
    ) throws(SQLRefusal) -> SQLText {
        guard case .string(let expression)? = pattern.constant?.value else {
            throw SQLRefusal(reason: "a regular expression has to be a constant")
        }
        let ignoresDiacritics = options.folding & 2 != 0
        let translated = try PostgreSQLPattern.translation(
            ignoresDiacritics ? expression.folding(options: .diacriticInsensitive, locale: nil) : expression,
            ignoresCase: options.folding & 1 != 0)
        let value = ignoresDiacritics ? "ocd_unmarked(" + text.text + ")" : text.text
        return value + " ~ " + SQLText(value: .string(translated), kind: .string)
    }
}

extension NSComparisonPredicate.Options {
    /// What is folded away: 1 for case, 2 for diacritics.
    fileprivate var folding: UInt { rawValue & 4 != 0 ? 0 : rawValue & 3 }
}

extension NSComparisonPredicate.Operator {
    /// The operator of SQL for an equality or an order.
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
