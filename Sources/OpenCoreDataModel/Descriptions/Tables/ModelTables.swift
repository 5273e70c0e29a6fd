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

    /// Returns the version hashes by entity name.
    static func versionHashes(of entities: [NSEntityDescription]) -> [String: Data] {
        byName(entities).mapValues(\.versionHash)
    }
}
