/// A diagram as a graph for Graphviz.
struct DiagramDOT {
    let diagram: EntityDiagram

    var text: String {
        var lines = [
            "digraph {", "  graph [rankdir=LR, fontname=\"Helvetica\", label=\"\(Self.quoted(diagram.name))\"]",
            "  node [shape=plain, fontname=\"Helvetica\", fontsize=11]", "  edge [dir=both, fontname=\"Helvetica\"]",
        ]
        for (index, box) in diagram.boxes.enumerated() { lines.append("  n\(index) [label=<\(Self.table(of: box))>]") }
        for line in diagram.lines { lines.append("  " + Self.edge(line)) }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    /// Returns a text between quotes; a backslash would begin an escape of Graphviz.
    private static func quoted(_ text: String) -> String {
        DisplayWidth.printable(text).replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "\"", with: "\\\"")
    }

    private static func table(of box: EntityDiagram.Box) -> String {
        func marked(_ tag: String, _ text: String) -> String {
            // Graphviz refuses empty elements.
            text.isEmpty ? "" : "<\(tag)>\(MarkupText.escaped(text))</\(tag)>"
        }
        let title = (box.isAbstract ? "<I>abstract</I> " : "") + marked("B", box.name)
        var rows = "<TR><TD PORT=\"h\" COLSPAN=\"2\" BGCOLOR=\"#cfe5ff\">\(title)</TD></TR>"
        for (index, row) in box.rows.enumerated() {
            rows +=
                "<TR><TD PORT=\"r\(index)\" ALIGN=\"LEFT\">\(MarkupText.escaped(row.name))</TD>"
                + "<TD PORT=\"t\(index)\" ALIGN=\"LEFT\">\(marked("I", row.type))</TD></TR>"
        }
        return "<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\">\(rows)</TABLE>"
    }

    private static func edge(_ line: EntityDiagram.Line) -> String {
        // A line leaves a box beside the type of its row, and reaches one beside the name.
        let from = "n\(line.from.box):\(line.from.row.map { "t\($0)" } ?? "h")"
        let to = "n\(line.to.box):\(line.to.row.map { "r\($0)" } ?? "h")"
        let ends =
            line.kind == .inheritance
            ? "arrowtail=onormal, arrowhead=none"
            : "arrowtail=\(arrow(line.fromCount)), arrowhead=\(arrow(line.toCount))"
        return "\(from) -> \(to) [\(ends), tooltip=\"\(quoted(line.label))\"]"
    }

    private static func arrow(_ count: EntityDiagram.Count) -> String {
        switch count {
        case .one: "teetee"
        case .zeroOrOne: "teeodot"
        case .oneOrMore: "crowtee"
        case .any: "crowodot"
        case .unknown: "none"
        }
    }
}
