/// Makes both ends of relationships agree after changes were taken back or newer rows were adopted.
struct EndSettlement {
    /// The end that decides when two ends disagree.
    enum Rule {
        /// The store decides, by the merge policy.
        case store
        /// The unsaved change decides, by the merge policy.
        case change
        /// The unsaved change decides. Rows that another writer saved were merged already.
        case merging
    }

    private let context: NSManagedObjectContext
    /// The objects that have a change now and had none before.
    private(set) var changed: ContiguousArray<NSManagedObject> = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    // MARK: Changes that were taken back

    /// Takes back what an object's changes did to the other ends of relationships, after a refresh
    /// took the changes back.
    ///
    /// The end with the foreign key, or with the join-table pairs that it writes, decides which
    /// objects are related. If the other object has that end, its change stays, and the object gets
    /// its own end again when that change is saved (`completeInverses`).
    func takeBack(_ ends: UnsavedEnds) {
        let object = ends.object
        for (slot, gained, lost) in ends.changes {
            let property = object.layout.slots[slot]
            if property.kind.isToMany, !property.inverseIsToMany || !property.isWritingSide(in: object.layout) {
                continue
            }
            let bothHaveIt = !property.kind.isToMany && !property.inverseIsToMany
            for destination in gained + lost where !bothHaveIt || destination.isDeleted {
                takeBack(destination, object, property)
            }
        }
    }

    /// Takes back the unsaved change of a relationship's other end that concerns an object.
    ///
    /// - Parameter relationship: The property of `object`.
    func takeBack(_ destination: NSManagedObject, _ object: NSManagedObject, _ relationship: PropertySlot) {
        guard hasEnds(destination) else { return }
        let slot = relationship.inverseSlot(in: destination.layout)
        let property = destination.layout.slots[slot]
        guard property.kind.isToMany else {
            if destination.differsFromCommitted(property) { takeBackToOne(destination, property, object, relationship) }
            return
        }
        guard let state = destination.extras?.toMany(slot) else { return }
        if state.added.contains(object) {
            destination.removeFromInverse(of: relationship, object)
            context.journal?.reread(destination)
        } else if state.removed.contains(object) {
            destination.prepareForChange()
            state.takeBackRemoval(of: object)
            destination.noteChange(slot)
            context.journal?.reread(destination)
            // It is deleted: objects that it refers to again must not refer to it.
            if destination.isDeleted { context.changes.propagateAgain(destination) }
        }
    }

    private func takeBackToOne(
        _ destination: NSManagedObject, _ property: PropertySlot, _ object: NSManagedObject,
        _ relationship: PropertySlot
    ) {
        let current = destination.toOne(property.index)
        let former = destination.committedDestination(property.index)
        if current !== object {
            if current == nil, former === object { forgetUnsaved(destination, property) }
            // It is deleted: the object that it refers to again must not refer to it.
            if destination.isDeleted { context.changes.propagateAgain(destination) }
            return
        }
        if destination.isDeleted { return }
        guard let former else { return forgetUnsaved(destination, property) }
        // The destination's former end: it is free unless another object was set there.
        let other = former.layout.slots[property.inverseSlot(in: former.layout)]
        if hasEnds(former), !former.isDeleted, former.differsFromCommitted(other),
            former.currentValue(other.index).isNull,
            former.committedDestination(other.index) === destination
        {
            forgetUnsaved(former, other)
            forgetUnsaved(destination, property)
        } else {
            destination.removeFromInverse(of: relationship, object)
            context.journal?.reread(destination)
        }
    }

    /// Resets a to-one relationship to its stored destination.
    private func forgetUnsaved(_ object: NSManagedObject, _ property: PropertySlot) {
        object.prepareForChange()
        object.pending?.remove(property.index)
        object.extras?.setToOne(property.index, nil)
        object.noteChange(property.index)
        context.journal?.reread(object)
    }

    // MARK: Newer rows

    /// Makes both ends of an object's relationships agree after it got a newer row or lost its
    /// changes.
    ///
    /// - Parameter ends: The object's unsaved relationship changes before that.
    mutating func settle(_ ends: UnsavedEnds, _ rule: Rule) {
        let object = ends.object
        guard hasEnds(object), !object.isDeleted else { return }
        for (slot, gained, lost) in ends.changes {
            let property = object.layout.slots[slot]
            if property.kind == .toOne {
                settleToOne(object, property, gained: gained.first, lost: lost.first)
            } else {
                settleMembers(object, property, gained: gained, lost: lost)
            }
        }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount {
            let property = object.layout.slots[slot]
            if property.kind != .toOne || property.inverseSlot < 0 { continue }
            if property.inverseIsToMany, let owner = object.toOne(slot) {
                keepApart(owner, object, owner.layout.slots[property.inverseSlot(in: owner.layout)])
            }
            if rule != .merging, let row = ends.row { readOtherEnds(of: object, property, since: row) }
            if object.differsFromCommitted(property), let stored = storedDestination(of: object, slot),
                stored !== object.toOne(slot)
            {
                release(stored, from: object, property, rule)
            }
            agree(object, property, rule)
        }
    }

    private func settleToOne(
        _ object: NSManagedObject, _ property: PropertySlot, gained: NSManagedObject?, lost: NSManagedObject?
    ) {
        let current = object.toOne(property.index)
        if let gained, gained !== current { takeBack(gained, object, property) }
        if let lost, lost === current || !object.differsFromCommitted(property) { takeBack(lost, object, property) }
    }

    private mutating func settleMembers(
        _ object: NSManagedObject, _ property: PropertySlot, gained: ContiguousArray<NSManagedObject>,
        lost: ContiguousArray<NSManagedObject>
    ) {
        let state = object.extras?.toMany(property.index)
        if property.inverseIsToMany, property.isWritingSide(in: object.layout) {
            for member in gained
            where state?.added.contains(member) != true && !object.isMember(member, slot: property.index) {
                takeBack(member, object, property)
            }
            for member in lost where state?.removed.contains(member) != true { takeBack(member, object, property) }
            return
        }
        for member in lost { keepApart(object, member, property) }
        // The members' own ends decide: members that refer to this object return with the save.
        for member in lost where state?.removed.contains(member) != true && hasEnds(member) && !member.isDeleted {
            let inverse = member.layout.slots[property.inverseSlot(in: member.layout)]
            let isGone =
                property.inverseIsToMany
                ? member.extras?.toMany(inverse.index)?.removed.contains(object) == true
                : member.differsFromCommitted(inverse) && member.toOne(inverse.index) !== object
            if isGone { change(object) { object.removeFromInverse(of: inverse, member) } }
        }
    }

    /// Ends a removed membership again that a newer row of the member has restored.
    private mutating func keepApart(_ owner: NSManagedObject, _ member: NSManagedObject, _ property: PropertySlot) {
        guard hasEnds(member), !member.isDeleted, !member.flags.contains(.fault),
            owner.extras?.toMany(property.index)?.removed.contains(member) == true
        else { return }
        let inverse = member.layout.slots[property.inverseSlot(in: member.layout)]
        if member.toOne(inverse.index) !== owner || member.differsFromCommitted(inverse) { return }
        change(member) { member.removeFromInverse(of: property, owner) }
    }

    /// Reloads the destinations between which another writer has moved an object.
    private func readOtherEnds(of object: NSManagedObject, _ property: PropertySlot, since row: Snapshot) {
        let (former, current) = (row.value(property.index), object.committedValue(property.index))
        if object.equals(former, current) { return }
        for case .reference(let reference) in [former, current] {
            guard let destination = context.registered(reference, near: object), hasEnds(destination),
                !destination.flags.contains(.fault)
            else { continue }
            let inverse = property.inverseSlot(in: destination.layout)
            if property.inverseIsToMany {
                destination.extras?.toMany(inverse)?.forgetMembers()
            } else if destination.flags.isDisjoint(with: .known) {
                context.reload(destination)
            }
        }
    }

    /// Makes former destinations of an object's unsaved changes release the object.
    ///
    /// A refresh may have given the object back to them, or another writer may have pointed them to
    /// it since they were read.
    mutating func releaseFormer(of object: NSManagedObject) {
        for (slot, state) in object.extras?.allToMany ?? [] where !state.removed.isEmpty {
            let property = object.layout.slots[slot]
            if !property.inverseIsToOne || property.isTransient { continue }
            for member in state.removed.objects where !member.flags.contains(.deleted) {
                let inverse = member.layout.slots[property.inverseSlot(in: member.layout)]
                if !member.differsFromCommitted(inverse) { release(member, from: object, property, .change) }
            }
        }
        guard object.committedRow != nil, let pending = object.pending else { return }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0, object.differsFromCommitted(property),
                let former = storedDestination(of: object, slot),
                !former.flags.contains(.deleted)
            else { continue }
            let inverse = property.inverseSlot(in: former.layout)
            if property.inverseIsToMany {
                let state = former.extras?.toMany(inverse)
                if state.map({ $0.removed.contains(object) || $0.isLoaded && !$0.members.contains(object) }) ?? false {
                    continue
                }
            } else if former.differsFromCommitted(former.layout.slots[inverse]) {
                continue
            }
            release(former, from: object, property, .change)
        }
    }

    /// Returns the to-one destination in an object's committed row. If its row was gone, looks for
    /// it again: another writer may have recreated it.
    private func storedDestination(of object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
        guard let stored = object.committedDestination(slot) else { return nil }
        if !stored.flags.isDisjoint(with: .rowIsGone) { context.lookAgain(for: stored) }
        return stored
    }

    /// Makes the stored destination release an object whose unsaved change refers elsewhere.
    private mutating func release(
        _ stored: NSManagedObject, from object: NSManagedObject, _ property: PropertySlot, _ rule: Rule
    ) {
        guard hasEnds(stored), !stored.isDeleted, isThere(stored) else { return }
        let inverse = property.inverseSlot(in: stored.layout)
        if !property.inverseIsToMany, stored.toOne(inverse) !== object {
            // Read before another writer set it. If it has changes, its own save has the conflict.
            if rule == .merging || stored.hasChangesToSave { return }
            context.reload(stored)
            if stored.toOne(inverse) !== object { return }
        }
        change(stored) { stored.removeFromInverse(of: property, object) }
    }

    /// Makes a to-one destination refer back to the object, or ends the relationship.
    private mutating func agree(_ object: NSManagedObject, _ property: PropertySlot, _ rule: Rule) {
        if property.inverseIsToMany, !context.changes.hasDeletions { return }
        guard let destination = object.toOne(property.index), destination.registry === context.registry else { return }
        let inverse = destination.layout.slots[property.inverseSlot(in: destination.layout)]
        if destination.isDeleted {
            // Delete rules removed the references to it that existed when they were applied.
            if inverse.deletion.reachesDestinations, hasEnds(destination) {
                change(object) { object.removeFromInverse(of: inverse, destination) }
            }
            return
        }
        guard !property.inverseIsToMany, hasEnds(destination), isThere(destination),
            destination.toOne(inverse.index) !== object
        else { return }
        let isUnsaved = object.differsFromCommitted(property)
        if !destination.differsFromCommitted(inverse) {
            if rule != .merging, !destination.hasChangesToSave { context.reload(destination) }
            if !isUnsaved || destination.toOne(inverse.index) === object { return }
        }
        // Only a value that the program set takes objects from another writer.
        let isSet = object.pending?.destination(property.index) != nil && rule != .store
        if isUnsaved, isSet || destination.toOne(inverse.index) == nil {
            change(destination) { destination.addToInverse(of: property, object) }
        } else {
            change(object) { object.removeFromInverse(of: inverse, destination) }
        }
    }

    // MARK: Objects

    /// Whether an object's end can be settled.
    private func hasEnds(_ object: NSManagedObject) -> Bool {
        object.registry === context.registry
            && object.flags.isDisjoint(with: [.inaccessible, .deletedElsewhere, .deletionSaved, .discarded, .invalid])
    }

    /// Whether an object is new or has a row, read now. A missing row does not delete it.
    private func isThere(_ object: NSManagedObject) -> Bool {
        do { return try context.load(object) } catch {
            context.readFailure = error
            return false
        }
    }

    private mutating func change(_ object: NSManagedObject, _ body: () -> Void) {
        if object.flags.isDisjoint(with: .known) { changed.append(object) }
        body()
        // The program did not make this change, so undo must not revert it.
        context.journal?.reread(object)
    }
}

extension ToManyState {
    /// Resets a removed member to its stored state.
    fileprivate func takeBackRemoval(of member: NSManagedObject) {
        removed.removeOrdered(member)
        forgetMembers()
    }

    /// Makes members be read again when needed, under the unsaved changes.
    func forgetMembers() {
        if isLoaded, orderChanged { wantedOrder = members.objects }
        isLoaded = false
        members.removeAll()
        committedOrder = nil
    }
}
