/// The outcome of an import.
struct ImportReport {
    struct Count {
        let entity: String
        var inserted = 0
        var updated = 0
    }

    let store: String
    let isDryRun: Bool
    /// The number of rows in the files.
    let rows: Int
    /// The objects that were written, by entity, in the order of names.
    let counts: [Count]
    let refused: Int
    let problems: [ImportProblem]
    /// Whether refused rows stopped the import.
    let isStopped: Bool

    var inserted: Int { counts.reduce(0) { $0 + $1.inserted } }
    var updated: Int { counts.reduce(0) { $0 + $1.updated } }

    private static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }

    var lines: [String] {
        var lines = counts.map { count in
            let parts = [(count.inserted, "new"), (count.updated, "updated")].filter { $0.0 > 0 }
            return "\(count.entity): \(parts.map { "\($0.0) \($0.1)" }.joined(separator: ", "))"
        }
        let verb = isDryRun ? "would be imported into" : "imported into"
        lines.append("\(Self.objects(inserted + updated)) \(verb) \(store)")
        if refused > 0 { lines.append(refused == 1 ? "1 row refused" : "\(refused) rows refused") }
        return lines
    }

    var json: JSONValue {
        .object([
            .init("store", .string(store)), .init("dryRun", .bool(isDryRun)), .init("stopped", .bool(isStopped)),
            .init("rows", .integer(rows)), .init("inserted", .integer(inserted)), .init("updated", .integer(updated)),
            .init("refused", .integer(refused)),
            .init(
                "entities",
                .array(
                    counts.map { count in
                        .object([
                            .init("name", .string(count.entity)), .init("inserted", .integer(count.inserted)),
                            .init("updated", .integer(count.updated)),
                        ])
                    })), .init("problems", .array(problems.map(\.json))),
        ])
    }
}
