import Foundation

// The sources of relationships' links.
extension MappingInference {
    /// Finds the source of a relationship's links: its own predecessor, or the predecessor of its
    /// inverse.
    mutating func matchLinks(of relationship: NSRelationshipDescription) {
        let own = predecessors(of: relationship)
        let inverse = relationship.inverseRelationship
        let others = inverse.map { predecessors(of: $0) } ?? []
        guard own.count <= 1 else {
            let names = own.map { "\($0.entity.name ?? "").\($0.name)" }.joined(separator: " and ")
            add(
                relationship.entity, relationship, "it would join the relationships \(names).",
                "Keep a relationship for each, or move the objects in the program.")
            return
        }
        // The check of the inverse reports several predecessors.
        guard others.count <= 1 else { return }
        switch (own.first, others.first) {
        case (let source?, let other):
            if let other, source.inverseRelationship !== other {
                add(
                    relationship.entity, relationship,
                    "its inverse is '\(inverse?.name ?? "")' now, which was not the inverse of '\(source.name)' "
                        + "before.",
                    "Keep the inverse, or give one of the two another name.")
                return
            }
            if inverse === relationship, source.inverseRelationship !== source {
                add(
                    relationship.entity, relationship, "it is its own inverse now, and was not before.",
                    "Keep the inverse, or give the new relationship another name.")
                return
            }
            setLinks(of: relationship, to: .relationship(source))
        case (nil, let other?):
            setLinks(of: relationship, to: other.inverseRelationship.map(LinkSource.relationship) ?? .reversed(other))
        case (nil, nil): break
        }
    }

    /// Returns the source relationships that the entities with this relationship had in its place.
    private func predecessors(of relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
        var found: [NSRelationshipDescription] = []
        for entity in destinationEntities where entity.propertiesByName[relationship.name] === relationship {
            guard let pair = entity.name.flatMap({ pairs[$0] }),
                let source = pair.sourceNames[relationship.name].flatMap({ pair.source.relationshipsByName[$0] }),
                !found.contains(where: { $0 === source })
            else { continue }
            found.append(source)
        }
        return found
    }

    /// Adds problems for links that the destination's relationship cannot hold.
    mutating func checkLinks(of relationship: NSRelationshipDescription) {
        guard let links = links[ObjectIdentifier(relationship)] else { return }
        // A new relationship that gets its links from its inverse takes one object of several.
        if case .relationship(let source) = links, source.isToMany, !relationship.isToMany,
            predecessors(of: relationship).contains(where: { $0 === source })
        {
            add(
                relationship.entity, relationship,
                "it was to-many and is to-one now: which object should stay is not known.",
                "Leave it to-many, or give the new relationship another name and choose the objects in the program.")
        }
        checkDestination(of: relationship, links)
    }

    /// Checks that all objects at the ends of the source's links are of the new destination entity.
    private mutating func checkDestination(of relationship: NSRelationshipDescription, _ links: LinkSource) {
        guard case .relationship(let source) = links, let former = source.destinationEntity,
            let destination = relationship.destinationEntity
        else {
            if case .reversed(let source) = links { checkReversed(relationship, source) }
            return
        }
        let counterpart = self.destination(of: former)
        let isRelated = counterpart.map { $0.isKindOf(entity: destination) || destination.isKindOf(entity: $0) } ?? true
        for entity in sourceEntities where entity.isKindOf(entity: former) && !entity.isAbstract {
            guard let now = self.destination(of: entity), !now.isKindOf(entity: destination) else { continue }
            // Objects that lost their side of the relationship lost the links with it.
            if isRelated, let inverse = source.inverseRelationship, let pair = now.name.flatMap({ pairs[$0] }),
                !pair.sourceNames.values.contains(inverse.name)
            {
                continue
            }
            add(
                relationship.entity, relationship,
                "it leads to '\(destination.name ?? "")' now, but led to objects of '\(entity.name ?? "")'"
                    + (now.name == entity.name ? "" : ", now '\(now.name ?? "")'") + ", which are none.",
                "Keep the destination, or give the new relationship another name.")
            return
        }
    }

    private mutating func checkReversed(_ relationship: NSRelationshipDescription, _ source: NSRelationshipDescription)
    {
        guard let destination = relationship.destinationEntity else { return }
        for entity in sourceEntities where entity.isKindOf(entity: source.entity) && !entity.isAbstract {
            guard let now = self.destination(of: entity), !now.isKindOf(entity: destination),
                now.name.flatMap({ pairs[$0] })?.sourceNames.values.contains(source.name) == true
            else { continue }
            add(
                relationship.entity, relationship,
                "it leads to '\(destination.name ?? "")' now, but led to objects of '\(entity.name ?? "")', which "
                    + "are none.",
                "Keep the destination, or give the new relationship another name.")
            return
        }
    }
}
