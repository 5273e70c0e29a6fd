import CoreData

/// A model as plain values, whose parts keep their numbers from version to version.
struct ModelVersion {
    struct Attribute {
        let id: Int
        var name: String
        /// The name in the first version that has it.
        let originalName: String
        var type: NSAttributeType
        var isOptional: Bool
        var hasDefault: Bool
        var isExternal = false
    }

    struct Entity {
        let id: Int
        var name: String
        let originalName: String
        var parent: Int?
        var isAbstract = false
        var attributes: [Attribute] = []
    }

    struct Side {
        var name: String
        let originalName: String
        let entity: Int
        var isToMany: Bool
        var isOrdered: Bool
        var exists = true
    }

    struct Pair {
        let id: Int
        var sides: [Side]
    }

    var entities: [Entity] = []
    var pairs: [Pair] = []

    func index(_ id: Int) -> Int? { entities.firstIndex { $0.id == id } }
    func entity(_ id: Int) -> Entity? { entities.first { $0.id == id } }

    /// The entity and its ancestors, itself first.
    func line(_ id: Int) -> [Entity] {
        var line: [Entity] = []
        var next: Int? = id
        while let id = next, let entity = entity(id) {
            line.append(entity)
            next = entity.parent
        }
        return line
    }

    func root(_ id: Int) -> Int { line(id).last?.id ?? id }
    func isKind(_ id: Int, of other: Int) -> Bool { line(id).contains { $0.id == other } }
    func attributes(_ id: Int) -> [Attribute] { line(id).flatMap(\.attributes) }
    func children(_ id: Int) -> [Entity] { entities.filter { $0.parent == id } }

    func model() -> NSManagedObjectModel {
        var made: [Int: NSEntityDescription] = [:]
        for entity in entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.isAbstract = entity.isAbstract
            description.renamingIdentifier = entity.originalName
            description.properties = entity.attributes.map { attribute in
                let description = NSAttributeDescription(
                    attribute.name, attribute.type, optional: attribute.isOptional,
                    default: attribute.hasDefault ? Self.defaultValue(attribute.type) : nil)
                description.renamingIdentifier = attribute.originalName
                description.allowsExternalBinaryDataStorage = attribute.isExternal
                return description
            }
            made[entity.id] = description
        }
        for entity in entities {
            made[entity.id]?.subentities = children(entity.id).compactMap { made[$0.id] }
        }
        for pair in pairs {
            let descriptions = pair.sides.enumerated().map { index, side in
                let description = NSRelationshipDescription()
                description.name = side.name
                description.renamingIdentifier = side.originalName
                description.maxCount = side.isToMany ? 0 : 1
                description.isOrdered = side.isOrdered && side.isToMany
                description.destinationEntity = made[pair.sides[1 - index].entity]
                return description
            }
            for (index, side) in pair.sides.enumerated() where side.exists {
                made[side.entity]?.properties += [descriptions[index]]
            }
            if pair.sides[1].exists {
                descriptions[0].inverseRelationship = descriptions[1]
                descriptions[1].inverseRelationship = descriptions[0]
            }
        }
        return NSManagedObjectModel(entities.compactMap { made[$0.id] })
    }

    static func defaultValue(_ type: NSAttributeType) -> Any? { value(type, 3) }

    static func value(_ type: NSAttributeType, _ seed: Int) -> Any? {
        switch type {
        case .integer16AttributeType: NSNumber(value: Int16(truncatingIfNeeded: seed * 7))
        case .integer32AttributeType, .integer64AttributeType: NSNumber(value: seed * 100_003)
        case .floatAttributeType, .doubleAttributeType: NSNumber(value: Double(seed) / 4)
        case .booleanAttributeType: NSNumber(value: seed % 2 == 0)
        case .stringAttributeType: "text \(seed)"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(seed) * 1000.5)
        case .UUIDAttributeType:
            UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(truncatingIfNeeded: seed)))
        case .binaryDataAttributeType: Data((0..<seed % 50).map { UInt8(truncatingIfNeeded: $0 &* seed) })
        default: nil
        }
    }

    /// A value as a text that tells it from all others.
    static func text(_ value: Any?) -> String? {
        switch value {
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let uuid as UUID: uuid.uuidString
        case let number as NSNumber: number.stringValue
        case let string as String: string
        default: nil
        }
    }
}
