// The invariant of an object's state between transitions, and the release of its parts at the end.

extension ObjectState {
    /// Releases the parts that the object owns, in its deinit.
    func releaseAll() {
        heldRegistry?.release()
        heldPage?.release()
        if let pendingReference {
            let holdsObjects = pendingReference.withObject { $0.mayHoldOthers }
            if holdsObjects { ReleaseQueue.release(pendingReference) } else { pendingReference.release() }
        }
        if let extrasReference {
            let holdsObjects = extrasReference.withObject { $0.mayHoldOthers }
            if holdsObjects { ReleaseQueue.release(extrasReference) } else { extrasReference.release() }
        }
    }

    /// Whether the invariant holds, as it must between any two transitions.
    var isConsistent: Bool {
        let hasPendingValues = pendingReference?.withObject { !$0.mask.isEmpty } ?? false
        // A row that is read directly is that of a loaded object without unsaved values.
        if row != nil, flags.contains(.fault) || hasPendingValues { return false }
        if let committedRow {
            // The object holds the page of its row, and an object with a row is in a store.
            guard heldPage?.pointer == committedRow.rowPage.pointer, key == committedRow.rowKey else {
                return false
            }
        }
        // An object is in at most one of the context's lists.
        if flags.contains(.updated), !flags.isDisjoint(with: [.inserted, .deleted]) { return false }
        return !flags.contains(.insertedInEvent) || flags.contains(.inEvent)
    }
}

extension NSManagedObject {
    /// Checks the state after a transition, in debug builds.
    @inline(__always)
    final func transitionEnded() {
        assert(state.isConsistent, "The state of an object contradicts itself: \(state)")
    }
}
