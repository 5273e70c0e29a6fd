/// A difference between two versions of a model: of the model itself, or of a part of it.
struct ModelChange {
    enum Kind: String {
        case added, removed, renamed, changed
    }

    let kind: Kind
    /// `entity`, `attribute`, `index`, …
    let part: String
    let name: String
    /// The name in the old version, if it has another one.
    var oldName: String?
    /// A description of the part, or of its differences.
    var details: [String] = []
    var members: [ModelChange] = []

    /// Pairs the parts of two versions by their renaming identifiers and names, as migrations do.
    ///
    /// - Returns: for each new part the number of the old one.
    static func pairs(
        from old: [(name: String, identifier: String)], to new: [(name: String, identifier: String)]
    ) -> [Int?] {
        var result = [Int?](repeating: nil, count: new.count)
        var taken: Set<Int> = []
        func pass(_ fits: ((name: String, identifier: String), (name: String, identifier: String)) -> Bool) {
            for (index, part) in new.enumerated() where result[index] == nil {
                guard let found = old.indices.first(where: { !taken.contains($0) && fits(old[$0], part) }) else {
                    continue
                }
                taken.insert(found)
                result[index] = found
            }
        }
        // Renamed parts come first: a new part may have the old name of one.
        pass { $1.identifier != $1.name && $0.name == $1.name && $0.identifier == $1.identifier }
        pass { $1.identifier != $1.name && $0.identifier == $1.identifier }
        pass { $1.identifier != $1.name && $0.name == $1.identifier }
        pass { $0.name == $1.name }
        pass { $0.identifier == $1.name }
        return result
    }

    /// Returns the differences between lists of texts with unique names.
    static func differences(
        in part: String, from old: [(name: String, text: String)], to new: [(name: String, text: String)]
    ) -> [ModelChange] {
        let removed = old.filter { before in !new.contains { $0.name == before.name } }
        var changes = removed.map { ModelChange(kind: .removed, part: part, name: $0.name, details: [$0.text]) }
        for after in new {
            guard let before = old.first(where: { $0.name == after.name }) else {
                changes.append(ModelChange(kind: .added, part: part, name: after.name, details: [after.text]))
                continue
            }
            if before.text == after.text { continue }
            let detail = "was \(before.text), is now \(after.text)"
            changes.append(ModelChange(kind: .changed, part: part, name: after.name, details: [detail]))
        }
        return changes
    }

    // MARK: Writing

    /// The lines of the change and its members: printable.
    func lines(_ style: TextStyle, depth: Int = 0) -> [String] {
        let indentation = String(repeating: "    ", count: depth)
        var text = "\(part) \(name)"
        let renamed = oldName.map { ["was named \($0)"] } ?? []
        let details = (renamed + details).filter { !$0.isEmpty }
        if !details.isEmpty { text += ": " + details.joined(separator: "; ") }
        text = DisplayWidth.printable(text)
        let line =
            switch kind {
            case .added: style.added("+ \(text)")
            case .removed: style.removed("- \(text)")
            case .renamed, .changed: style.changed("~ \(text)")
            }
        return [indentation + line] + members.flatMap { $0.lines(style, depth: depth + 1) }
    }

    var json: JSONValue {
        .object([
            .init("change", .string(kind.rawValue)), .init("part", .string(part)), .init("name", .string(name)),
            .init("oldName", .optional(oldName)), .init("details", .array(details.map { .string($0) })),
            .init("changes", .array(members.map(\.json))),
        ])
    }
}
