extension StoreRepair {
    /// The planned repairs and the findings that stay, one line each.
    var lines: [String] {
        planned.map { "\($0.kind.rawValue): \($0.sentence) Repair \($0.mend?.action ?? "")." }
            + left.map { finding in
                "\(finding.kind.rawValue): \(finding.sentence) "
                    + (finding.mend == nil ? "Repair leaves it as it is." : "It was not chosen.")
            }
    }

    /// The plan, and the outcome if it was carried out.
    func json(_ outcome: Outcome?) -> JSONValue {
        .object([
            .init("planned", .array(planned.map(\.json))), .init("left", .array(left.map(\.json))),
            .init("backup", .optional(outcome?.backup.folder.path)),
            .init("failures", .array((outcome?.failures ?? []).map { .string($0) })),
            .init("remaining", outcome.map { .array($0.check.findings.map(\.json)) } ?? .null),
        ])
    }
}

extension StoreRepair.Outcome {
    var lines: [String] {
        var lines = ["The backup is '\(backup.folder.path)'."]
        lines += failures.map { "Not mended: \($0)." }
        if check.findings.isEmpty { return lines + ["No faults are left."] }
        lines.append("\(StoreCheck.faults(check.findings.count)) left:")
        return lines + check.findings.map { "\($0.kind.rawValue): \($0.sentence)" }
    }
}
