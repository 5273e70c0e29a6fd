/// A point of a drawing in pixels; y grows downwards.
struct DiagramPoint: Equatable {
    var x: Double
    var y: Double
}

/// A rectangle of a drawing in pixels.
struct DiagramFrame: Equatable {
    var x: Double
    var y: Double
    let width: Double
    let height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
}

/// The places of boxes and lines in a drawing.
struct DiagramLayout {
    /// The frames of the boxes, in their order.
    var frames: [DiagramFrame]
    /// The lines, in their order: a first point, then for each Bézier curve two control points and
    /// its end.
    var routes: [[DiagramPoint]]

    /// The layout by Graphviz if it is installed and finishes in time, else by this program.
    init(_ diagram: EntityDiagram) {
        self = GraphvizLayout.layout(of: diagram) ?? DiagramLayout(layered: diagram)
    }

    init(frames: [DiagramFrame], routes: [[DiagramPoint]]) {
        (self.frames, self.routes) = (frames, routes)
    }

    /// Adds the route of a line from a box to itself, on its right side.
    mutating func addLoop(_ line: EntityDiagram.Line, at index: Int) {
        let frame = frames[line.from.box]
        var (start, end) = (
            frame.y + BoxSize.portHeight(of: line.from.row), frame.y + BoxSize.portHeight(of: line.to.row)
        )
        if start == end { (start, end) = (start - 6, end + 6) }
        let reach = frame.right + 44
        routes[index] = [
            DiagramPoint(x: frame.right, y: start), DiagramPoint(x: reach, y: start), DiagramPoint(x: reach, y: end),
            DiagramPoint(x: frame.right, y: end),
        ]
    }

    /// Moves everything so that it begins at a point.
    mutating func move(by offset: DiagramPoint) {
        for index in frames.indices {
            frames[index].x += offset.x
            frames[index].y += offset.y
        }
        for index in routes.indices {
            routes[index] = routes[index].map { DiagramPoint(x: $0.x + offset.x, y: $0.y + offset.y) }
        }
    }

    /// The smallest frame around everything.
    var bounds: DiagramFrame {
        let points = routes.joined()
        let xs = frames.flatMap { [$0.x, $0.right] } + points.map(\.x)
        let ys = frames.flatMap { [$0.y, $0.bottom] } + points.map(\.y)
        let (x, y) = (xs.min() ?? 0, ys.min() ?? 0)
        return DiagramFrame(x: x, y: y, width: (xs.max() ?? 0) - x, height: (ys.max() ?? 0) - y)
    }
}

/// The size of a box and of its parts.
struct BoxSize {
    /// The advance of a character of a monospaced font of 12 pixels.
    static let columnWidth = 7.25
    static let rowHeight = 18.0
    static let headHeight = 26.0
    static let padding = 10.0
    /// Longer names and types are cut, so that one of them does not spoil the drawing.
    static let longestName = 36
    static let longestType = 30

    let width: Double
    let height: Double

    init(_ box: EntityDiagram.Box) {
        let head = Self.columns(box.name, Self.longestName)
        let widest = box.rows.map {
            Self.columns($0.name, Self.longestName) + 2 + Self.columns($0.type, Self.longestType)
        }.max()
        width = Double(max(head, widest ?? 0, 8)) * Self.columnWidth + 2 * Self.padding
        let rows = box.rows.isEmpty ? 0 : Double(box.rows.count) * Self.rowHeight + 8
        height = Self.headHeight + rows
    }

    private static func columns(_ text: String, _ most: Int) -> Int {
        min(most, DisplayWidth.of(DisplayWidth.printable(text)))
    }

    /// Returns the middle of a row below the top of its box; that of the head if there is no row.
    static func portHeight(of row: Int?) -> Double {
        guard let row else { return headHeight / 2 }
        return headHeight + 4 + (Double(row) + 0.5) * rowHeight
    }
}
