import Foundation
import TestSupport

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// What an SVG draws, read by Foundation's XML parser.
final class DrawnDiagram: NSObject, XMLParserDelegate {
    struct Box {
        let x: Double
        let y: Double
        let width: Double
        let height: Double

        func overlaps(_ other: Box) -> Bool {
            x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
        }

        /// Whether a point is on the border, within half a pixel.
        func isBorder(_ point: (x: Double, y: Double)) -> Bool {
            let isWithin =
                point.x > x - 0.6 && point.x < x + width + 0.6 && point.y > y - 0.6
                && point.y < y + height + 0.6
            let distances = [point.x - x, point.x - x - width, point.y - y, point.y - y - height].map(abs)
            return isWithin && distances.contains { $0 < 0.6 }
        }
    }

    private(set) var elements: Set<String> = []
    private(set) var attributes: Set<String> = []
    private(set) var boxes: [Box] = []
    private(set) var size = (width: 0.0, height: 0.0)
    /// The first and last points of relationships and hierarchies.
    private(set) var lineEnds: [[(x: Double, y: Double)]] = []
    /// The contents of the elements of a kind: `title`, `text`, …
    private(set) var texts: [String: [String]] = [:]
    private(set) var error: (any Error)?
    private var open: [(name: String, text: String)] = []

    init(_ svg: String) {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        if !parser.parse() { error = parser.parserError }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes given: [String: String] = [:]
    ) {
        elements.insert(name)
        attributes.formUnion(given.keys)
        open.append((name, ""))
        func number(_ key: String) -> Double { given[key].flatMap { Double($0) } ?? -1 }
        if name == "svg" { size = (number("width"), number("height")) }
        if name == "rect", given["class"] == "box" {
            boxes.append(Box(x: number("x"), y: number("y"), width: number("width"), height: number("height")))
        }
        if name == "path", given["class"]?.hasSuffix(" line") == true, let path = given["d"] {
            let numbers = path.split { !"0123456789.-".contains($0) }.compactMap { Double($0) }
            guard numbers.count > 3 else { return }
            lineEnds.append([(numbers[0], numbers[1]), (numbers[numbers.count - 2], numbers[numbers.count - 1])])
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if !open.isEmpty { open[open.count - 1].text += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let closed = open.popLast() else { return }
        texts[closed.name, default: []].append(closed.text)
    }

    /// The number of pairs of boxes that overlap.
    var overlaps: Int {
        boxes.indices.reduce(0) { count, index in
            count + boxes[(index + 1)...].count { $0.overlaps(boxes[index]) }
        }
    }
}
