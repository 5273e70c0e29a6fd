import Foundation

/// The tables that a model computes once, when it comes into use.
package struct ModelTables {
    let entitiesByName: [String: NSEntityDescription]
    let versionHashes: [String: Data]

    init(of entities: [NSEntityDescription]) {
        entitiesByName = Self.byName(entities)
        versionHashes = Self.versionHashes(of: entities)
    }

    /// Returns entities by name; of two entities with one name, the first.
    package static func byName(_ entities: [NSEntityDescription]) -> [String: NSEntityDescription] {
        Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    static func versionHashes(of entities: [NSEntityDescription]) -> [String: Data] {
        byName(entities).mapValues(\.versionHash)
    }
}

/// The tables that an entity computes once, when its model comes into use.
struct EntityTables {
    let properties: [NSPropertyDescription]
    let propertiesByName: [String: NSPropertyDescription]
    let attributesByName: [String: NSAttributeDescription]
    let relationshipsByName: [String: NSRelationshipDescription]
    let versionHash: [UInt8]

    init(of entity: NSEntityDescription) {
        properties = Self.properties(of: entity)
        propertiesByName = Self.byName(properties)
        attributesByName = Self.byName(properties.compactMap { $0 as? NSAttributeDescription })
        relationshipsByName = Self.byName(properties.compactMap { $0 as? NSRelationshipDescription })
        versionHash = VersionHash.entity(entity)
    }

    /// Returns all properties of an entity, those of the root first. A property that a subentity
    /// declares again replaces the inherited one.
    static func properties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
        guard let superentity = entity.superentity else { return entity.ownProperties }
        let own = Set(entity.ownProperties.map(\.name))
        return properties(of: superentity).filter { !own.contains($0.name) } + entity.ownProperties
    }

    /// Returns properties by name; of two properties with one name, the first.
    static func byName<Property: NSPropertyDescription>(_ properties: [Property]) -> [String: Property] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
