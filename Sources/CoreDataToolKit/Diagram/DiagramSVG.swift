/// A diagram as an SVG element, for a file of its own or for a page of HTML.
///
/// It has no scripts, no links and nothing from outside. Its colours follow the light or dark
/// scheme of the reader.
struct DiagramSVG {
    private let diagram: EntityDiagram
    private let layout: DiagramLayout

    private static let margin = 24.0

    init(_ diagram: EntityDiagram) { self.init(diagram, DiagramLayout(diagram)) }

    init(_ diagram: EntityDiagram, _ layout: DiagramLayout) {
        self.diagram = diagram
        var layout = layout
        let bounds = layout.bounds
        layout.move(by: DiagramPoint(x: Self.margin - bounds.x, y: Self.margin - bounds.y))
        self.layout = layout
    }

    /// The `<svg>` element, without an XML declaration.
    var text: String {
        let bounds = layout.bounds
        // The text of a diagram without boxes needs room.
        let width = Self.number(max(bounds.width, 160) + 2 * Self.margin)
        let height = Self.number(max(bounds.height, 24) + 2 * Self.margin)
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"coredata-diagram\" width=\"\(width)\" "
                + "height=\"\(height)\" viewBox=\"0 0 \(width) \(height)\" role=\"img\" "
                + "aria-labelledby=\"coredata-diagram-title coredata-diagram-description\">",
            "<title id=\"coredata-diagram-title\">Entities of \(MarkupText.escaped(diagram.name))</title>",
            "<desc id=\"coredata-diagram-description\">\(MarkupText.escaped(description))</desc>",
            "<style>\(Self.style)</style>",
            "<rect class=\"paper\" x=\"0\" y=\"0\" width=\"\(width)\" height=\"\(height)\"/>",
        ]
        if diagram.boxes.isEmpty { parts.append("<text x=\"24\" y=\"44\">The model has no entities.</text>") }
        // Boxes cover the lines that Graphviz leads behind them.
        parts += zip(diagram.lines, layout.routes).map(curve)
        parts += zip(diagram.boxes, layout.frames).map(box)
        parts += zip(diagram.lines, layout.routes).map(ends)
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private var description: String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String {
            count == 1 ? "1 \(one)" : "\(count) \(many)"
        }
        let summary = counted(diagram.boxes.count, "entity", "entities")
        let names = diagram.boxes.map(\.name).joined(separator: ", ")
        return ([diagram.boxes.isEmpty ? "No entities" : "\(summary): \(names)"] + diagram.lines.map(\.label))
            .joined(separator: ". ") + "."
    }

    private static func number(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
    }

    // Only what is within a diagram has these colours: the element may be part of a page.
    private static let style = """

        .coredata-diagram { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .coredata-diagram text { fill: #1f2328; }
        .coredata-diagram .paper { fill: #ffffff; }
        .coredata-diagram .box { fill: #f6f8fa; stroke: #848d97; }
        .coredata-diagram .head { fill: #cfe5ff; }
        .coredata-diagram .abstract .head { fill: #e4e7eb; }
        .coredata-diagram .abstract .name { font-style: italic; }
        .coredata-diagram .abstract .box { stroke-dasharray: 5 3; }
        .coredata-diagram .name { font-weight: bold; }
        .coredata-diagram .type { fill: #59636e; text-anchor: end; }
        .coredata-diagram .relationship .type { fill: #0757b5; }
        .coredata-diagram .line { fill: none; stroke: #6e7781; stroke-width: 1.3; }
        .coredata-diagram .inheritance.line { stroke: #8250df; }
        .coredata-diagram .end { fill: #ffffff; stroke: #4f5862; stroke-width: 1.3; }
        .coredata-diagram .inheritance.end { stroke: #8250df; }
        @media (prefers-color-scheme: dark) {
        .coredata-diagram text { fill: #e6edf3; }
        .coredata-diagram .paper { fill: #0d1117; }
        .coredata-diagram .box { fill: #161b22; stroke: #656c76; }
        .coredata-diagram .head { fill: #1b3a61; }
        .coredata-diagram .abstract .head { fill: #2b313a; }
        .coredata-diagram .type { fill: #9aa4af; }
        .coredata-diagram .relationship .type { fill: #79b8ff; }
        .coredata-diagram .line { stroke: #8b949e; }
        .coredata-diagram .inheritance.line { stroke: #b392f0; }
        .coredata-diagram .end { fill: #0d1117; stroke: #b1bac4; }
        .coredata-diagram .inheritance.end { stroke: #b392f0; }
        }

        """

    // MARK: Boxes

    private func box(_ box: EntityDiagram.Box, _ frame: DiagramFrame) -> String {
        let (x, y, width) = (Self.number(frame.x), Self.number(frame.y), Self.number(frame.width))
        let place = "x=\"\(x)\" y=\"\(y)\" width=\"\(width)\""
        let padding = BoxSize.padding
        var parts = [
            "<g class=\"entity\(box.isAbstract ? " abstract" : "")\">",
            "<title>\(MarkupText.escaped(box.name))\(box.isAbstract ? " (abstract)" : "")</title>",
            "<rect class=\"box\" \(place) height=\"\(Self.number(frame.height))\" rx=\"3\"/>",
            "<rect class=\"head\" \(place) height=\"\(Self.number(BoxSize.headHeight))\" rx=\"3\"/>",
            Self.text(
                box.name, "name", x: frame.x + padding, y: frame.y + BoxSize.headHeight / 2, most: BoxSize.longestName),
        ]
        for (index, row) in box.rows.enumerated() {
            let y = frame.y + BoxSize.portHeight(of: index)
            parts.append(
                "<g class=\"\(row.isRelationship ? "relationship" : "attribute")\">"
                    + Self.text(row.name, "key", x: frame.x + padding, y: y, most: BoxSize.longestName)
                    + Self.text(row.type, "type", x: frame.right - padding, y: y, most: BoxSize.longestType) + "</g>")
        }
        return (parts + ["</g>"]).joined(separator: "\n")
    }

    /// - Parameter most: the columns behind which the text is cut; it stands whole in a title.
    private static func text(_ text: String, _ kind: String, x: Double, y: Double, most: Int) -> String {
        let shown = DisplayWidth.truncated(DisplayWidth.printable(text), to: most)
        let title = shown == DisplayWidth.printable(text) ? "" : "<title>\(MarkupText.escaped(text))</title>"
        return "<text class=\"\(kind)\" x=\"\(number(x))\" y=\"\(number(y + 4))\">"
            + "\(MarkupText.escaped(shown))\(title)</text>"
    }

    // MARK: Lines

    private func curve(_ line: EntityDiagram.Line, _ route: [DiagramPoint]) -> String {
        var path = ""
        for (index, point) in route.enumerated() {
            let command = index == 0 ? "M" : index % 3 == 1 ? " C" : " "
            path += "\(command)\(Self.number(point.x)) \(Self.number(point.y))"
        }
        return
            "<path class=\"\(Self.kind(line)) line\" d=\"\(path)\">"
            + "<title>\(MarkupText.escaped(line.label))</title></path>"
    }

    private func ends(_ line: EntityDiagram.Line, _ route: [DiagramPoint]) -> String {
        guard let first = route.first, let last = route.last else { return "" }
        let (from, to) = (layout.frames[line.from.box], layout.frames[line.to.box])
        let start = DiagramEnd(point: first, direction: Self.direction(at: first, of: from))
        if line.kind == .inheritance { return "<path class=\"inheritance end\" d=\"\(start.triangle)\"/>" }
        let end = DiagramEnd(point: last, direction: Self.direction(at: last, of: to))
        let path = start.path(line.fromCount) + end.path(line.toCount)
        return path.isEmpty ? "" : "<path class=\"relationship end\" d=\"\(path)\"/>"
    }

    private static func kind(_ line: EntityDiagram.Line) -> String {
        line.kind == .inheritance ? "inheritance" : "relationship"
    }

    /// Returns the direction away from a box at a point on its border.
    private static func direction(at point: DiagramPoint, of frame: DiagramFrame) -> DiagramPoint {
        let sides = [
            (abs(point.x - frame.x), DiagramPoint(x: -1, y: 0)), (abs(point.x - frame.right), DiagramPoint(x: 1, y: 0)),
            (abs(point.y - frame.y), DiagramPoint(x: 0, y: -1)),
            (abs(point.y - frame.bottom), DiagramPoint(x: 0, y: 1)),
        ]
        return sides.min { $0.0 < $1.0 }?.1 ?? DiagramPoint(x: 1, y: 0)
    }
}

/// The mark at the end of a line: how many objects are there.
private struct DiagramEnd {
    let point: DiagramPoint
    /// The direction away from the box.
    let direction: DiagramPoint

    /// Returns a place at a distance from the box, beside the line.
    private func place(_ distance: Double, _ beside: Double) -> String {
        let x = point.x + distance * direction.x - beside * direction.y
        let y = point.y + distance * direction.y + beside * direction.x
        return "\((x * 10).rounded() / 10) \((y * 10).rounded() / 10)"
    }

    private var foot: String {
        "M\(place(0, -6)) L\(place(12, 0)) L\(place(0, 6)) M\(place(0, 0)) L\(place(12, 0)) "
    }

    private func bar(_ distance: Double) -> String { "M\(place(distance, -6)) L\(place(distance, 6)) " }

    private func circle(_ distance: Double) -> String {
        let (near, far) = (place(distance - 4, 0), place(distance + 4, 0))
        return "M\(near) A4 4 0 1 0 \(far) A4 4 0 1 0 \(near) "
    }

    var triangle: String { "M\(place(0, 0)) L\(place(13, -7)) L\(place(13, 7)) Z" }

    /// One bar is "one", a crow's foot "many", a circle before them "or none".
    func path(_ count: EntityDiagram.Count) -> String {
        switch count {
        case .one: bar(6) + bar(10)
        case .zeroOrOne: bar(6) + circle(13)
        case .oneOrMore: foot + bar(15)
        case .any: foot + circle(16)
        case .unknown: ""
        }
    }
}
