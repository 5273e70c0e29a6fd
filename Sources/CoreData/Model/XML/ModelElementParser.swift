import Foundation
import FoundationXML

/// Reads an XML file into elements with line numbers.
final class ModelElementParser: NSObject, XMLParserDelegate {
    private static let depthLimit = 100

    private var open: [ModelElement] = []
    private var root: ModelElement?
    private var isTooDeep = false

    /// Reads a whole document.
    ///
    /// - Throws: `ModelReadingError` with the line when it is not well-formed.
    static func parse(_ data: Data, file: String) throws -> ModelElement {
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let delegate = ModelElementParser()
        parser.delegate = delegate
        let isWellFormed = parser.parse()
        guard isWellFormed, !delegate.isTooDeep, delegate.open.isEmpty, let root = delegate.root else {
            let reason = delegate.isTooDeep ? "its elements are nested too deeply" : "it is not well-formed"
            throw ModelReadingError(
                .damaged, "This is not a readable XML file: \(reason).",
                advice: "Open the model in an editor, correct the line and save it again.", file: file,
                line: max(parser.lineNumber, 1))
        }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        guard open.count < Self.depthLimit else {
            isTooDeep = true
            parser.abortParsing()
            return
        }
        open.append(ModelElement(name: elementName, attributes: attributes, line: parser.lineNumber))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
}
