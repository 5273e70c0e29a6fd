extension StoreRecovery.Lost {
    var text: String {
        switch self {
        case .none: "0"
        case .exactly(let count): "\(count)"
        case .atMost(let count): "at most \(count)"
        case .unknown: "unknown"
        }
    }
}

extension StoreRecovery {
    /// The saved and lost objects as lines for people.
    func lines(output: String) -> [String] {
        let width = max(parts.map { DisplayWidth.of($0.name) }.max() ?? 0, 6) + 2
        func line(_ name: String, _ saved: String, _ lost: String) -> String {
            name + String(repeating: " ", count: max(0, width - DisplayWidth.of(name)))
                + String(repeating: " ", count: max(0, 10 - saved.count)) + saved + "  " + lost
        }
        var lines = [line("Entity", "Saved", "Lost")]
        lines += parts.map { line(DisplayWidth.printable($0.name), "\($0.saved)", $0.lost.text) }
        if externalFiles > 0 { lines.append("External files copied: \(externalFiles)") }
        lines += problems
        return lines + ["", "The new store is '\(output)'. 'coredata check' tells what is still wrong with it."]
    }

    func json(output: String) -> JSONValue {
        .object([
            .init("output", .string(output)), .init("isComplete", .bool(isComplete)),
            .init(
                "entities",
                .array(
                    parts.map { part in
                        .object([
                            .init("name", .string(part.name)), .init("saved", .integer(part.saved)),
                            .init("lost", part.lost.json), .init("isAtMost", .bool(part.lost.isAtMost)),
                        ])
                    })),
            .init("externalFiles", .integer(externalFiles)),
            .init("problems", .array(problems.map { .string($0) })),
        ])
    }
}

extension StoreRecovery.Lost {
    fileprivate var json: JSONValue {
        switch self {
        case .none: .integer(0)
        case .exactly(let count), .atMost(let count): .integer(count)
        case .unknown: .null
        }
    }

    fileprivate var isAtMost: Bool { if case .atMost = self { true } else { false } }
}
