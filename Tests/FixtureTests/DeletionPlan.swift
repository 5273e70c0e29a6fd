import CoreData

/// The effects that the delete rules prescribe for the deletion of one object, computed from the
/// states of all objects.
struct DeletionPlan {
    let model: NSManagedObjectModel
    let states: [String: ObjectState]

    private func entity(_ place: String) -> NSEntityDescription? {
        model.entitiesByName[String(place.prefix { $0 != "/" })]
    }

    /// All objects that go; nil when a rule, or a relationship that would become invalid, forbids
    /// the deletion.
    ///
    /// - Parameter others: objects that go as well.
    func deleted(with place: String, and others: Set<String> = []) -> Set<String>? {
        var gone = others.union([place])
        var waiting = [place]
        while let current = waiting.popLast() {
            for relationship in entity(current)?.relationshipsByName.values.map({ $0 }) ?? [] {
                let places = states[current]?[relationship.name]?.places ?? []
                switch relationship.deleteRule {
                case .cascadeDeleteRule:
                    for other in places where gone.insert(other).inserted { waiting.append(other) }
                case .denyDeleteRule, .noActionDeleteRule:
                    if !places.isEmpty { return nil }
                default: break
                }
            }
        }
        return gone.allSatisfy { canLeaveItsNeighbours($0, gone) } ? gone : nil
    }

    private func canLeaveItsNeighbours(_ place: String, _ gone: Set<String>) -> Bool {
        for relationship in entity(place)?.relationshipsByName.values.map({ $0 }) ?? [] {
            guard let inverse = relationship.inverseRelationship, !inverse.isOptional || inverse.minCount > 0 else {
                continue
            }
            for other in states[place]?[relationship.name]?.places ?? [] where !gone.contains(other) {
                let left = (states[other]?[inverse.name]?.places ?? []).filter { !gone.contains($0) }
                if left.count < max(1, inverse.minCount) { return false }
            }
        }
        return true
    }

    /// A state after objects are gone.
    static func state(_ state: ObjectState, without gone: Set<String>) -> ObjectState {
        state.mapValues { value in
            switch value {
            case .one(let place): gone.contains(place) ? .none : value
            case .many(let places): .many(places.subtracting(gone))
            case .ordered(let places): .ordered(places.filter { !gone.contains($0) })
            case .none, .value, .decimal: value
            }
        }
    }
}
