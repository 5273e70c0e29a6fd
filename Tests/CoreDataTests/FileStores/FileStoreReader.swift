import CoreData
import TestSupport

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The objects of a store's file, as Foundation's own readers of XML and of archives find them.
struct FileStoreReader {
    struct Object {
        /// In lower case.
        var entity: String
        /// Texts and whole numbers, in an XML file by name in lower case.
        var values: [String: String] = [:]
        /// The values in the order of a binary file.
        var list: [Any] = []
        /// By name in lower case.
        var related: [String: [Int64]] = [:]
    }

    private(set) var objects: [Int64: Object] = [:]
    private(set) var lastKey: Int64 = 0

    init(_ url: URL, _ type: FileStoreType) throws {
        let data = try Data(contentsOf: url)
        switch type {
        case .xml:
            let reader = XMLObjects()
            let parser = XMLParser(data: data)
            parser.delegate = reader
            guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
            objects = reader.objects
            lastKey = reader.lastKey
        case .binary:
            func number(_ place: Int) -> Int {
                data[place * 8..<place * 8 + 8].reduce(0) { $0 << 8 | Int($1) }
            }
            guard data.starts(with: Data("CoreData".utf8)), number(7) == 0, number(4) == 64,
                number(2) == 64 + number(5), data.count == number(2) + number(3)
            else { throw CocoaError(.fileReadCorruptFile) }
            lastKey = Int64(number(6))
            let archive = PlainArchive(data.subdata(in: 64..<64 + number(5)))
            let map = archive.object(archive.top["mapData"])
            let numbers = (map["NS.keys"] as? [Any] ?? []).map { archive.value($0) as? Int64 ?? -1 }
            for (key, node) in zip(numbers, (map["NS.objects"] as? [Any] ?? []).map(archive.object)) {
                guard node["NSPrimaryKey64"] as? Int64 == key, archive.className(node) == "NSDictionaryMapNode"
                else { throw CocoaError(.fileReadCorruptFile) }
                let related = archive.object(node["NSRelatedNodes"])
                objects[key] = Object(
                    entity: (archive.value(node["NSEntityName"]) as? String ?? "").lowercased(),
                    list: archive.list(node["NSAttributeValues"]),
                    related: Dictionary(
                        uniqueKeysWithValues: zip(
                            related["NS.keys"] as? [Any] ?? [], related["NS.objects"] as? [Any] ?? []
                        ).map { name, list in
                            ((archive.value(name) as? String ?? "").lowercased(), archive.list(list) as? [Int64] ?? [])
                        }))
            }
        }
    }
}

/// A keyed archive, read without making objects: Foundation on Linux cannot make all of them.
private struct PlainArchive {
    private struct Reference { let number: Int }

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let width: Int
    private(set) var top: [String: Any] = [:]
    private var objects: [Any] = []

    init(_ data: Data) {
        bytes = Array(data)
        let (bytes, end) = (bytes, bytes.count - 32)
        func number(_ place: Int, _ size: Int) -> Int { bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) } }
        let size = Int(bytes[end + 6])
        width = Int(bytes[end + 7])
        offsets = (0..<number(end + 8, 8)).map { number(number(end + 24, 8) + $0 * size, size) }
        let root = read(number(end + 16, 8)) as? [String: Any] ?? [:]
        top = root["$top"] as? [String: Any] ?? [:]
        objects = root["$objects"] as? [Any] ?? []
    }

    private func number(_ place: Int, _ size: Int) -> Int {
        bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    }

    private func read(_ index: Int) -> Any {
        var place = offsets[index] + 1
        let (kind, low) = (bytes[place - 1] >> 4, Int(bytes[place - 1] & 15))
        var count = low
        if low == 15, kind >= 4 {
            let size = 1 << Int(bytes[place] & 15)
            count = number(place + 1, size)
            place += 1 + size
        }
        func element(_ position: Int) -> Any { read(number(place + position * width, width)) }
        switch kind {
        case 0: return low == 9
        case 1: return Int64(truncatingIfNeeded: number(place, 1 << low))
        case 2: return Double(bitPattern: UInt64(UInt(bitPattern: number(place, 8))))
        case 4: return Data(bytes[place..<place + count])
        case 5: return String(decoding: bytes[place..<place + count], as: UTF8.self)
        case 6: return String(decoding: (0..<count).map { UInt16(number(place + 2 * $0, 2)) }, as: UTF16.self)
        case 8: return Reference(number: number(place, low + 1))
        case 10: return (0..<count).map(element)
        case 13:
            return Dictionary(
                (0..<count).map { (element($0) as? String ?? "", element(count + $0)) }, uniquingKeysWith: { $1 })
        default: return "?"
        }
    }

    func value(_ reference: Any?) -> Any? { (reference as? Reference).map { objects[$0.number] } }

    func object(_ reference: Any?) -> [String: Any] { value(reference) as? [String: Any] ?? [:] }

    func className(_ object: [String: Any]) -> String? { self.object(object["$class"])["$classname"] as? String }

    /// The elements of an array object.
    func list(_ reference: Any?) -> [Any] {
        (object(reference)["NS.objects"] as? [Any] ?? []).map { value($0) ?? "?" }
    }
}

/// Collects the objects of an XML file.
private final class XMLObjects: NSObject, XMLParserDelegate {
    var objects: [Int64: FileStoreReader.Object] = [:]
    var lastKey: Int64 = 0
    private var key: Int64 = 0
    private var name = ""
    private var text = ""

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
        func key(_ id: some StringProtocol) -> Int64 { Int64(id.dropFirst()) ?? -1 }
        switch element {
        case "object":
            self.key = key(attributes["id"] ?? "")
            objects[self.key] = FileStoreReader.Object(entity: (attributes["type"] ?? "").lowercased())
        case "attribute": name = attributes["name"] ?? ""
        case "relationship":
            let keys = (attributes["idrefs"] ?? "").split(separator: " ").map(key)
            if !keys.isEmpty { objects[self.key]?.related[attributes["name"] ?? ""] = keys }
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) { text += characters }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        if element == "attribute" { objects[key]?.values[name] = text }
        if element == "nextObjectID" { lastKey = Int64(text) ?? -1 }
    }
}
