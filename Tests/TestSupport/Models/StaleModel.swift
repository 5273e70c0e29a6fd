import CoreData

/// A random small model: two entities, one with a subentity, and a few relationships of all kinds.
struct StaleModel: CustomStringConvertible {
    /// One end of a relationship.
    struct End {
        let entity: String
        let name: String
        let destination: String
        let isToMany: Bool
        let isOrdered: Bool
    }

    private struct Relationship: CustomStringConvertible {
        enum Kind: CaseIterable { case oneToOne, oneToMany, manyToMany, ownOne, ownMany, manyWithoutInverse }

        let kind: Kind
        let source: String
        let destination: String
        let name: String
        var isOrdered = false
        var inverseIsOrdered = false
        var rule = NSDeleteRule.nullifyDeleteRule
        var inverseRule = NSDeleteRule.nullifyDeleteRule

        var inverseName: String { name + "Back" }
        var isToMany: Bool { [.oneToMany, .manyToMany, .ownMany, .manyWithoutInverse].contains(kind) }
        var hasOtherEnd: Bool { [.oneToOne, .oneToMany, .manyToMany].contains(kind) }

        var ends: [End] {
            let own = End(
                entity: source, name: name, destination: destination, isToMany: isToMany, isOrdered: isOrdered)
            if !hasOtherEnd { return [own] }
            let other = End(
                entity: destination, name: inverseName, destination: source, isToMany: kind == .manyToMany,
                isOrdered: inverseIsOrdered)
            return [own, other]
        }

        var description: String {
            "\(source).\(name)\(isOrdered ? " ordered" : "")\(rule == .cascadeDeleteRule ? " cascade" : "") \(kind) "
                + "\(destination)\(inverseIsOrdered ? " ordered" : "")"
                + (inverseRule == .cascadeDeleteRule ? " cascade" : "")
        }
    }

    private var relationships: [Relationship] = []
    private let hasSubentity: Bool

    let rootEntities = ["A", "B"]
    var concreteEntities: [String] { hasSubentity ? ["A", "B", "C"] : ["A", "B"] }
    var ends: [End] { relationships.flatMap(\.ends) }
    var description: String {
        relationships.map(\.description).joined(separator: ", ") + (hasSubentity ? ", C is a B" : "")
    }

    init(using random: inout SeededGenerator) {
        hasSubentity = Bool.random(using: &random)
        for index in 0..<Int.random(in: 1...3, using: &random) {
            let kind = Relationship.Kind.allCases[[0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 5].randomElement(using: &random) ?? 0]
            let names = hasSubentity ? ["A", "B", "B", "C"] : ["A", "B"]
            let source = names.randomElement(using: &random) ?? "A"
            let isOwn = kind == .ownOne || kind == .ownMany
            let destination = isOwn ? source : names.randomElement(using: &random) ?? "B"
            var made = Relationship(kind: kind, source: source, destination: destination, name: ["r", "s", "t"][index])
            if made.isToMany { made.isOrdered = Bool.random(using: &random) }
            if kind == .manyToMany { made.inverseIsOrdered = Bool.random(using: &random) }
            if isOwn { made.inverseIsOrdered = made.isOrdered }
            if Int.random(in: 0..<8, using: &random) == 0 { made.rule = .cascadeDeleteRule }
            if made.hasOtherEnd, Int.random(in: 0..<8, using: &random) == 0 { made.inverseRule = .cascadeDeleteRule }
            relationships.append(made)
        }
    }

    /// A model of its own for each coordinator.
    func make() -> NSManagedObjectModel {
        func attributes() -> [NSPropertyDescription] {
            ["key", "name"].map { name in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
                return attribute
            }
        }
        var entities: [String: NSEntityDescription] = [:]
        for name in concreteEntities {
            let entity = NSEntityDescription()
            (entity.name, entity.managedObjectClassName) = (name, "NSManagedObject")
            if name != "C" { entity.properties = attributes() }
            entities[name] = entity
        }
        if let superentity = entities["B"], let subentity = entities["C"] { superentity.subentities = [subentity] }
        func relationship(
            _ name: String, to destination: String, _ isToMany: Bool, _ isOrdered: Bool, _ rule: NSDeleteRule
        )
            -> NSRelationshipDescription
        {
            let made = NSRelationshipDescription()
            (made.name, made.destinationEntity, made.maxCount, made.isOptional) = (
                name, entities[destination], isToMany ? 0 : 1, true
            )
            (made.isOrdered, made.deleteRule) = (isOrdered, rule)
            return made
        }
        for item in relationships {
            let own = relationship(item.name, to: item.destination, item.isToMany, item.isOrdered, item.rule)
            entities[item.source]?.properties.append(own)
            if item.kind == .ownOne || item.kind == .ownMany { own.inverseRelationship = own }
            guard item.hasOtherEnd else { continue }
            let other = relationship(
                item.inverseName, to: item.source, item.kind == .manyToMany, item.inverseIsOrdered, item.inverseRule)
            entities[item.destination]?.properties.append(other)
            (own.inverseRelationship, other.inverseRelationship) = (other, own)
        }
        let model = NSManagedObjectModel()
        model.entities = concreteEntities.compactMap { entities[$0] }
        return model
    }
}
