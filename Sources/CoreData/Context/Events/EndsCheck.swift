// Checks in debug builds that both ends of unsaved relationships agree.

extension NSManagedObjectContext {
    /// Stops the program in debug builds if the ends of unsaved relationships disagree: a mistake
    /// of the engine. Cost: O(unsaved changes of relationships); reads nothing.
    ///
    /// - Parameter isComplete: Whether destinations have got back the ends that a refresh took from
    ///   them (`completeInverses`).
    func checkEnds(isComplete: Bool = false) {
        assert(
            halfOfUnsavedRelationship(isComplete) == nil,
            "An unsaved relationship has one end only: \(halfOfUnsavedRelationship(isComplete) ?? "")")
    }

    private func halfOfUnsavedRelationship(_ isComplete: Bool) -> String? {
        for list in [changes.inserted.objects, changes.updated.objects] {
            for object in list where !object.hasOneSidedChanges {
                if let half = half(of: object, isComplete) { return half }
            }
        }
        return nil
    }

    private func half(of object: NSManagedObject, _ isComplete: Bool) -> String? {
        func isLooked(at other: NSManagedObject) -> Bool {
            other.registry === registry && !other.isDeleted && !other.hasOneSidedChanges
                && other.flags.isDisjoint(with: [.fault, .discarded, .deletionSaved, .inaccessible, .invalid])
        }
        for property in object.layout.persistentRelationships where property.inverseSlot >= 0 {
            func text(_ other: NSManagedObject, _ what: String) -> String {
                "\(object.layout.name).\(property.name) of \(object.descriptionOfIdentity) \(what) "
                    + "\(other.descriptionOfIdentity)"
            }
            if property.kind == .toOne {
                guard isComplete, let destination = object.pending?.destination(property.index),
                    isLooked(at: destination), object.differsFromCommitted(property)
                else { continue }
                let inverse = property.inverseSlot(in: destination.layout)
                if !property.inverseIsToMany {
                    if destination.toOne(inverse) !== object { return text(destination, "leads to") }
                } else {
                    let state = destination.extras?.toMany(inverse)
                    let leadsBack =
                        state.map { $0.added.contains(object) || $0.isLoaded && $0.members.contains(object) } ?? false
                    if !leadsBack { return text(destination, "leads to") }
                }
                continue
            }
            guard let state = object.extras?.toMany(property.index), !property.inverseIsToMany else { continue }
            for member in state.added.objects where isLooked(at: member) {
                if member.toOne(property.inverseSlot(in: member.layout)) !== object { return text(member, "has") }
            }
            for member in state.removed.objects where isLooked(at: member) {
                if member.toOne(property.inverseSlot(in: member.layout)) === object { return text(member, "has lost") }
            }
        }
        return nil
    }
}
