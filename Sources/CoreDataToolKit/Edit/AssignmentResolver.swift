import CoreData

/// Finds the properties that assignments name, and converts their values.
struct AssignmentResolver {
    private let entity: NSEntityDescription
    private let model: StoreModel
    private let identities: ObjectIdentities

    init(_ entity: NSEntityDescription, _ opened: OpenedStore) {
        self.entity = entity
        model = opened.model
        identities = ObjectIdentities(opened)
    }

    /// - Throws: `ToolError` for an unknown key, a property that cannot be set, or an unfit value.
    func resolve(_ assignment: Assignment) throws(ToolError) -> ResolvedAssignment {
        let resolved: KeyPathResolver.Resolved
        do {
            resolved = try KeyPathResolver.resolve(assignment.key, from: entity)
        } catch {
            throw ToolError("\(assignment.key): \(error.message)")
        }
        let keyPath = resolved.keyPath
        let isOwn = keyPath.contains(".") ? resolved.property is NSAttributeDescription : true
        guard let property = resolved.property, isOwn, !crossesRelationship(keyPath) else {
            throw ToolError("\(assignment.key): only the object's own properties can be set.")
        }
        if let relationship = property as? NSRelationshipDescription {
            return ResolvedAssignment(keyPath: keyPath, value: try value(assignment, of: relationship))
        }
        guard let attribute = property as? NSAttributeDescription else {
            throw ToolError("\(keyPath): a fetched property cannot be set.")
        }
        guard assignment.operation == .set else {
            throw ToolError("\(keyPath): \(assignment.operation.rawValue) is for relationships to many objects.")
        }
        return ResolvedAssignment(
            keyPath: keyPath, value: .attribute(try value(assignment.value, of: attribute, keyPath)))
    }

    private func crossesRelationship(_ keyPath: String) -> Bool {
        guard let first = keyPath.split(separator: ".").first, keyPath.contains(".") else { return false }
        return entity.relationshipsByName[String(first)] != nil
    }

    // MARK: Relationships

    private func value(
        _ assignment: Assignment, of relationship: NSRelationshipDescription
    ) throws(ToolError) -> ResolvedAssignment.Value {
        let name = relationship.name
        if relationship.isToMany {
            var uris: [URL] = []
            for text in Self.list(assignment.value) { uris.append(try uri(text, relationship)) }
            return .toMany(assignment.operation, uris)
        }
        guard assignment.operation == .set else {
            throw ToolError("\(name): \(assignment.operation.rawValue) is for relationships to many objects.")
        }
        return .toOne(assignment.value == "nil" ? nil : try uri(assignment.value, relationship))
    }

    /// Returns the texts in `[Box/p1, Box/p2]`, or a single one; none for `nil`.
    private static func list(_ text: String) -> [String] {
        var text = text.trimmingCharacters(in: .whitespaces)
        if text == "nil" { return [] }
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        return text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func uri(_ text: String, _ relationship: NSRelationshipDescription) throws(ToolError) -> URL {
        let destination = relationship.destinationEntity
        do {
            let identity = try identities.identity(text, example: destination?.name)
            guard let destination, identity.entity.isKindOf(entity: destination) else {
                throw ObjectIdentities.Mistake(
                    problem: "'\(text)' is an object of '\(identity.entity.name ?? "")'.",
                    advice: "'\(relationship.name)' leads to '\(destination?.name ?? "")'.")
            }
            return identity.uriRepresentation()
        } catch let mistake as ObjectIdentities.Mistake {
            throw ToolError(
                "\(relationship.name): "
                    + [mistake.problem, mistake.advice].filter { !$0.isEmpty }.joined(separator: " "))
        } catch {
            throw ToolError("\(relationship.name): \(error)")
        }
    }

    // MARK: Attributes

    private func value(
        _ text: String, of attribute: NSAttributeDescription, _ keyPath: String
    ) throws(ToolError) -> Any? {
        if attribute is NSDerivedAttributeDescription {
            throw ToolError("\(keyPath): the store derives its value from others.")
        }
        if attribute.isTransient { throw ToolError("\(keyPath): it is transient, and not kept in the store.") }
        if text == "nil" { return nil }
        if attribute is NSCompositeAttributeDescription {
            throw ToolError("\(keyPath): a composite attribute is set by its elements: \(keyPath).NAME=VALUE; or nil.")
        }
        if model.transformables.contains(ObjectIdentifier(attribute)) {
            throw ToolError(
                "\(keyPath): only the program of the store can make the value of a transformable attribute. It can "
                    + "be set to nil.")
        }
        guard let value = try Self.value(text, of: attribute.attributeType, keyPath) else {
            throw ToolError("\(keyPath): '\(text)' is not \(Self.description(of: attribute.attributeType)).")
        }
        return value
    }

    /// Returns the value of a type that a text stands for; nil if it stands for none.
    private static func value(_ text: String, of type: NSAttributeType, _ keyPath: String) throws(ToolError) -> Any? {
        switch type {
        case .stringAttributeType: return text
        case .integer16AttributeType: return Int16(text).map { NSNumber(value: $0) }
        case .integer32AttributeType: return Int32(text).map { NSNumber(value: $0) }
        case .integer64AttributeType: return Int64(text).map { NSNumber(value: $0) }
        case .booleanAttributeType:
            let words = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]
            return words[text.lowercased()].map { NSNumber(value: $0) }
        case .floatAttributeType: return Float(text).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
        case .doubleAttributeType: return Double(text).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
        case .decimalAttributeType: return decimal(text)
        case .dateAttributeType: return DateText.date(from: text)
        case .UUIDAttributeType: return UUID(uuidString: text)
        case .URIAttributeType: return text.isEmpty ? nil : URL(string: text)
        case .binaryDataAttributeType: return try bytes(text, keyPath)
        default: return nil
        }
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
        let form = "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
        guard text.range(of: form, options: .regularExpression) != nil,
            let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN
        else { return nil }
        return NSDecimalNumber(decimal: decimal)
    }

    /// Returns bytes in base64, or the content of a file: `@FILE`.
    private static func bytes(_ text: String, _ keyPath: String) throws(ToolError) -> Data? {
        guard text.hasPrefix("@") else { return Data(base64Encoded: text) }
        let path = String(text.dropFirst())
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError("\(keyPath): the file '\(path)' cannot be read. Check its path and permissions.")
        }
    }

    private static func description(of type: NSAttributeType) -> String {
        switch type {
        case .integer16AttributeType: "a whole number of 16 bits"
        case .integer32AttributeType: "a whole number of 32 bits"
        case .integer64AttributeType: "a whole number of 64 bits"
        case .booleanAttributeType: "true or false"
        case .floatAttributeType, .doubleAttributeType: "a number"
        case .decimalAttributeType: "a decimal number"
        case .dateAttributeType: "a date; write 2026-01-31 or 2026-01-31T12:00:00Z"
        case .UUIDAttributeType: "a UUID"
        case .URIAttributeType: "a URI"
        case .binaryDataAttributeType: "bytes; write base64 or @FILE"
        default: "of a type that can be set"
        }
    }
}
