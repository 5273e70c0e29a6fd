/// A diagram as an entity relationship diagram of Mermaid.
///
/// Names stand in quotes, where Mermaid takes every character but some that have numbers instead.
/// Source: <https://mermaid.js.org/syntax/entityRelationshipDiagram.html>
struct DiagramMermaid {
    let diagram: EntityDiagram

    var text: String {
        var lines = ["erDiagram"]
        for box in diagram.boxes {
            let attributes = box.rows.filter { !$0.isRelationship }
            lines.append("  " + Self.quoted(box.name) + (attributes.isEmpty ? "" : " {"))
            if attributes.isEmpty { continue }
            lines += attributes.map { "    " + Self.attribute($0) } + ["  }"]
        }
        for line in diagram.lines {
            let ends =
                line.kind == .inheritance
                ? "||..o|" : "\(Self.left(line.fromCount))--\(Self.right(line.toCount))"
            let (from, to) = (diagram.boxes[line.from.box].name, diagram.boxes[line.to.box].name)
            lines.append("  \(Self.quoted(from)) \(ends) \(Self.quoted(to)) : \(Self.quoted(line.label))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a text in quotes. Mermaid takes `#34;` for a character with this number.
    private static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in DisplayWidth.printable(text).unicodeScalars {
            switch scalar {
            case "\"", "#", ";", "<", ">", "&", "%", "`", "\\", "{", "}", "[", "]": result += "#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        // An empty text is a mistake in Mermaid.
        return "\"\(result.isEmpty ? " " : result)\""
    }

    /// Returns the type and the name of an attribute. A name that Mermaid does not take stands in a
    /// comment.
    private static func attribute(_ row: EntityDiagram.Row) -> String {
        let isOptional = row.type.hasSuffix("?")
        let name = word(row.name)
        let notes = (name == row.name ? [] : [row.name]) + (isOptional ? ["optional"] : [])
        let comment = notes.isEmpty ? "" : " " + quoted(notes.joined(separator: ", "))
        return "\(word(isOptional ? String(row.type.dropLast()) : row.type)) \(name)\(comment)"
    }

    /// Returns a text of ASCII letters, digits and underscores that begins with a letter. `PK`,
    /// `FK` and `UK`, in any case, are no names.
    private static func word(_ text: String) -> String {
        let word = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        let isTaken = ["PK", "FK", "UK"].contains(word.uppercased())
        return word.first?.isLetter == true && !isTaken ? word : "a" + word
    }

    private static func left(_ count: EntityDiagram.Count) -> String {
        switch count {
        case .one: "||"
        case .zeroOrOne: "|o"
        case .oneOrMore: "}|"
        // Mermaid has no end without a number.
        case .any, .unknown: "}o"
        }
    }

    private static func right(_ count: EntityDiagram.Count) -> String {
        switch count {
        case .one: "||"
        case .zeroOrOne: "o|"
        case .oneOrMore: "|{"
        case .any, .unknown: "o{"
        }
    }
}
