import Foundation

/// The entities that a store of a configuration holds: those that the configuration lists and all their subentities, whose objects are
/// objects of these.
package struct HeldEntities {
    /// The listed ones first.
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
    /// The subentities that a store holds because of others alone.
    package var unlisted: ArraySlice<NSEntityDescription> { entities.dropFirst(listedCount) }

    /// Hashes everything until the model is in use.
    package var versions: HeldVersions {
        HeldVersions(hashes: ModelTables.versionHashes(of: entities), unlisted: Set(unlisted.map { $0.name ?? "" }))
    }

    /// Whether a store may say that it holds just the entities of these names.
    package func fit(_ names: Set<String>) -> Bool {
        names.isSuperset(of: listed.map { $0.name ?? "" }) && names.isSubset(of: entities.map { $0.name ?? "" })
    }
}

/// The versions of what a store of a configuration holds.
package struct HeldVersions: Sendable {
    /// The version hash of each entity, by name. New stores have all of them.
    package let hashes: [String: Data]
    /// The names of the subentities that the configuration does not list: stores of former releases have no hashes of these.
    package let unlisted: Set<String>

    /// The hashes that a store of these versions has, which says in `stored` what it holds.
    package func expected(beside stored: [String: Data]) -> [String: Data] {
        hashes.filter { stored[$0.key] != nil || !unlisted.contains($0.key) }
    }

    /// Whether a store with these hashes is of these versions.
    package func fit(_ stored: [String: Data]) -> Bool { expected(beside: stored) == stored }
}

extension NSManagedObjectModel {
    /// What a store of a configuration holds, everything for nil; nil when there is no such configuration.
    package func heldEntities(forConfigurationName configuration: String?) -> HeldEntities? {
        entities(forConfigurationName: configuration).map(HeldEntities.init(listed:))
    }
}
