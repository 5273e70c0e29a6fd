extension StoreCheck {
    /// The findings as lines for people.
    var lines: [String] {
        if findings.isEmpty { return ["No faults found."] }
        let mendable = findings.count { $0.mend != nil }
        var lines = findings.map { "\($0.kind.rawValue): \($0.sentence)" }
        lines.append("")
        lines.append("\(Self.faults(findings.count)); 'coredata repair' can mend \(mendable) of them.")
        return lines
    }

    static func faults(_ count: Int) -> String { count == 1 ? "1 kind of fault" : "\(count) kinds of faults" }

    var json: JSONValue {
        .object([
            .init("path", .string(path)), .init("isClean", .bool(findings.isEmpty)),
            .init("findings", .array(findings.map(\.json))),
        ])
    }
}

extension StoreFinding {
    var json: JSONValue {
        .object([
            .init("kind", .string(kind.rawValue)), .init("table", .optional(table)),
            .init("entity", .optional(entity)), .init("property", .optional(property)),
            .init("count", .integer(count)), .init("examples", .array(examples.map { .string($0) })),
            .init("sentence", .string(sentence)), .init("canBeMended", .bool(mend != nil)),
            .init("mend", .optional(mend?.action)),
        ])
    }
}
