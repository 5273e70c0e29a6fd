/// Writes the differences of two stores as text, JSON or a line of JSON for each.
struct DiffWriter {
    private let console: Console
    private let format: String
    /// The greatest number of objects of an entity that are shown; nil for all.
    private let limit: Int?
    private var summaries: [StoreDiff.Summary] = []
    /// The differences of the entity that is compared.
    private var lines: [String] = []
    private var values: [JSONValue] = []
    private var details: [[JSONValue]] = []
    private var texts: [(entity: String, lines: [String])] = []
    private var shown = 0

    init(_ console: Console, format: String, limit: Int?) {
        self.console = console
        self.format = format
        self.limit = limit
    }

    mutating func write(_ change: StoreDiff.Change, of entity: String) throws {
        guard shown < limit ?? .max else { return }
        shown += 1
        switch format {
        case "ndjson": try console.output.write(json: json(change, entity), end: "\n")
        case "json": values.append(json(change, entity))
        default: lines += text(change)
        }
    }

    /// Ends an entity.
    mutating func finish(_ summary: StoreDiff.Summary) throws {
        summaries.append(summary)
        details.append(values)
        if !lines.isEmpty { texts.append((summary.entity, lines)) }
        (lines, values, shown) = ([], [], 0)
    }

    /// Ends the comparison.
    ///
    /// - Returns: whether the stores are equal.
    func finish() throws -> Bool {
        let isEqual = summaries.allSatisfy(\.isEqual)
        switch format {
        case "ndjson": break
        case "json":
            let entities = zip(summaries, details).map(json)
            try console.write(json: .object([.init("isEqual", .bool(isEqual)), .init("entities", .array(entities))]))
        default: try writeText(isEqual)
        }
        return isEqual
    }

    // MARK: Text

    private func writeText(_ isEqual: Bool) throws {
        let names = summaries.map { DisplayWidth.printable($0.entity) }
        let width = max(6, names.map(DisplayWidth.of).max() ?? 0) + 2
        func right(_ text: String) -> String { String(repeating: " ", count: max(0, 10 - text.count)) + text }
        func line(_ name: String, _ numbers: [String]) -> String {
            name + String(repeating: " ", count: width - DisplayWidth.of(name)) + numbers.map(right).joined() + "\n"
        }
        try console.output.write(console.style.heading(line("Entity", ["Added", "Removed", "Changed", "Same"])))
        for (summary, name) in zip(summaries, names) {
            let counts = [summary.added, summary.removed, summary.changed, summary.same].map { "\($0)" }
            try console.output.write(line(name, counts))
            for (place, properties) in [("first", summary.onlyFirst), ("second", summary.onlySecond)]
            where !properties.isEmpty {
                try console.output.write(
                    line: "  only in the \(place) store: \(properties.joined(separator: ", "))")
            }
        }
        for (entity, lines) in texts {
            try console.output.write("\n" + console.style.heading(DisplayWidth.printable(entity)) + "\n")
            for line in lines { try console.output.write(line + "\n") }
        }
        if isEqual { try console.output.write("The stores have the same objects.\n") }
    }

    private func text(_ change: StoreDiff.Change) -> [String] {
        func values(_ values: [(name: String, value: CellValue)]) -> String {
            values.map { "\(DisplayWidth.printable($0.name)): \(Self.short($0.value))" }.joined(separator: ", ")
        }
        switch change {
        case .added(let name, let list):
            return [console.style.added("+ " + DisplayWidth.printable(name)) + "  " + values(list)]
        case .removed(let name, let list):
            return [console.style.removed("- " + DisplayWidth.printable(name)) + "  " + values(list)]
        case .changed(let name, let list):
            return [console.style.changed("~ " + DisplayWidth.printable(name))]
                + list.map { "    \(DisplayWidth.printable($0.name)): \(Self.short($0.old)) → \(Self.short($0.new))" }
        }
    }

    private static func short(_ value: CellValue) -> String {
        if case .text(let text) = value { return DisplayWidth.truncated("'\(DisplayWidth.printable(text))'", to: 60) }
        return DisplayWidth.truncated(value.tableText, to: 60)
    }

    // MARK: JSON

    private func json(_ change: StoreDiff.Change, _ entity: String) -> JSONValue {
        func members(_ values: [(name: String, value: CellValue)]) -> JSONValue {
            .object(values.map { .init($0.name, $0.value.json) })
        }
        switch change {
        case .added(let name, let values):
            return .object([
                .init("change", .string("added")), .init("objectID", .string(name)), .init("values", members(values)),
            ])
        case .removed(let name, let values):
            return .object([
                .init("change", .string("removed")), .init("objectID", .string(name)), .init("values", members(values)),
            ])
        case .changed(let name, let values):
            let changes = values.map { change in
                JSONValue.Member(
                    change.name, .object([.init("old", change.old.json), .init("new", change.new.json)]))
            }
            return .object([
                .init("change", .string("changed")), .init("objectID", .string(name)),
                .init("values", .object(changes)),
            ])
        }
    }

    private func json(_ summary: StoreDiff.Summary, _ details: [JSONValue]) -> JSONValue {
        func names(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
        return .object([
            .init("name", .string(summary.entity)), .init("added", .integer(summary.added)),
            .init("removed", .integer(summary.removed)), .init("changed", .integer(summary.changed)),
            .init("same", .integer(summary.same)), .init("onlyInFirst", names(summary.onlyFirst)),
            .init("onlyInSecond", names(summary.onlySecond)), .init("changes", .array(details)),
        ])
    }
}
