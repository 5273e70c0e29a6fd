import Foundation

/// The entities that a store of a configuration holds. They are the entities that the configuration
/// lists, and all their subentities: the objects of a subentity are objects of the listed entity.
package struct HeldEntities {
    /// All entities, the listed ones first.
    package let entities: [NSEntityDescription]
    private let listedCount: Int

    package init(listed: [NSEntityDescription]) {
        var all = listed
        var known = Set(listed.map { ObjectIdentifier($0) })
        var position = 0
        while position < all.count {
            let entity = all[position]
            for subentity in entity.subentities where subentity.owningModel === entity.owningModel {
                if known.insert(ObjectIdentifier(subentity)).inserted { all.append(subentity) }
            }
            position += 1
        }
        entities = all
        listedCount = listed.count
    }

    package var listed: ArraySlice<NSEntityDescription> { entities.prefix(listedCount) }
    /// The subentities that a store holds only because a superentity is listed.
    package var unlisted: ArraySlice<NSEntityDescription> { entities.dropFirst(listedCount) }

    /// The versions of the entities. All hashes are computed until the model is in use.
    package var versions: HeldVersions {
        HeldVersions(hashes: ModelTables.versionHashes(of: entities), unlisted: Set(unlisted.map { $0.name ?? "" }))
    }

    /// Whether a store may claim to hold exactly the entities with these names.
    package func fit(_ names: Set<String>) -> Bool {
        names.isSuperset(of: listed.map { $0.name ?? "" }) && names.isSubset(of: entities.map { $0.name ?? "" })
    }
}

package struct HeldVersions: Sendable {
    /// The version hash of each entity, by name. New stores have all of them.
    package let hashes: [String: Data]
    /// The names of the subentities that the configuration does not list. Stores of former releases
    /// have no hashes of these.
    package let unlisted: Set<String>

    /// Returns the hashes that a store of these versions has; `stored` says which entities it
    /// holds.
    package func expected(beside stored: [String: Data]) -> [String: Data] {
        hashes.filter { stored[$0.key] != nil || !unlisted.contains($0.key) }
    }

    package func fit(_ stored: [String: Data]) -> Bool { expected(beside: stored) == stored }
}

extension NSManagedObjectModel {
    /// Returns the entities that a store of a configuration holds; for nil, all entities. nil when
    /// there is no such configuration.
    package func heldEntities(forConfigurationName configuration: String?) -> HeldEntities? {
        entities(forConfigurationName: configuration).map(HeldEntities.init(listed:))
    }
}

/// The entries of a store's metadata that contain the versions of its entities.
package enum StoreMetadataHashes {
    static let hashesKey = "NSStoreModelVersionHashes"

    /// Returns the entity hashes by name; nil when they are missing or not in the expected form.
    package static func hashes(in metadata: [String: Any]) -> [String: Data]? {
        guard let entries = metadata[hashesKey] as? [String: Any] else { return nil }
        var hashes: [String: Data] = [:]
        for (name, value) in entries {
            guard let data = (value as? Data) ?? (value as? NSData).map({ $0 as Data }) else { return nil }
            hashes[name] = data
        }
        return hashes
    }
}
