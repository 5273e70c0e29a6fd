import CZlib
import CoreData

/// Writes a model as Apple's framework archives it in a store, from what the descriptions say: the
/// form that the engine has to read, made without it.
public struct ArchivedModel {
    private var builder = KeyedArchiveBuilder()
    private let root: ListPart
    private var entities: [String: ListPart] = [:]
    /// By entity and name.
    private var properties: [String: ListPart] = [:]

    /// The content of `Z_MODELCACHE`.
    public static func compressed(_ model: NSManagedObjectModel) throws -> Data { try deflate(data(model)) }

    /// The keyed archive.
    public static func data(_ model: NSManagedObjectModel) -> Data {
        var archive = ArchivedModel()
        archive.write(model)
        return archive.builder.data(root: archive.root)
    }

    // Objects refer to each other in circles: each gets its place first and is written there later.
    private init() { root = builder.add(.null) }

    private mutating func write(_ className: String, _ entries: [String: ListPart], at place: ListPart) {
        guard case .uid(let number) = place, case .uid(let made) = builder.object(className, entries) else { return }
        builder.objects[number] = builder.objects[made]
    }

    private mutating func text(_ text: String?) -> ListPart { text.map { builder.add(.text($0)) } ?? .uid(0) }

    private mutating func write(_ model: NSManagedObjectModel) {
        let sorted = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in sorted {
            entities[entity.name ?? ""] = builder.add(.null)
            for property in entity.propertiesByName.values {
                properties[key(entity, property.name)] = builder.add(.null)
            }
        }
        for entity in sorted { write(entity) }
        // Dictionaries of known keys: keys apart from values.
        let keys = sorted.map { text($0.name) }
        let mapping = builder.object(
            "NSKnownKeysMappingStrategy1",
            ["keys": builder.array(keys), "length": .int(Int64(keys.count)), "version": .int(1)])
        let values = builder.array(sorted.compactMap { entities[$0.name ?? ""] })
        let all = builder.object(
            "NSKnownKeysDictionary1", ["searchMapping": mapping, "values": values, "version": .int(1)])
        let configurations = model.configurations.filter { $0 != "PF_DEFAULT_CONFIGURATION_NAME" }.sorted().map {
            name in
            let members = (model.entities(forConfigurationName: name) ?? []).compactMap { entities[$0.name ?? ""] }
            return (name, builder.array(members, "NSSet"))
        }
        let identifiers = model.versionIdentifiers.compactMap { $0 as? String }.sorted().map { text($0) }
        write(
            "NSManagedObjectModel",
            [
                "NSEntities": all, "NSFetchRequestTemplates": .uid(0),
                "NSVersionIdentifiers": builder.array(identifiers, "NSSet"),
                "NSConfigurations": builder.dictionary(configurations, "NSMutableDictionary"),
            ], at: root)
    }

    private func key(_ entity: NSEntityDescription, _ property: String) -> String { "\(entity.name ?? "").\(property)" }

    private mutating func write(_ entity: NSEntityDescription) {
        let all = entity.propertiesByName.values.sorted { $0.name < $1.name }
        for property in all {
            guard let place = properties[key(entity, property.name)] else { continue }
            write(property, of: entity, at: place)
        }
        let listed = all.compactMap { property in properties[key(entity, property.name)].map { (property.name, $0) } }
        let subentities = entity.subentities.compactMap { sub in entities[sub.name ?? ""].map { (sub.name ?? "", $0) } }
        let constraints = entity.uniquenessConstraints.map { constraint in
            builder.array(
                constraint.map { text(($0 as? NSPropertyDescription)?.name ?? $0 as? String) }, "NSMutableArray")
        }
        write(
            "NSEntityDescription",
            [
                "NSEntityName": text(entity.name), "NSClassNameForEntity": text(entity.managedObjectClassName),
                "NSIsAbstract": .bool(entity.isAbstract), "NSManagedObjectModel": root,
                "NSUserInfo": builder.dictionary([]),
                "NSProperties": builder.dictionary(listed, "NSMutableDictionary"),
                "NSSubentities": builder.dictionary(subentities, "NSMutableDictionary"),
                "NSSuperentity": entity.superentity.flatMap { entities[$0.name ?? ""] } ?? .uid(0),
                "NSVersionHashModifier": .uid(0), "NSRenamingIdentifier": text(entity.renamingIdentifier),
                "NSUniqueTuples": builder.array(constraints, "NSMutableArray"),
                "NSFetchIndexDescriptions": builder.array(
                    entity.indexes.map { write($0, of: entity) }, "NSMutableArray"),
            ], at: entities[entity.name ?? ""] ?? .uid(0))
    }

    private mutating func write(_ index: NSFetchIndexDescription, of entity: NSEntityDescription) -> ListPart {
        let elements = index.elements.map { element in
            builder.object(
                "NSFetchIndexElementDescription",
                [
                    "NSPropertyName": text(element.propertyName), "NSAscending": .bool(element.isAscending),
                    "NSFetchIndexElementType": .int(0),
                ])
        }
        return builder.object(
            "NSFetchIndexDescription",
            [
                "NSIndexName": text(index.name), "NSIndexElements": builder.array(elements),
                "NSPartialIndexPredicate": .uid(0),
                "NSEntity": entities[entity.name ?? ""] ?? .uid(0),
            ])
    }

    // MARK: Properties

    private mutating func write(_ property: NSPropertyDescription, of entity: NSEntityDescription, at place: ListPart) {
        var entries: [String: ListPart] = [
            "NSPropertyName": text(property.name), "NSEntity": entities[entity.name ?? ""] ?? .uid(0),
            "NSRenamingIdentifier": text(property.renamingIdentifier),
        ]
        if property.isOptional { entries["NSIsOptional"] = .bool(true) }
        switch property {
        case let relationship as NSRelationshipDescription:
            let destination = relationship.destinationEntity
            let inverse = relationship.inverseRelationship
            entries["NSDestinationEntity"] = entities[destination?.name ?? ""] ?? .uid(0)
            entries["_NSDestinationEntityName"] = text(destination?.name)
            entries["NSInverseRelationship"] =
                destination.flatMap { properties[key($0, inverse?.name ?? "")] } ?? .uid(0)
            entries["_NSInverseRelationshipName"] = text(inverse?.name)
            entries["NSDeleteRule"] = .int(Int64(relationship.deleteRule.rawValue))
            entries["NSMinCount"] = .int(Int64(relationship.minCount))
            entries["NSMaxCount"] = .int(Int64(relationship.maxCount))
            if relationship.isOrdered { entries["NSIsOrdered"] = .bool(true) }
            write("NSRelationshipDescription", entries, at: place)
        case let attribute as NSAttributeDescription:
            entries["NSAttributeType"] = .int(Int64(attribute.attributeType.rawValue))
            entries["NSAttributeValueClassName"] = text(attribute.attributeValueClassName)
            entries["NSValueTransformerName"] = text(attribute.valueTransformerName)
            entries["NSFlagsKey"] = .int(
                (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
                    + (attribute.preservesValueInHistoryOnDeletion ? 16 : 0))
            write(attribute, entries, at: place, of: entity)
        default: write("NSPropertyDescription", entries, at: place)
        }
    }

    private mutating func write(
        _ attribute: NSAttributeDescription, _ entries: [String: ListPart], at place: ListPart,
        of entity: NSEntityDescription
    ) {
        var entries = entries
        switch attribute {
        case let composite as NSCompositeAttributeDescription:
            let elements = composite.elements.map { element in
                let place = builder.add(.null)
                write(element, of: entity, at: place)
                return place
            }
            entries["NSCompositeElements"] = builder.array(elements)
            write("NSCompositeAttributeDescription", entries, at: place)
        case is NSDerivedAttributeDescription:
            entries["NSIsReadOnly"] = .bool(true)
            entries["NSDerivationExpression"] = count(of: "crops")
            write("NSDerivedAttributeDescription", entries, at: place)
        default: write("NSAttributeDescription", entries, at: place)
        }
    }

    /// The expression `count:(name)`.
    private mutating func count(of name: String) -> ListPart {
        let itself = builder.object("NSSelfExpression", ["NSExpressionType": .int(1)])
        let path = builder.object(
            "NSKeyPathExpression",
            [
                "NSExpressionType": .int(3), "NSSelectorName": text("valueForKey:"), "NSOperand": itself,
                "NSArguments": builder.array([
                    builder.object(
                        "NSKeyPathSpecifierExpression", ["NSExpressionType": .int(10), "NSKeyPath": text(name)])
                ]),
            ])
        let operand = builder.object(
            "NSConstantValueExpression",
            ["NSExpressionType": .int(0), "NSConstantValueClassName": text("_NSPredicateUtilities")])
        return builder.object(
            "NSFunctionExpression",
            [
                "NSExpressionType": .int(4), "NSSelectorName": text("count:"), "NSOperand": operand,
                "NSArguments": builder.array([path]),
            ])
    }

    // MARK: Compression

    /// Raw DEFLATE: zlib without its header and checksum.
    private static func deflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
                == Z_OK
        else {
            throw CocoaError(.coderInvalidValue)
        }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                // Both buffers outlive the one call that uses them.
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return CZlib.deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { throw CocoaError(.coderInvalidValue) }
        return Data(output.prefix(Int(stream.total_out)))
    }
}
