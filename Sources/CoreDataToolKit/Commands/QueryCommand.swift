import CoreData

/// `coredata query`: shows the objects of an entity.
struct QueryCommand: Command {
    static let syntax = CommandSyntax(
        name: "query", summary: "Shows the objects of an entity: filtered, sorted, grouped, as a table, JSON or CSV.",
        operands: [.store, .entity],
        options: [
            .init(name: "where", value: "PREDICATE", help: "Only objects that match, in NSPredicate's language."),
            .init(name: "sort", value: "KEY[:desc],…", help: "Order by these properties, or columns of groups."),
            .init(name: "limit", value: "N", help: "At most N objects or groups."),
            .init(name: "offset", value: "N", help: "Leave out the first N."),
            .init(
                name: "columns", value: "A,B,…",
                help: "Only these properties, or paths to some; objectID is the object itself."),
            .init(
                name: "expand", value: "KEY[:DEPTH],…",
                help: "Show the objects of these relationships: nested in JSON, as rows in tables and CSV."),
            .init(name: "count", value: nil, help: "Show only how many objects there are."),
            .init(name: "group-by", value: "KEY,…", help: "A row for each group of objects with these values."),
            .init(
                name: "aggregate", value: "FUNCTION,…",
                help: "Values of groups: count, sum:KEY, avg:KEY, min:KEY, max:KEY; count by default."),
            .init(name: "explain", value: nil, help: "Show the SQL and SQLite's plan instead of the result."),
            .init(
                name: "safe-csv", value: nil, help: "Put ' before texts that a spreadsheet would take for formulas."),
            .format("table", "block", "json", "ndjson", "csv"), .model,
        ],
        notes: """
            Objects of subentities are included. To-one relationships are shown as Entity/p12, to-many ones
            as their count. Composite attributes are shown as JSON; 'address.city' in predicates, --sort and
            --columns is an element of one. Dates are in UTC; in a predicate write them as "2026-01-31" or
            "2026-01-31T12:00:00Z", and objects as they are shown: SELF == "Item/p12",
            maker IN {"Maker/p1", "Maker/p2"}. A table that is too wide for the terminal becomes a block of
            lines for each object.

              coredata query Store.sqlite Item --where 'stock < 5 AND name BEGINSWITH[c] "b"' --sort name,price:desc
              coredata query Store.sqlite Item --group-by maker.name --aggregate count,avg:price --sort count:desc
              coredata query Store.sqlite Maker --expand items:2 --format json
              coredata query Store.sqlite Maker --columns name,items.name,items.price --expand items --format csv
            """)

    private let path: String
    private let modelPath: String?
    private let options: QueryOptions

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        options = try QueryOptions(arguments, entityName: arguments.operands[1])
    }

    func run(_ console: Console) throws -> ExitStatus {
        // The trace must exist before the store is opened.
        let trace = options.explains ? StatementTrace() : nil
        // A few objects come without reading the whole table.
        let opened = try OpenedStore(
            path: path, modelPath: modelPath, entity: options.entityName, isSampled: options.limit != nil)
        for problem in opened.store.problems { try console.warn(problem) }
        try Query(options, on: opened).write(to: console, explainedBy: trace)
        return .success
    }
}
