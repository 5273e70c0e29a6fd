import Foundation

/// The layout of a diagram by Graphviz's `dot`.
///
/// It gets numbers and sizes only: no name of a model reaches it.
enum GraphvizLayout {
    /// The time that `dot` may take, in seconds.
    private static let timeLimit = 20

    /// Returns the layout; nil if Graphviz is not installed, fails or takes too long.
    static func layout(of diagram: EntityDiagram) -> DiagramLayout? {
        guard !diagram.boxes.isEmpty, let program else { return nil }
        guard let output = run(program, graph(of: diagram)) else { return nil }
        return layout(of: diagram, from: output)
    }

    /// The program in an absolute folder of the search path.
    static var program: URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.filter { $0.hasPrefix("/") }.map { URL(fileURLWithPath: "\($0)/dot") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }

    // MARK: Input

    private static func graph(of diagram: EntityDiagram) -> String {
        var lines = [
            "digraph {", "graph [rankdir=LR, nodesep=0.4, ranksep=1.3]",
            "node [shape=plain, label=\"\"]", "edge [dir=none]",
        ]
        for (index, box) in diagram.boxes.enumerated() {
            lines.append("n\(index) [label=\(table(of: box))]")
        }
        for (line, isReversed) in zip(diagram.lines, reversals(in: diagram)) where !line.isLoop {
            let (from, to) = isReversed ? (line.to, line.from) : (line.from, line.to)
            lines.append("\(port(from)) -> \(port(to))")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func reversals(in diagram: EntityDiagram) -> [Bool] {
        LayeredLayout.reversals(count: diagram.boxes.count, diagram.lines.map { ($0.from.box, $0.to.box) })
    }

    private static func port(_ end: EntityDiagram.End) -> String {
        "n\(end.box):\(end.row.map { "r\($0)" } ?? "h"):_"
    }

    /// A box as a table of empty cells, whose sizes are those of the drawing.
    private static func table(of box: EntityDiagram.Box) -> String {
        let size = BoxSize(box)
        func cell(_ port: String, _ height: Double) -> String {
            "<TR><TD PORT=\"\(port)\" FIXEDSIZE=\"TRUE\" WIDTH=\"\(Int(size.width.rounded()))\" "
                + "HEIGHT=\"\(Int(height.rounded()))\"></TD></TR>"
        }
        var cells = cell("h", BoxSize.headHeight)
        if !box.rows.isEmpty {
            cells += cell("above", 4)
            cells += box.rows.indices.map { cell("r\($0)", BoxSize.rowHeight) }.joined()
            cells += cell("below", 4)
        }
        return "<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\">\(cells)</TABLE>>"
    }

    // MARK: Running

    private static func run(_ program: URL, _ graph: String) -> String? {
        do {
            let folder = try PrivateFolder()
            defer { withExtendedLifetime(folder) {} }
            let (input, output) = (folder.file("in.dot"), folder.file("out.plain"))
            try Data(graph.utf8).write(to: input)
            let process = Process()
            process.executableURL = program
            process.arguments = ["-Tplain", "-o", output.path, input.path]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let ended = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in ended.signal() }
            try process.run()
            if ended.wait(timeout: .now() + .seconds(timeLimit)) == .timedOut {
                process.terminate()
                return nil
            }
            guard process.terminationStatus == 0 else { return nil }
            return try String(contentsOf: output, encoding: .utf8)
        } catch {
            return nil
        }
    }

    // MARK: Output

    /// Reads lines such as `node n0 x y width height …` and `edge n0 n1 count x1 y1 …`, in inches
    /// from the lower left corner, edges in the order in which they were given.
    ///
    /// Source: <https://graphviz.org/docs/outputs/plain/>
    static func layout(of diagram: EntityDiagram, from output: String) -> DiagramLayout? {
        func length(_ word: Substring) -> Double? {
            Double(word).flatMap { $0.isFinite && abs($0) < 1e6 ? $0 * 72 : nil }
        }
        let sizes = diagram.boxes.map(BoxSize.init)
        var frames = [DiagramFrame?](repeating: nil, count: sizes.count)
        var found: [(ends: [Substring], route: [DiagramPoint])] = []
        for line in output.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ")
            if words.first == "node", words.count > 5, let number = number(of: words[1]), sizes.indices ~= number,
                let x = length(words[2]), let y = length(words[3])
            {
                let size = sizes[number]
                frames[number] = DiagramFrame(
                    x: x - size.width / 2, y: -y - size.height / 2, width: size.width, height: size.height)
            } else if words.first == "edge", words.count > 4, let count = Int(words[3]), count > 3, count % 3 == 1,
                words.count / 2 >= count
            {
                let values = words[4..<(4 + 2 * count)].compactMap(length)
                guard values.count == 2 * count else { return nil }
                let route = (0..<count).map { DiagramPoint(x: values[2 * $0], y: -values[2 * $0 + 1]) }
                found.append((Array(words[1...2]), route))
            }
        }
        let placed = frames.compactMap { $0 }
        guard placed.count == sizes.count else { return nil }
        return layout(of: diagram, placed, found)
    }

    private static func number(of node: Substring) -> Int? { node.hasPrefix("n") ? Int(node.dropFirst()) : nil }

    /// Edges are not in the order in which they were given: those between the same boxes are told
    /// apart by where they end.
    private static func layout(
        of diagram: EntityDiagram, _ frames: [DiagramFrame], _ found: [(ends: [Substring], route: [DiagramPoint])]
    ) -> DiagramLayout? {
        var routes = [[DiagramPoint]](repeating: [], count: diagram.lines.count)
        var left = found.map { ($0.ends.compactMap(number), $0.route) }
        for (index, isReversed) in reversals(in: diagram).enumerated() where !diagram.lines[index].isLoop {
            let line = diagram.lines[index]
            let (from, to) = isReversed ? (line.to, line.from) : (line.from, line.to)
            let (start, end) = (height(of: from, frames), height(of: to, frames))
            func distance(_ route: [DiagramPoint]) -> Double {
                abs((route.first?.y ?? 0) - start) + abs((route.last?.y ?? 0) - end)
            }
            let candidates = left.indices.filter { left[$0].0 == [from.box, to.box] }
            guard let best = candidates.min(by: { distance(left[$0].1) < distance(left[$1].1) }) else { return nil }
            let route = snapped(left.remove(at: best).1, from, to, frames)
            routes[index] = isReversed ? route.reversed() : route
        }
        return DiagramLayout(diagram) { part in
            DiagramLayout(frames: part.boxes.map { frames[$0] }, routes: part.lines.map { routes[$0] })
        }
    }

    /// Moves the ends of a route to the sides of the boxes, from which Graphviz stays away a
    /// little.
    private static func snapped(
        _ route: [DiagramPoint], _ from: EntityDiagram.End, _ to: EntityDiagram.End, _ frames: [DiagramFrame]
    ) -> [DiagramPoint] {
        var route = route
        for (end, point, control) in [(from, 0, 1), (to, route.count - 1, route.count - 2)] {
            let (frame, old) = (frames[end.box], route[point])
            let isLeft = abs(old.x - frame.x) < abs(old.x - frame.right)
            route[point] = DiagramPoint(x: isLeft ? frame.x : frame.right, y: height(of: end, frames))
            route[control].x += route[point].x - old.x
            route[control].y += route[point].y - old.y
        }
        return route
    }

    private static func height(of end: EntityDiagram.End, _ frames: [DiagramFrame]) -> Double {
        frames[end.box].y + BoxSize.portHeight(of: end.row)
    }
}
