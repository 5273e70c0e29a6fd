// The order of the members of ordered relationships.

extension NSManagedObject {
    /// Gives an ordered relationship a new order of the same members, as the user asks: tracked.
    final func reorder(to order: ContiguousArray<NSManagedObject>, slot: Int) {
        if setOrder(order, slot: slot) { noteChange(slot) }
    }

    /// Gives an ordered relationship a new order of the same members, without tracking. One that could not be read stays as it is.
    ///
    /// - Returns: whether they had another one.
    @discardableResult
    final func setOrder(_ order: ContiguousArray<NSManagedObject>, slot: Int) -> Bool {
        let state = toManyState(slot)
        guard state.isLoaded, !state.members.objects.elementsEqual(order, by: { $0 === $1 }) else { return false }
        rememberOrder(state, slot)
        state.members.replaceAll(order)
        return true
    }

    /// Keeps the order that the store has before it is changed.
    final func rememberOrder(_ state: ToManyState, _ slot: Int, without added: NSManagedObject? = nil) {
        guard layout.slots[slot].kind == .orderedToMany else { return }
        state.orderChanged = true
        if state.committedOrder == nil, committedRow != nil {
            state.committedOrder = state.members.objects.filter { member in
                member !== added && !state.added.objects.contains { $0 === member }
            }
        }
    }
}
