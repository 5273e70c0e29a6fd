/// The SQL of a query and SQLite's plans for it, as text and JSON.
struct QueryExplanation {
    let statements: [StatementTrace.Statement]

    /// Each statement, and below it the steps of its plan, indented by depth.
    var lines: [String] {
        statements.flatMap { statement in [statement.sql] + Self.lines(of: statement.plan, under: 0, indent: "  ") }
    }

    private static func lines(of plan: [StatementTrace.Step], under parent: Int64, indent: String) -> [String] {
        // A child follows its parent: an endless nesting cannot arise.
        plan.enumerated().filter { $0.element.parent == parent }.flatMap { index, step in
            [indent + step.detail]
                + lines(of: Array(plan[(index + 1)...]), under: step.id, indent: indent + "  ")
        }
    }

    var json: JSONValue {
        .array(
            statements.map { statement in
                .object([
                    JSONValue.Member("sql", .string(statement.sql)),
                    JSONValue.Member("plan", .array(statement.plan.map(Self.json))),
                ])
            })
    }

    private static func json(_ step: StatementTrace.Step) -> JSONValue {
        .object([
            JSONValue.Member("id", .integer(step.id)), JSONValue.Member("parent", .integer(step.parent)),
            JSONValue.Member("detail", .string(step.detail)),
        ])
    }
}
