/// Which of the entity mappings of a migration the database carries out, and which are carried out
/// object by object.
///
/// A statement copies the rows of an entity, with their keys, if the mapping says nothing that an
/// inferred one could not say. A relationship between such an entity and one whose objects are
/// moved one by one is set from the side of the latter, so that it must have an inverse, and have
/// no order on the other side.
struct MappingPlan {
    /// The mapping of the entities whose rows are copied.
    let inference: MappingInference
    /// The entities whose objects are moved one by one and keep their keys; nil if there are none
    /// to move.
    let movedAsObjects: [MappingInference.EntityPair]?

    /// Decides for all steps, and tells them.
    init(
        _ steps: [MappingStep], from sources: [NSEntityDescription], to destinations: [NSEntityDescription]
    ) {
        let held = Set((sources + destinations).map { ObjectIdentifier($0) })
        func isHeld(_ pair: MappingInference.EntityPair) -> Bool {
            held.contains(ObjectIdentifier(pair.source)) && held.contains(ObjectIdentifier(pair.destination))
        }
        let makers = steps.filter { $0.destination != nil && $0.source != nil }
        var candidates: [(step: MappingStep, pair: MappingInference.EntityPair)] = makers.compactMap { step in
            guard let pair = step.pairForSQL, isHeld(pair),
                makers.allSatisfy({
                    $0 === step || $0.source !== pair.source && $0.destination !== pair.destination
                })
            else { return nil }
            return (step, pair)
        }
        var inference: MappingInference
        while true {
            inference = MappingInference(from: sources, to: destinations, pairs: candidates.map(\.pair))
            let names = Set(candidates.map(\.step.name))
            let fitting = candidates.filter { candidate in
                !inference.problems.contains { $0.concerns(candidate.pair.destination) }
                    && Self.linksFit(candidate.step, makers, inSQL: names)
            }
            if fitting.count == candidates.count { break }
            candidates = fitting
        }
        if !inference.problems.isEmpty {
            candidates = []
            inference = MappingInference(from: sources, to: destinations, pairs: [])
        }
        self.inference = inference
        for (step, _) in candidates { step.isInSQL = true }
        Self.setRelationships(ofStepsInSQL: candidates.map(\.step), makers)
        // The first mapping into a hierarchy decides whose keys it keeps.
        var roots = Dictionary(
            candidates.map { (ObjectIdentifier($0.pair.destination.rootEntity), $0.pair.source.rootEntity) },
            uniquingKeysWith: { first, _ in first })
        var moved: [MappingInference.EntityPair] = []
        for step in makers where !step.isInSQL {
            guard let pair = step.pair, isHeld(pair) else { continue }
            let root = ObjectIdentifier(pair.destination.rootEntity)
            if roots[root] == nil { roots[root] = pair.source.rootEntity }
            guard roots[root] === pair.source.rootEntity else { continue }
            step.keySharers = makers.filter { $0.destination?.rootEntity === pair.destination.rootEntity }
            moved.append(pair)
        }
        movedAsObjects = steps.allSatisfy { $0.isInSQL || $0.makesNothing } ? nil : moved
    }

    // MARK: Relationships

    /// Whether statements and objects together set the relationships of a mapping as its
    /// expressions say.
    private static func linksFit(_ step: MappingStep, _ makers: [MappingStep], inSQL names: Set<String>) -> Bool {
        step.relationships.allSatisfy { value in
            guard let link = Link(value, of: step, makers) else { return false }
            let isCopied = link.others.allSatisfy { !names.contains($0.name) }
            return isCopied && (link.inverse != nil || link.makers.allSatisfy { names.contains($0.name) })
        }
    }

    private static func setRelationships(ofStepsInSQL steps: [MappingStep], _ makers: [MappingStep]) {
        for step in steps {
            for value in step.relationships {
                guard let link = Link(value, of: step, makers), let inverse = link.inverse else { continue }
                for maker in link.makers where !maker.isInSQL {
                    maker.otherEnds.append(
                        MappingStep.OtherEnd(
                            step: step, source: inverse.source.name, destination: inverse.destination.name,
                            isToMany: link.relationship.isToMany))
                }
            }
        }
    }

    /// A relationship that is looked up, with the mappings that may have made its objects.
    private struct Link {
        let relationship: NSRelationshipDescription
        /// The mappings whose objects it finds.
        let makers: [MappingStep]
        /// The mappings that make other objects of the same source objects.
        let others: [MappingStep]
        /// The relationships from the other end; nil if these do not say the same.
        let inverse: (source: NSRelationshipDescription, destination: NSRelationshipDescription)?

        init?(_ value: MappingStep.Value, of step: MappingStep, _ all: [MappingStep]) {
            guard let lookUp = RelationshipLookUp(value.expression),
                let former = step.source?.relationshipsByName[lookUp.relationship],
                let family = former.destinationEntity,
                let relationship = step.destination?.relationshipsByName[value.name]
            else { return nil }
            self.relationship = relationship
            let possible = all.filter { $0.source?.isKindOf(entity: family) == true }
            makers = possible.filter { lookUp.mapping == nil || $0.name == lookUp.mapping }
            others = possible.filter { lookUp.mapping != nil && $0.name != lookUp.mapping }
            if makers.isEmpty { return nil }
            if let source = former.inverseRelationship, let destination = relationship.inverseRelationship,
                !relationship.isOrdered
            {
                inverse = (source, destination)
            } else {
                inverse = nil
            }
        }
    }
}

extension InferenceProblem {
    /// Whether the problem is one of an entity. A problem of a property is named at the entity that
    /// declares it.
    fileprivate func concerns(_ destination: NSEntityDescription) -> Bool {
        var entity: NSEntityDescription? = destination
        while let next = entity {
            if next.name == self.entity { return true }
            entity = next.superentity
        }
        return false
    }
}
