extension LayeredLayout {
    /// Moves the slots of each column towards their neighbours, without overlapping.
    mutating func place() {
        let (before, behind) = (pieces(before: true), pieces(before: false))
        for layer in layers.indices {
            var y = 0.0
            for slot in layers[layer] {
                slots[slot].y = y
                y += slots[slot].height + Self.gap
            }
        }
        for sweep in 0..<10 {
            if sweep % 2 == 0 {
                for layer in layers.indices.dropFirst() { align(layer, before, behind, towardsBefore: true) }
            } else {
                for layer in layers.indices.dropLast().reversed() { align(layer, before, behind, towardsBefore: false) }
            }
        }
    }

    private mutating func align(_ layer: Int, _ before: [[Piece]], _ behind: [[Piece]], towardsBefore: Bool) {
        let wanted = layers[layer].map { slot -> (top: Double, weight: Double) in
            var tops: [Double] = []
            if towardsBefore || behind[slot].isEmpty {
                tops = before[slot].map { slots[$0.from].y + $0.fromPort - $0.toPort }
            } else {
                tops = behind[slot].map { slots[$0.to].y + $0.toPort - $0.fromPort }
            }
            if tops.isEmpty { return (slots[slot].y, 0.1) }
            // Lines across several columns shall be straight.
            return (tops.reduce(0, +) / Double(tops.count), slots[slot].isBox ? 1 : 4)
        }
        let heights = layers[layer].map { slots[$0].height }
        for (slot, top) in zip(layers[layer], Self.separated(wanted, heights: heights, gap: gap(in: layer))) {
            slots[slot].y = top
        }
    }

    /// The gaps above the slots of a column: lines beside each other need less room than boxes.
    private func gap(in layer: Int) -> [Double] {
        var gaps: [Double] = []
        for (above, slot) in zip(layers[layer], layers[layer].dropFirst()) {
            gaps.append(slots[above].isBox && slots[slot].isBox ? Self.gap : Self.gap / 3)
        }
        return gaps
    }

    /// Returns the tops that are nearest to the wanted ones (least weighted squares) and keep the
    /// order and the gaps: an isotonic regression, where neighbours that would overlap form a
    /// block.
    static func separated(
        _ wanted: [(top: Double, weight: Double)], heights: [Double], gap: [Double]
    ) -> [Double] {
        var offsets = [0.0]
        for (height, gap) in zip(heights, gap) { offsets.append((offsets.last ?? 0) + height + gap) }
        var blocks: [(sum: Double, weight: Double, count: Int)] = []
        for ((top, weight), offset) in zip(wanted, offsets) {
            var block = (sum: (top - offset) * weight, weight: weight, count: 1)
            while let last = blocks.last, last.sum / last.weight > block.sum / block.weight {
                blocks.removeLast()
                block = (last.sum + block.sum, last.weight + block.weight, last.count + block.count)
            }
            blocks.append(block)
        }
        let bases = blocks.flatMap { Array(repeating: $0.sum / $0.weight, count: $0.count) }
        return zip(bases, offsets).map { $0 + $1 }
    }

    // MARK: Drawing

    /// The frames of the boxes and the routes of the edges.
    var layout: DiagramLayout {
        let columns = self.columns
        let frames = sizes.indices.map { box -> DiagramFrame in
            let (slot, column) = (slots[box], columns[slots[box].layer])
            let size = sizes[box]
            return DiagramFrame(
                x: column.x + (column.width - size.width) / 2, y: slot.y, width: size.width, height: size.height)
        }
        let routes = edges.indices.map { index -> [DiagramPoint] in
            let route = self.route(chains[index], frames, columns)
            return isReversed[index] ? route.reversed() : route
        }
        return DiagramLayout(frames: frames, routes: routes)
    }

    private var columns: [(x: Double, width: Double)] {
        var counts = [Int](repeating: 0, count: layers.count)
        for piece in chains.joined() { counts[slots[piece.from].layer] += 1 }
        var x = 0.0
        return layers.enumerated().map { index, layer in
            let width = layer.filter { slots[$0].isBox }.map { sizes[$0].width }.max() ?? 0
            defer { x += width + 90 + min(90, 4 * Double(counts[index])) }
            return (x, width)
        }
    }

    /// Returns curves between columns and straight pieces within them.
    private func route(
        _ chain: [Piece], _ frames: [DiagramFrame], _ columns: [(x: Double, width: Double)]
    ) -> [DiagramPoint] {
        var route: [DiagramPoint] = []
        func point(_ x: Double, _ slot: Int, _ port: Double) -> DiagramPoint {
            DiagramPoint(x: x, y: slots[slot].y + port)
        }
        func addStraight(to end: DiagramPoint) {
            guard let start = route.last, start != end else { return }
            route += [start, end, end]
        }
        for piece in chain {
            let (left, right) = (columns[slots[piece.from].layer], columns[slots[piece.to].layer])
            if route.isEmpty { route.append(point(frames[piece.from].right, piece.from, piece.fromPort)) }
            let start = point(left.x + left.width, piece.from, piece.fromPort)
            addStraight(to: start)
            let end = point(right.x, piece.to, piece.toPort)
            let middle = (start.x + end.x) / 2
            route += [DiagramPoint(x: middle, y: start.y), DiagramPoint(x: middle, y: end.y), end]
            if slots[piece.to].isBox { addStraight(to: point(frames[piece.to].x, piece.to, piece.toPort)) }
        }
        return route
    }
}
