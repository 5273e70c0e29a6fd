/// The changes of an edit, as text and JSON.
struct EditReport {
    let changes: ObjectChanges

    /// The greatest number of changes of one kind that are listed as text.
    private static let listed = 200

    // MARK: Text

    func text(style: TextStyle) -> String {
        let lines =
            Self.lines("insert", changes.inserted, style.added) + Self.lines("change", changes.changed, style.changed)
            + Self.lines("delete", changes.deleted, style.removed)
        return (lines + [summary]).joined(separator: "\n") + "\n"
    }

    /// How many objects are affected, in a sentence.
    var summary: String {
        let counts = [
            (changes.inserted.count, "inserted"), (changes.changed.count, "changed"),
            (changes.deleted.count, "deleted"),
        ].filter { $0.0 > 0 }
        if counts.isEmpty { return "Nothing changes." }
        return counts.map { "\($0.0) \($0.0 == 1 ? "object" : "objects") \($0.1)" }.joined(separator: ", ") + "."
    }

    private static func lines(
        _ verb: String, _ changes: [ObjectChanges.Change], _ style: (String) -> String
    ) -> [String] {
        var lines: [String] = []
        for change in changes.prefix(listed) {
            let label = change.label.map { "  " + DisplayWidth.truncated(DisplayWidth.printable($0), to: 60) } ?? ""
            let reason = change.isConsequence ? "  (by a delete rule)" : ""
            lines.append("\(style(verb))  \(DisplayWidth.printable(change.name))\(label)\(reason)")
            let width = change.values.map { DisplayWidth.of(DisplayWidth.printable($0.key)) }.max() ?? 0
            lines += change.values.map { line($0.key, $0.change, width) }
        }
        if changes.count > listed { lines.append("… and \(changes.count - listed) more to \(verb)") }
        return lines
    }

    private static func line(_ key: String, _ change: ObjectChanges.ValueChange, _ width: Int) -> String {
        let name = DisplayWidth.printable(key)
        let padding = String(repeating: " ", count: width - DisplayWidth.of(name))
        return "        \(name)\(padding)  " + text(of: change)
    }

    private static func text(of change: ObjectChanges.ValueChange) -> String {
        switch change {
        case .value(let old, let new): return "\(old.tableText) → \(new.tableText)"
        case .members(let added, let removed):
            let members = added.map { "+ \($0)" } + removed.map { "- \($0)" }
            if members.isEmpty { return "another order" }
            let rest = members.count > 20 ? " … \(members.count - 20) more" : ""
            return DisplayWidth.printable(members.prefix(20).joined(separator: "  ")) + rest
        }
    }

    // MARK: JSON

    /// - Parameter done: the new objects and the copy of the store, if the change was made.
    func json(done: (inserted: [ObjectName], backup: StoreBackup)?) -> JSONValue {
        .object([
            JSONValue.Member("isDone", .bool(done != nil)),
            JSONValue.Member("inserted", .array(changes.inserted.map(Self.json))),
            JSONValue.Member("changed", .array(changes.changed.map(Self.json))),
            JSONValue.Member("deleted", .array(changes.deleted.map(Self.json))),
            JSONValue.Member("newObjects", .array((done?.inserted ?? []).map { .string($0.text) })),
            JSONValue.Member("backup", .optional(done?.backup.folder.path)),
        ])
    }

    private static func json(_ change: ObjectChanges.Change) -> JSONValue {
        .object([
            JSONValue.Member("objectID", .string(change.name)), JSONValue.Member("label", .optional(change.label)),
            JSONValue.Member("values", .object(change.values.map { JSONValue.Member($0.key, json($0.change)) })),
            JSONValue.Member("isConsequence", .bool(change.isConsequence)),
        ])
    }

    private static func json(_ change: ObjectChanges.ValueChange) -> JSONValue {
        switch change {
        case .value(let old, let new):
            .object([JSONValue.Member("old", old.json), JSONValue.Member("new", new.json)])
        case .members(let added, let removed):
            .object([
                JSONValue.Member("added", .array(added.map { .string($0) })),
                JSONValue.Member("removed", .array(removed.map { .string($0) })),
            ])
        }
    }
}
