// What holds of an object's state between transitions, and what it owns at the end.

extension ObjectState {
    /// Lets go of what the object owns, in its deinit.
    func releaseAll() {
        heldRegistry?.release()
        heldPage?.release()
        if let pendingReference {
            let holdsObjects = pendingReference._withUnsafeGuaranteedRef { $0.mayHoldOthers }
            if holdsObjects { ReleaseQueue.release(pendingReference) } else { pendingReference.release() }
        }
        if let extrasReference {
            let holdsObjects = extrasReference._withUnsafeGuaranteedRef { $0.mayHoldOthers }
            if holdsObjects { ReleaseQueue.release(extrasReference) } else { extrasReference.release() }
        }
    }

    /// What holds between any two transitions.
    var isConsistent: Bool {
        let hasPendingValues = pendingReference?._withUnsafeGuaranteedRef { !$0.mask.isEmpty } ?? false
        // A row that is read directly is the committed one, of a loaded object, with nothing unsaved above it.
        if let row, row != committedRow || flags.contains(.fault) || hasPendingValues { return false }
        if let committedRow {
            // The page of a row is held, and what has a row is in a store.
            guard heldPage?.toOpaque() == committedRow.rowPage.toOpaque(), key == committedRow.rowKey else { return false }
        }
        // Of the context's lists an object is in one at most.
        if flags.contains(.updated), !flags.isDisjoint(with: [.inserted, .deleted]) { return false }
        return !flags.contains(.insertedInEvent) || flags.contains(.inEvent)
    }
}

extension NSManagedObject {
    /// Checks in debug builds what a transition has left.
    @inline(__always)
    final func transitionEnded() {
        assert(state.isConsistent, "The state of an object contradicts itself: \(state)")
    }
}
