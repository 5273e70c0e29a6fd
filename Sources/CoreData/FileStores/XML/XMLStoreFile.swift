import Foundation

/// The file of an XML store: its elements as texts, which need no model.
///
/// Xcode's mapping models are such files too.
struct XMLStoreFile: StoreFile {
    /// An element `object`.
    struct Object: Sendable {
        /// The name of the entity in upper case.
        let type: String
        let key: Int64
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
    }

    /// An element `attribute`; its name is in lower case.
    struct Attribute: Sendable {
        let name: String
        let type: String
        let text: String
    }

    /// An element `relationship`; its name is in lower case.
    struct Relationship: Sendable {
        let name: String
        /// The least and the greatest number of objects.
        let counts: String
        /// The name of the entity in upper case.
        let destination: String
        let keys: [Int64]
    }

    static let storeType = NSXMLStoreType

    private var identifier: String?
    /// Without type and UUID.
    private var list: PropertyListValue = .dictionary([:])
    private(set) var lastKey: Int64 = 101
    private(set) var objects: [Object] = []

    init() {}

    init(_ data: Data) throws { try self.init(data, file: nil) }

    /// - Parameter file: The file's path, for errors.
    init(_ data: Data, file: String?) throws {
        let root = try ModelElementParser.parse(data, file: file)
        guard root.name == "database" else {
            throw ModelReadingError.damagedArchive("The outermost element is '\(root.name)', not 'database'.")
        }
        if let info = root.children("databaseInfo").first { try read(info) }
        objects = try root.children("object").map(Self.object)
        lastKey = max(lastKey, objects.map(\.key).max() ?? 0)
    }

    private mutating func read(_ info: ModelElement) throws {
        for element in info.children {
            switch element.name {
            case "UUID":
                let word = Self.word(element)
                identifier = word.isEmpty ? nil : word
            case "nextObjectID":
                guard let number = Int64(Self.word(element)) else {
                    throw Self.damaged("'nextObjectID' is no number", element)
                }
                try FileRows.checkKey(max(number, 1))
                lastKey = max(lastKey, number)
            case "metadata":
                guard let plist = element.children("plist").first else { continue }
                list = try XMLPropertyListReader.value(ofList: plist)
            default: break
            }
        }
    }

    private static func word(_ element: ModelElement) -> String {
        element.content.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func object(_ element: ModelElement) throws -> Object {
        guard let type = element.attributes["type"], let id = element.attributes["id"], let key = Self.key(id) else {
            throw damaged("an 'object' has no type or no id that is a number after 'z'", element)
        }
        var object = Object(type: type.uppercased(), key: key)
        for child in element.children {
            let name = child.attributes["name"]?.lowercased() ?? ""
            let type = child.attributes["type"] ?? ""
            switch child.name {
            case "attribute":
                object.attributes.append(
                    Attribute(name: name, type: type, text: XMLStoreText.unescaped(child.content)))
            case "relationship":
                let keys = try (child.attributes["idrefs"] ?? "").split(separator: " ").map { id in
                    if let key = Self.key(id) { return key }
                    throw damaged("an 'idrefs' has an id that is no number after 'z'", child)
                }
                object.relationships.append(
                    Relationship(
                        name: name, counts: type, destination: child.attributes["destination"] ?? "", keys: keys))
            default: break
            }
        }
        return object
    }

    private static func key(_ id: some StringProtocol) -> Int64? {
        id.hasPrefix("z") ? Int64(id.dropFirst()) : nil
    }

    private static func damaged(_ problem: String, _ element: ModelElement) -> ModelReadingError {
        ModelReadingError.damagedArchive("The file is damaged in line \(element.line): \(problem).")
    }

    // MARK: - Metadata

    func metadata() throws -> [String: Any] {
        guard var metadata = list.foundationValue as? [String: Any] else {
            throw ModelReadingError.damagedArchive("The metadata are no dictionary of property list values.")
        }
        metadata[NSStoreUUIDKey] = identifier
        return metadata
    }

    mutating func setMetadata(_ metadata: [String: Any]) throws {
        identifier = metadata[NSStoreUUIDKey] as? String
        list = try PropertyListReader.value(from: StoreMetadata.encode(metadata.filter { $0.key != NSStoreTypeKey }))
        // Texts may have characters that no XML file can hold.
        do { _ = try XMLStoreFile(Data(text(of: []).utf8)) } catch {
            throw CoreDataErrors.metadataIsNoPropertyList(keys: Array(metadata.keys), error)
        }
    }

    // MARK: - Writing

    mutating func setObjects(_ objects: [FileObject], _ entities: [FileEntity], lastKey: Int64) throws {
        let writers = entities.map(XMLEntity.init)
        self.objects = objects.map { writers[$0.layout.index].object($0) }
        self.lastKey = lastKey
    }

    func data() -> Data { Data(text(of: objects).utf8) }

    /// The file in Apple's layout: four blanks a level, no self-closing tags, no line break at the
    /// end.
    private func text(of objects: [Object]) -> String {
        var text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(XMLStoreText.quoted(identifier ?? ""))</UUID>
                    <nextObjectID>\(lastKey)</nextObjectID>
                    <metadata>
                        <plist version="1.0">\(XMLStoreText.list(list, level: 4))
                        </plist>
                    </metadata>
                </databaseInfo>

            """
        for object in objects { Self.append(object, to: &text) }
        return text + "</database>"
    }

    private static func append(_ object: Object, to text: inout String) {
        text += "    <object type=\"\(XMLStoreText.quoted(object.type))\" id=\"z\(object.key)\">\n"
        for attribute in object.attributes {
            let (name, type) = (XMLStoreText.quoted(attribute.name), XMLStoreText.quoted(attribute.type))
            text += "        <attribute name=\"\(name)\" type=\"\(type)\">"
            text += XMLStoreText.escaped(attribute.text) + "</attribute>\n"
        }
        for relationship in object.relationships {
            text +=
                "        <relationship name=\"\(XMLStoreText.quoted(relationship.name))\" "
                + "type=\"\(XMLStoreText.quoted(relationship.counts))\" "
                + "destination=\"\(XMLStoreText.quoted(relationship.destination))\""
            if !relationship.keys.isEmpty {
                text += " idrefs=\"\(relationship.keys.map { "z\($0)" }.joined(separator: " "))\""
            }
            text += "></relationship>\n"
        }
        text += "    </object>\n"
    }
}
