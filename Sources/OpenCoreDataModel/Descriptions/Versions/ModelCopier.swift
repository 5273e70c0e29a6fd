import Foundation

/// Copies of entities whose links (hierarchy, destinations, inverses, indexes) refer to copies.
///
/// Every link is replaced by its counterpart, found by identity or, where models are merged, by
/// name. A link to an entity that is not copied is dropped. So is a fetched property that fetches
/// such an entity.
struct ModelCopier {
    let entities: [NSEntityDescription]
    private let entityCopies: [ObjectIdentifier: NSEntityDescription]

    /// Copies entities.
    /// - Parameter names: The original that stands for all entities with a name.
    init(_ originals: [NSEntityDescription], findingByName names: [String: NSEntityDescription] = [:]) {
        var entityCopies: [ObjectIdentifier: NSEntityDescription] = [:]
        var propertyCopies: [ObjectIdentifier: NSPropertyDescription] = [:]
        var copies: [NSEntityDescription] = []
        for original in originals {
            let (copy, properties) = original.copyWithProperties()
            copies.append(copy)
            entityCopies[ObjectIdentifier(original)] = copy
            propertyCopies.merge(properties) { first, _ in first }
        }
        func counterpart(of entity: NSEntityDescription) -> NSEntityDescription? {
            entityCopies[ObjectIdentifier(entity)]
                ?? entity.name.flatMap { names[$0] }.flatMap { entityCopies[ObjectIdentifier($0)] }
        }
        func counterpart(of relationship: NSRelationshipDescription) -> NSRelationshipDescription? {
            propertyCopies[ObjectIdentifier(relationship)] as? NSRelationshipDescription
                ?? relationship.owningEntity.flatMap { counterpart(of: $0) }
                .flatMap { $0.ownProperties.first { $0.name == relationship.name } as? NSRelationshipDescription }
        }
        // Subentities may belong to an entity of the same name in another model, so each copy goes
        // below the counterpart of its original's superentity.
        var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
        for (original, copy) in zip(originals, copies) {
            guard let parent = original.superentity.flatMap({ counterpart(of: $0) }) else { continue }
            children[ObjectIdentifier(parent), default: []].append(copy)
        }
        for (original, copy) in zip(originals, copies) {
            let own = children[ObjectIdentifier(copy)] ?? []
            let isOwn = Set(own.map(ObjectIdentifier.init))
            let listed = original.subentities.compactMap { counterpart(of: $0) }.filter {
                isOwn.contains(ObjectIdentifier($0))
            }
            let isListed = Set(listed.map(ObjectIdentifier.init))
            copy.subentities = listed + own.filter { !isListed.contains(ObjectIdentifier($0)) }
            for case let relationship as NSRelationshipDescription in copy.ownProperties {
                relationship.destinationEntity = relationship.destinationEntity.flatMap { counterpart(of: $0) }
                relationship.inverseRelationship = relationship.inverseRelationship.flatMap { counterpart(of: $0) }
            }
        }
        // Indexes come last: a change of properties drops them.
        let copiedNames = Set(originals.compactMap(\.name))
        for (original, copy) in zip(originals, copies) {
            let lost = original.ownProperties.filter {
                Self.fetchesOmittedEntity($0, of: original, copied: copiedNames)
            }
            if !lost.isEmpty {
                copy.properties = copy.ownProperties.filter { property in !lost.contains { $0.name == property.name } }
            }
        }
        for (original, copy) in zip(originals, copies) {
            copy.indexes = original.indexes.map { index in
                index.copy(replacing: { propertyCopies[ObjectIdentifier($0)] ?? $0 })
            }
        }
        entities = copies
        self.entityCopies = entityCopies
    }

    /// Whether a property fetches an entity of its model that is not copied. Version hashes do not
    /// depend on it.
    private static func fetchesOmittedEntity(
        _ property: NSPropertyDescription, of entity: NSEntityDescription, copied names: Set<String>
    ) -> Bool {
        guard let target = (property as? NSFetchedPropertyDescription)?.fetchRequestTemplate?.entityName,
            !names.contains(target)
        else {
            return false
        }
        return entity.owningModel?.entitiesByName[target] != nil
    }

    func replacement(of entity: NSEntityDescription) -> NSEntityDescription {
        entityCopies[ObjectIdentifier(entity)] ?? entity
    }
}
