/// A layered drawing of boxes that lines connect: columns from left to right.
///
/// Lines lead to later columns, after some are turned around (longest paths, with a greatest height
/// of a column). A line across several columns has a slot in each. Slots are ordered
/// by the mean place of their neighbours, and then moved towards these without overlapping.
///
/// Cost: O(lines times columns), some thirty times.
struct LayeredLayout {
    /// A line between two boxes, by their numbers.
    struct Edge {
        let from: Int
        let to: Int
        /// The distance of the line's ends from the tops of the boxes.
        let fromPort: Double
        let toPort: Double

        var reversed: Edge { Edge(from: to, to: from, fromPort: toPort, toPort: fromPort) }
    }

    /// A box, or the place of a line in a column that it crosses.
    struct Slot {
        let height: Double
        let isBox: Bool
        var layer: Int
        var y = 0.0
    }

    /// A piece of a line between neighbouring columns.
    struct Piece {
        let from: Int
        let to: Int
        let fromPort: Double
        let toPort: Double
    }

    let sizes: [BoxSize]
    let edges: [Edge]
    /// Whether an edge was turned around.
    private(set) var isReversed: [Bool] = []
    /// The boxes in their order, followed by the places of lines.
    var slots: [Slot] = []
    /// The pieces of each edge, in the order of the columns.
    private(set) var chains: [[Piece]] = []
    /// The slots of each column from top to bottom.
    var layers: [[Int]] = []

    static let gap = 26.0
    static let lineHeight = 12.0

    init(sizes: [BoxSize], edges: [Edge]) {
        self.sizes = sizes
        self.edges = edges
        isReversed = Self.reversals(count: sizes.count, edges.map { ($0.from, $0.to) })
        slots = zip(sizes, boxLayers()).map { Slot(height: $0.height, isBox: true, layer: $1) }
        cutEdges()
        fillLayers()
        order()
        place()
    }

    // MARK: Columns

    private func directed(_ index: Int) -> Edge { isReversed[index] ? edges[index].reversed : edges[index] }

    /// Chooses the edges to turn around so that all lead away from the box with the most edges, as
    /// in a walk in breadth: relationships have no direction of their own, and this one gives the
    /// fewest columns and no cycles.
    static func reversals(count: Int, _ edges: [(from: Int, to: Int)]) -> [Bool] {
        var neighbours = [[Int]](repeating: [], count: count)
        for edge in edges {
            neighbours[edge.from].append(edge.to)
            neighbours[edge.to].append(edge.from)
        }
        var places = [Int?](repeating: nil, count: count)
        var walked: [Int] = []
        for start in neighbours.indices.sorted(by: { (neighbours[$1].count, $0) < (neighbours[$0].count, $1) })
        where places[start] == nil {
            var position = walked.count
            places[start] = position
            walked.append(start)
            while position < walked.count {
                for next in neighbours[walked[position]] where places[next] == nil {
                    places[next] = walked.count
                    walked.append(next)
                }
                position += 1
            }
        }
        return edges.map { edge in (places[edge.from] ?? 0) > (places[edge.to] ?? 0) }
    }

    /// The greatest height of a column: drawings are a little wider than high.
    private var greatestHeight: Double {
        let area = sizes.map { ($0.width + 120) * ($0.height + Self.gap) }.reduce(0, +)
        return max(sizes.map(\.height).max() ?? 0, (area * 0.7).squareRoot())
    }

    /// Returns the column of each box: behind all boxes that lead to it, and where there is room.
    private func boxLayers() -> [Int] {
        let directed = edges.indices.map(directed)
        var outgoing = [[Int]](repeating: [], count: sizes.count)
        var waiting = [Int](repeating: 0, count: sizes.count)
        for edge in directed {
            outgoing[edge.from].append(edge.to)
            waiting[edge.to] += 1
        }
        let limit = greatestHeight
        var heights: [Double] = []
        var layers = [Int](repeating: 0, count: sizes.count)
        var ready = sizes.indices.filter { waiting[$0] == 0 }
        var position = 0
        while position < ready.count {
            let box = ready[position]
            position += 1
            while heights.count > layers[box], heights[layers[box]] > 0,
                heights[layers[box]] + sizes[box].height > limit
            { layers[box] += 1 }
            while heights.count <= layers[box] { heights.append(0) }
            heights[layers[box]] += sizes[box].height + Self.gap
            for target in outgoing[box] {
                layers[target] = max(layers[target], layers[box] + 1)
                waiting[target] -= 1
                if waiting[target] == 0 { ready.append(target) }
            }
        }
        return layers
    }

    /// Cuts edges into pieces between neighbouring columns.
    private mutating func cutEdges() {
        for index in edges.indices {
            let edge = directed(index)
            var chain: [Piece] = []
            var (last, port) = (edge.from, edge.fromPort)
            for layer in stride(from: slots[edge.from].layer + 1, to: slots[edge.to].layer, by: 1) {
                slots.append(Slot(height: Self.lineHeight, isBox: false, layer: layer))
                let middle = Self.lineHeight / 2
                chain.append(Piece(from: last, to: slots.count - 1, fromPort: port, toPort: middle))
                (last, port) = (slots.count - 1, middle)
            }
            chain.append(Piece(from: last, to: edge.to, fromPort: port, toPort: edge.toPort))
            chains.append(chain)
        }
    }

    private mutating func fillLayers() {
        layers = [[Int]](repeating: [], count: (slots.map(\.layer).max() ?? -1) + 1)
        for (index, slot) in slots.enumerated() { layers[slot.layer].append(index) }
    }

    // MARK: Order

    /// For each slot, the pieces to its neighbours in the column before or behind.
    func pieces(before: Bool) -> [[Piece]] {
        var result = [[Piece]](repeating: [], count: slots.count)
        for piece in chains.joined() { result[before ? piece.to : piece.from].append(piece) }
        return result
    }

    /// Orders the slots of each column by the mean place of their neighbours, and keeps the order
    /// with the fewest crossings.
    private mutating func order() {
        let (before, behind) = (pieces(before: true), pieces(before: false))
        var best = (layers: layers, crossings: crossings(behind))
        for sweep in 0..<12 where best.crossings > 0 {
            if sweep % 2 == 0 {
                for layer in layers.indices.dropFirst() { sort(layer, by: before) { $0.from } }
            } else {
                for layer in layers.indices.dropLast().reversed() { sort(layer, by: behind) { $0.to } }
            }
            let crossings = crossings(behind)
            if crossings < best.crossings { best = (layers, crossings) }
        }
        layers = best.layers
    }

    private mutating func sort(_ layer: Int, by pieces: [[Piece]], _ neighbour: (Piece) -> Int) {
        guard let first = layers[layer].first(where: { !pieces[$0].isEmpty }), let piece = pieces[first].first else {
            return
        }
        var places: [Int: Int] = [:]
        for (place, slot) in layers[slots[neighbour(piece)].layer].enumerated() { places[slot] = place }
        let keyed = layers[layer].enumerated().map { place, slot in
            let found = pieces[slot].compactMap { places[neighbour($0)] }
            // A slot without neighbours stays where it is.
            let mean = found.isEmpty ? Double(place) : Double(found.reduce(0, +)) / Double(found.count)
            return (mean: mean, place: place, slot: slot)
        }
        layers[layer] = keyed.sorted { ($0.mean, $0.place) < ($1.mean, $1.place) }.map(\.slot)
    }

    /// Counts the crossings of pieces between all neighbouring columns.
    private func crossings(_ behind: [[Piece]]) -> Int {
        var places = [Int](repeating: 0, count: slots.count)
        for layer in layers { for (place, slot) in layer.enumerated() { places[slot] = place } }
        var count = 0
        for (index, layer) in layers.enumerated().dropLast() {
            let width = layers[index + 1].count
            // A binary indexed tree: the number of earlier ends above each place.
            var tree = [Int](repeating: 0, count: width + 1)
            var seen = 0
            for slot in layer {
                let ends = behind[slot].map { places[$0.to] }.sorted()
                for end in ends {
                    var above = 0
                    var node = end + 1
                    while node > 0 {
                        above += tree[node]
                        node -= node & -node
                    }
                    count += seen - above
                }
                for end in ends {
                    var node = end + 1
                    while node <= width {
                        tree[node] += 1
                        node += node & -node
                    }
                }
                seen += ends.count
            }
        }
        return count
    }
}
