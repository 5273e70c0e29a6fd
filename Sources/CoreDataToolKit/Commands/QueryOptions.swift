/// The options of a query, checked as far as they can be without a store.
struct QueryOptions {
    typealias SortKey = (key: String, ascending: Bool)

    /// The form of the result.
    enum Form {
        case objects(columns: [String]?, expanding: [Expansion.Request])
        case groups(keys: [String], [Aggregate])
        case count
    }

    let entityName: String
    let predicateText: String?
    let sortKeys: [SortKey]
    let limit: Int?
    let offset: Int
    let form: Form
    let format: RowFormats
    /// Whether cells of CSV that a spreadsheet would take for formulas are made harmless.
    let isSafe: Bool
    let explains: Bool

    /// - Throws: `UsageError` for values that are invalid for any store.
    init(_ arguments: CommandSyntax.Arguments, entityName: String) throws(UsageError) {
        self.entityName = entityName
        predicateText = arguments.values["where"]
        sortKeys = try Self.sortKeys(arguments.names("sort", of: "property") ?? [])
        limit = try arguments.count("limit")
        offset = try arguments.count("offset") ?? 0
        format = RowFormats(rawValue: arguments.format) ?? .table
        isSafe = arguments.flags.contains("safe-csv")
        explains = arguments.flags.contains("explain")
        form = try Self.form(arguments)
        if isSafe, format != .csv { throw UsageError(message: "--safe-csv is for --format csv.") }
        if case .objects(_, let expanded) = form, !format.isJSON, let deep = expanded.first(where: { $0.depth > 1 }) {
            throw UsageError(message: "--expand \(deep.key):\(deep.depth) needs --format json or ndjson.")
        }
    }

    private static func form(_ arguments: CommandSyntax.Arguments) throws(UsageError) -> Form {
        let groups = try arguments.names("group-by", of: "property")
        let aggregates = try arguments.names("aggregate", of: "function")
        let forms = [
            "count": arguments.flags.contains("count"), "group-by": groups != nil || aggregates != nil,
            "columns": arguments.values["columns"] != nil, "expand": arguments.values["expand"] != nil,
        ]
        let given = forms.filter(\.value).keys.sorted()
        if given.count > 1, given != ["columns", "expand"] {
            throw UsageError(message: "--\(given[0]) and --\(given[1]) exclude each other.")
        }
        if arguments.flags.contains("count") { return .count }
        if groups != nil || aggregates != nil {
            var parsed: [Aggregate] = []
            for text in aggregates ?? [] { parsed.append(try Aggregate(text)) }
            return .groups(keys: groups ?? [], aggregates == nil ? [.count] : parsed)
        }
        var expanded: [Expansion.Request] = []
        for text in try arguments.names("expand", of: "relationship") ?? [] {
            expanded.append(try Expansion.Request(text))
        }
        return .objects(columns: try arguments.names("columns", of: "property"), expanding: expanded)
    }

    /// The direction is the last part: names of aggregates have a colon, too.
    private static func sortKeys(_ words: [String]) throws(UsageError) -> [SortKey] {
        var keys: [SortKey] = []
        for word in words {
            var parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            var direction = "asc"
            if let last = parts.last?.lowercased(), parts.count > 1, ["asc", "desc"].contains(last) {
                direction = last
                parts.removeLast()
            }
            let key = parts.joined(separator: ":")
            let isAggregate = parts.count == 2 && Aggregate.Function(rawValue: parts[0].lowercased()) != nil
            guard !parts[0].isEmpty, parts.count == 1 || isAggregate else {
                throw UsageError(message: "--sort takes KEY, KEY:asc or KEY:desc, not '\(word)'.")
            }
            keys.append((key, direction == "asc"))
        }
        return keys
    }
}
