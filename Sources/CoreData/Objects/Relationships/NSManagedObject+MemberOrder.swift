import Foundation

// The order of the members of ordered relationships.

extension NSManagedObject {
    /// Reorders an ordered relationship as the user requests: tracked.
    final func reorder(to order: ContiguousArray<NSManagedObject>, slot: Int) {
        if setOrder(order, slot: slot) { noteChange(slot) }
    }

    /// Gives the same members of an ordered relationship a new order, without tracking. Does
    /// nothing for a relationship that could not be read.
    ///
    /// - Returns: whether the order changed.
    @discardableResult
    final func setOrder(_ order: ContiguousArray<NSManagedObject>, slot: Int) -> Bool {
        let state = toManyState(slot)
        guard state.isLoaded, !state.members.objects.elementsEqual(order, by: { $0 === $1 }) else { return false }
        rememberOrder(state, slot)
        state.members.replaceAll(order)
        return true
    }

    /// Moves members of an ordered relationship, without tracking. Does nothing for a relationship
    /// that could not be read.
    ///
    /// - Parameter index: the position of the first moved member among the others.
    /// - Returns: whether the order changed.
    final func moveMembers(at indexes: IndexSet, to index: Int, slot: Int) -> Bool {
        _ = toManyMembers(slot)
        let state = toManyState(slot)
        guard state.isLoaded, let first = indexes.first, let last = indexes.last else { return false }
        let target = min(index, state.members.count - indexes.count)
        if first == target, last == target + indexes.count - 1 { return false }
        let moved = indexes.map { state.members[$0] }
        rememberOrder(state, slot)
        for object in moved { state.members.removeOrdered(object) }
        for (offset, object) in moved.enumerated() { state.members.insert(object, at: target + offset) }
        return true
    }

    /// Exchanges two members of an ordered relationship, under the rules of `moveMembers`.
    final func exchangeMembers(_ first: Int, _ second: Int, slot: Int) -> Bool {
        let (low, high) = (min(first, second), max(first, second))
        if low == high || !moveMembers(at: [high], to: low, slot: slot) { return false }
        if high > low + 1 { _ = moveMembers(at: [low + 1], to: high, slot: slot) }
        return true
    }

    /// Remembers the store's order before the first change of it.
    final func rememberOrder(_ state: ToManyState, _ slot: Int, without added: NSManagedObject? = nil) {
        guard layout.slots[slot].kind == .orderedToMany else { return }
        state.orderChanged = true
        if state.committedOrder == nil, committedRow != nil {
            state.committedOrder = state.members.objects.filter { member in
                member !== added && !state.added.contains(member)
            }
        }
    }
}
