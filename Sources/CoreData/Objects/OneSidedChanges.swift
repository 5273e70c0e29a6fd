import Foundation

/// What primitive setters have done to the relationships of an object, as far as the other sides do not know of it.
final class OneSidedChanges {
    private struct Change {
        let slot: Int
        var gained = ObjectList()
        var lost = ObjectList()
    }

    /// Changed relationships, without those that have come back to what they were.
    private var changes: [Change] = []

    /// A relationship's members as a set that the program has got, and may have changed since.
    struct HandedOut {
        let set: NSMutableSet
        /// The members that the set was made of.
        let members: ContiguousArray<NSManagedObject>

        /// Whether these are still the relationship's members. O(1): a list that is kept here is copied when it changes.
        func isMade(of members: ContiguousArray<NSManagedObject>) -> Bool {
            members.count == self.members.count
                && members.withUnsafeBufferPointer { $0.baseAddress } == self.members.withUnsafeBufferPointer { $0.baseAddress }
        }
    }

    private(set) var handedOut: [Int: HandedOut] = [:]

    /// Whether nothing is, or may be, to be told.
    var isEmpty: Bool { changes.isEmpty && handedOut.isEmpty }
    var slots: [Int] { changes.map(\.slot) }

    func handOut(_ slot: Int, _ copy: HandedOut?) { handedOut[slot] = copy }

    /// A relationship has got a destination or a member.
    func gain(_ object: NSManagedObject, slot: Int) {
        change(slot) { if !$0.lost.removeUnordered(object) { $0.gained.append(object) } }
    }

    /// A relationship has lost a destination or a member.
    func lose(_ object: NSManagedObject, slot: Int) {
        change(slot) { if !$0.gained.removeOrdered(object) { $0.lost.append(object) } }
    }

    private func change(_ slot: Int, _ body: (inout Change) -> Void) {
        let index = changes.firstIndex { $0.slot == slot } ?? changes.count
        if index == changes.count { changes.append(Change(slot: slot)) }
        body(&changes[index])
        if changes[index].gained.isEmpty, changes[index].lost.isEmpty { changes.remove(at: index) }
    }

    /// Whether a relationship has got an object that does not know of it.
    func hasGained(_ object: NSManagedObject, slot: Int) -> Bool {
        changes.contains { $0.slot == slot && $0.gained.objects.contains { $0 === object } }
    }

    /// Ends what is known of a relationship.
    func take(_ slot: Int) -> (gained: ContiguousArray<NSManagedObject>, lost: ContiguousArray<NSManagedObject>) {
        guard let index = changes.firstIndex(where: { $0.slot == slot }) else { return ([], []) }
        let change = changes.remove(at: index)
        return (change.gained.objects, change.lost.objects)
    }
}
