extension DiagramLayout {
    /// Boxes that lines connect, and these lines, by their numbers in a diagram; without loops.
    struct Part {
        var boxes: [Int]
        var lines: [Int] = []
    }

    private static let margin = 48.0

    /// Creates the layout by this program.
    init(layered diagram: EntityDiagram) {
        let sizes = diagram.boxes.map(BoxSize.init)
        self.init(diagram) { part in
            var numbers: [Int: Int] = [:]
            for (number, box) in part.boxes.enumerated() { numbers[box] = number }
            let edges = part.lines.compactMap { index -> LayeredLayout.Edge? in
                let line = diagram.lines[index]
                guard let from = numbers[line.from.box], let to = numbers[line.to.box] else { return nil }
                return LayeredLayout.Edge(
                    from: from, to: to, fromPort: BoxSize.portHeight(of: line.from.row),
                    toPort: BoxSize.portHeight(of: line.to.row))
            }
            return LayeredLayout(sizes: part.boxes.map { sizes[$0] }, edges: edges).layout
        }
    }

    /// Lays out each part of connected boxes by itself, the parts in rows, and adds the loops.
    ///
    /// - Parameter place: returns the frames and routes of a part in its order.
    init(_ diagram: EntityDiagram, place: (Part) -> DiagramLayout) {
        let parts = Self.parts(of: diagram)
        let placed = Self.packed(parts.map(place))
        var frames: [Int: DiagramFrame] = [:]
        routes = [[DiagramPoint]](repeating: [], count: diagram.lines.count)
        for (part, layout) in zip(parts, placed) {
            for (box, frame) in zip(part.boxes, layout.frames) { frames[box] = frame }
            for (line, route) in zip(part.lines, layout.routes) { routes[line] = route }
        }
        self.frames = diagram.boxes.indices.compactMap { frames[$0] }
        for (index, line) in diagram.lines.enumerated() where line.isLoop { addLoop(line, at: index) }
    }

    /// Returns the parts of a diagram, the largest first.
    private static func parts(of diagram: EntityDiagram) -> [Part] {
        var neighbours = [[Int]](repeating: [], count: diagram.boxes.count)
        for line in diagram.lines {
            neighbours[line.from.box].append(line.to.box)
            neighbours[line.to.box].append(line.from.box)
        }
        var numbers = [Int?](repeating: nil, count: diagram.boxes.count)
        var parts: [Part] = []
        for start in diagram.boxes.indices where numbers[start] == nil {
            numbers[start] = parts.count
            var found = [start]
            var position = 0
            while position < found.count {
                for next in neighbours[found[position]] where numbers[next] == nil {
                    numbers[next] = parts.count
                    found.append(next)
                }
                position += 1
            }
            parts.append(Part(boxes: found.sorted()))
        }
        for (index, line) in diagram.lines.enumerated() where !line.isLoop {
            if let number = numbers[line.from.box] { parts[number].lines.append(index) }
        }
        return parts.enumerated().sorted { ($1.element.boxes.count, $0.offset) < ($0.element.boxes.count, $1.offset) }
            .map(\.element)
    }

    /// Returns the parts beside each other, in rows of about the width that makes the drawing a
    /// little wider than high.
    private static func packed(_ parts: [DiagramLayout]) -> [DiagramLayout] {
        let bounds = parts.map(\.bounds)
        let area = bounds.map { ($0.width + margin) * ($0.height + margin) }.reduce(0, +)
        let limit = max(bounds.map(\.width).max() ?? 0, (area * 1.5).squareRoot())
        var (x, y, height) = (0.0, 0.0, 0.0)
        return zip(parts, bounds).map { part, frame in
            var part = part
            if x > 0, x + frame.width > limit { (x, y, height) = (0, y + height + margin, 0) }
            part.move(by: DiagramPoint(x: x - frame.x, y: y - frame.y))
            x += frame.width + margin
            height = max(height, frame.height)
            return part
        }
    }
}
