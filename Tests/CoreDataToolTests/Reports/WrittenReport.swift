import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The page that `coredata report` wrote about a store, read by Foundation's XML parser.
struct WrittenReport {
    let text: String
    private let document: XMLDocument

    init(_ store: String, _ options: String..., place: SourceLocation = #_sourceLocation) throws {
        let run = ToolRun(["report", store] + options)
        #expect(run.status == 0, "\(run.errors)", sourceLocation: place)
        text = run.output
        document = try XMLDocument(xmlString: text, options: .nodePreserveWhitespace)
    }

    /// The nodes that an XPath expression finds.
    func nodes(_ path: String) throws -> [XMLNode] { try document.nodes(forXPath: path) }

    /// The texts of the nodes that an XPath expression finds.
    func texts(_ path: String) throws -> [String] { try nodes(path).map { $0.stringValue ?? "" } }

    /// Each row of a table as the texts of its cells.
    func rows(_ path: String) throws -> [[String]] {
        try nodes(path).map { row in (row.children ?? []).map { $0.stringValue ?? "" } }
    }

    /// The contents of the script that the page has.
    func script() throws -> String {
        let scripts = try texts("//script")
        #expect(scripts.count == 1)
        return scripts.first ?? ""
    }

    /// Checks what holds for every report: it refers to nothing but its own elements and pictures,
    /// and has no scripts but its own.
    func expectSelfContained(_ place: SourceLocation = #_sourceLocation) throws {
        let anchors = try texts("//@id")
        let known = Set(anchors)
        #expect(known.count == anchors.count, "an id is there twice", sourceLocation: place)
        for name in ["src", "href", "action", "data", "poster", "background", "ping", "srcset", "formaction"] {
            for value in try texts("//@*[local-name() = '\(name)']") {
                let isInside = value.hasPrefix("#") && known.contains(String(value.dropFirst()))
                #expect(isInside || value.hasPrefix("data:image/"), "\(name) \(value)", sourceLocation: place)
            }
        }
        let handlers = try nodes("//@*").compactMap(\.name).filter { $0.hasPrefix("on") }
        #expect(handlers == [], sourceLocation: place)
        let elements = Set(try nodes("//*").compactMap(\.name))
        #expect(
            elements.isDisjoint(with: ["iframe", "object", "embed", "link", "base", "form", "use", "foreignObject"]),
            "\(elements)", sourceLocation: place)
        _ = try script()
    }
}
