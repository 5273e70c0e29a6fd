/// Objects with their relationships, as text and JSON.
struct ObjectReport {
    let objects: [ObjectDetails]

    // MARK: Text

    /// - Parameters:
    ///   - width: the number of columns of the terminal.
    ///   - style: the emphasis of names.
    func text(width: Int, style: TextStyle) -> String {
        objects.map { Self.block($0, width, style) }.joined(separator: "\n")
    }

    private static func block(_ object: ObjectDetails, _ width: Int, _ style: TextStyle) -> String {
        let heading = style.heading(DisplayWidth.printable(object.name.text))
        var lines: [(name: String, value: String)] = object.attributes.map { ($0.name, $0.value.tableText) }
        for relationship in object.relationships { lines += Self.lines(of: relationship) }
        let nameWidth = lines.map { DisplayWidth.of(DisplayWidth.printable($0.name)) }.max() ?? 0
        let room = max(width - nameWidth - 4, 20)
        let body = lines.map { line in
            let name = DisplayWidth.printable(line.name)
            let padding = String(repeating: " ", count: nameWidth - DisplayWidth.of(name) + 2)
            return "  " + style.faint(name) + padding + DisplayWidth.truncated(line.value, to: room)
        }
        return ([heading + "  " + DisplayWidth.printable(object.uri)] + body).joined(separator: "\n") + "\n"
    }

    private static func lines(of relationship: ObjectDetails.Relationship) -> [(name: String, value: String)] {
        let members = relationship.members.map { member in
            DisplayWidth.printable([member.name.text, member.label].compactMap { $0 }.joined(separator: "  "))
        }
        guard relationship.isToMany else { return [(relationship.name, members.first ?? "-")] }
        var lines = [(relationship.name, "\(relationship.count)")] + members.map { ("", $0) }
        let rest = relationship.count - members.count
        if rest > 0 { lines.append(("", "… and \(rest) more")) }
        return lines
    }

    // MARK: JSON

    /// The first object, and those behind it as its member `followed` if there are any.
    var json: JSONValue {
        guard let first = objects.first else { return .null }
        var members = Self.members(of: first)
        if objects.count > 1 {
            members.append(
                JSONValue.Member("followed", .array(objects.dropFirst().map { .object(Self.members(of: $0)) })))
        }
        return .object(members)
    }

    private static func members(of object: ObjectDetails) -> [JSONValue.Member] {
        [
            JSONValue.Member("objectID", .string(object.name.text)), JSONValue.Member("uri", .string(object.uri)),
            JSONValue.Member("label", .optional(object.label)),
            JSONValue.Member(
                "attributes", .object(object.attributes.map { JSONValue.Member($0.name, $0.value.json) })),
            JSONValue.Member(
                "relationships", .object(object.relationships.map { JSONValue.Member($0.name, json(of: $0)) })),
        ]
    }

    private static func json(of relationship: ObjectDetails.Relationship) -> JSONValue {
        let members = relationship.members.map { member in
            JSONValue.object([
                JSONValue.Member("objectID", .string(member.name.text)),
                JSONValue.Member("label", .optional(member.label)),
            ])
        }
        guard relationship.isToMany else { return members.first ?? .null }
        return .object([
            JSONValue.Member("count", .integer(relationship.count)), JSONValue.Member("objects", .array(members)),
        ])
    }
}
