import Foundation

// Registering and performing actions.
extension UndoManager {
    /// The stack that receives actions and groups.
    var recording: UndoStack { isUndoing ? redoStack : undoStack }

    var opensGroupsByEvent: Bool { groupsByEvent && !isUndoing && !isRedoing && undoStack.open.isEmpty }

    func mark(_ change: @escaping (UndoGroup) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        // Contexts register at the end of the event, or now.
        if opensGroupsByEvent { post(.NSUndoManagerCheckpoint) }
        if opensGroupsByEvent { awaitEndOfEvent() }
        recording.mark(awaitingGroup: opensGroupsByEvent, change)
    }

    func register(_ action: UndoAction) {
        guard isUndoRegistrationEnabled else { return }
        if opensGroupsByEvent { openEventGroup() }
        guard let group = recording.open.last else {
            preconditionFailure(
                "An undo action was registered while no undo group is open and groupsByEvent is false: call "
                    + "beginUndoGrouping() first."
            )
        }
        if !isUndoing, !isRedoing { redoStack.removeAll() }
        group.entries.append(.action(action))
    }

    /// Performs the actions of a group within a new group on the other stack, which adopts the
    /// name.
    func perform(_ group: UndoGroup) {
        let stack = recording
        openGroup(isOfEvent: false)
        let reverse = stack.open.last
        group.perform()
        guard let reverse, stack.open.last === reverse else {
            precondition(
                !stack.open.contains { $0 === reverse },
                "An undo action began an undo group that it did not end.")
            // An undone action has removed all actions.
            return
        }
        reverse.takeOver(group)
        endGroup(removingIfEmpty: true)
    }

    func requireRest(_ call: String) {
        precondition(!isUndoing, "\(call) was called by an action that is being undone.")
        precondition(!isRedoing, "\(call) was called by an action that is being redone.")
    }

    func post(_ name: NSNotification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}
