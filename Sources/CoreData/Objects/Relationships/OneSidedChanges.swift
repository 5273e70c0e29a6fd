import Foundation

/// Changes by primitive setters of which the inverses were not updated yet.
final class OneSidedChanges {
    private struct Change {
        let slot: Int
        var gained = ObjectList()
        var lost = ObjectList()
    }

    /// Changed relationships, without those that have returned to their former value.
    private var changes: [Change] = []

    /// A relationship's members as a set that the program received, and may have changed since.
    struct HandedOut {
        let set: NSMutableSet
        /// The members from which the set was made.
        let members: ContiguousArray<NSManagedObject>

        /// Whether these are still the members. O(1): a kept list is copied on change.
        func isMade(of members: ContiguousArray<NSManagedObject>) -> Bool {
            members.count == self.members.count
                && members.withUnsafeBufferPointer { $0.baseAddress }
                    == self.members.withUnsafeBufferPointer { $0.baseAddress }
        }
    }

    private(set) var handedOut: [Int: HandedOut] = [:]

    /// Whether no inverse must follow, and no set was handed out.
    var isEmpty: Bool { changes.isEmpty && handedOut.isEmpty }
    var slots: [Int] { changes.map(\.slot) }

    func handOut(_ slot: Int, _ copy: HandedOut?) { handedOut[slot] = copy }

    /// Records that a relationship has gained a destination or a member.
    func gain(_ object: NSManagedObject, slot: Int) {
        change(slot) { if !$0.lost.removeUnordered(object) { $0.gained.append(object) } }
    }

    /// Records that a relationship has lost a destination or a member.
    func lose(_ object: NSManagedObject, slot: Int) {
        change(slot) { if !$0.gained.removeOrdered(object) { $0.lost.append(object) } }
    }

    private func change(_ slot: Int, _ body: (inout Change) -> Void) {
        let index = changes.firstIndex { $0.slot == slot } ?? changes.count
        if index == changes.count { changes.append(Change(slot: slot)) }
        body(&changes[index])
        if changes[index].gained.isEmpty, changes[index].lost.isEmpty { changes.remove(at: index) }
    }

    /// Whether a relationship has gained an object whose inverse was not updated.
    func hasGained(_ object: NSManagedObject, slot: Int) -> Bool {
        changes.contains { $0.slot == slot && $0.gained.objects.contains { $0 === object } }
    }

    /// Removes and returns the recorded changes of a relationship.
    func take(_ slot: Int) -> (gained: ContiguousArray<NSManagedObject>, lost: ContiguousArray<NSManagedObject>) {
        guard let index = changes.firstIndex(where: { $0.slot == slot }) else { return ([], []) }
        let change = changes.remove(at: index)
        return (change.gained.objects, change.lost.objects)
    }
}
