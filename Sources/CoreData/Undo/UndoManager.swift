import Foundation

/// Records how to undo changes, and undoes them: Foundation's class of Apple's systems, which Linux
/// lacks.
///
/// ```swift
/// func rename(_ item: Item, to name: String) {
///     let old = item.name
///     undoManager.registerUndo(withTarget: self) { $0.rename(item, to: old) }
///     item.name = name
/// }
/// ```
///
/// Actions that are registered while undoing can be redone. Actions belong to groups, which nest;
/// undo works on a group of the top level. With `groupsByEvent` the first action opens such a
/// group. On the main thread it is closed when the main queue takes its next turn, or by `undo()`
/// or `endUndoGrouping()`; on other threads, which have no events, by these two alone.
///
/// A manager may be used on any thread or queue, by one at a time: the caller ensures that, as with
/// the queue of a managed object context. (On a Mac the class is isolated to the main actor in
/// recent versions; here it is not.) Incorrect use, such as ending a group that was not begun,
/// stops the program with a message where a Mac raises an exception.
///
/// `prepare(withInvocationTarget:)` and `registerUndo(withTarget:selector:object:)` are missing:
/// there are no invocations and no selectors to call without the Objective-C runtime.
///
/// Source: <https://developer.apple.com/documentation/foundation/undomanager>
open class UndoManager: NSObject {
    let undoStack = UndoStack()
    let redoStack = UndoStack()
    private var disabledCount = 0
    /// Whether the manager is waiting for the end of the present event.
    private var awaitsEndOfEvent = false
    /// Whether the event of the open group is over while groups inside it are still open.
    private var eventIsOver = false

    /// A manager without actions.
    public override init() { super.init() }

    // MARK: Groups

    /// Opens a group, within the open one if there is one.
    ///
    /// With `groupsByEvent` the event's group is opened first.
    ///
    /// ```swift
    /// undoManager.beginUndoGrouping()
    /// rename(item, to: "Nut")
    /// move(item, to: shelf)
    /// undoManager.setActionName("Move")
    /// undoManager.endUndoGrouping()                           // undone as one
    /// ```
    open func beginUndoGrouping() {
        if opensGroupsByEvent { openEventGroup() }
        if groupingLevel > 0 { post(.NSUndoManagerCheckpoint) }
        openGroup(isOfEvent: false)
    }

    /// Closes the group that was opened last. Stops the program if no group is open.
    ///
    /// An empty group remains, and undoing it does nothing.
    open func endUndoGrouping() { endGroup(removingIfEmpty: false) }

    /// How many groups are open.
    open var groupingLevel: Int { recording.open.count }

    /// Whether the first action of an event opens a group for the event. The default is true.
    ///
    /// If it is false, an action without an open group stops the program.
    ///
    /// ```swift
    /// undoManager.groupsByEvent = false                       // groups as the program opens them
    /// undoManager.beginUndoGrouping()
    /// rename(item, to: "Nut")
    /// undoManager.endUndoGrouping()
    /// ```
    open var groupsByEvent = true

    /// How many groups of the top level are kept; the oldest are removed first. The default, 0,
    /// keeps all.
    ///
    /// ```swift
    /// undoManager.levelsOfUndo = 50
    /// ```
    open var levelsOfUndo = 0 {
        didSet {
            precondition(
                levelsOfUndo >= 0,
                "The undo manager cannot keep \(levelsOfUndo) levels: levelsOfUndo is 0 (all) or more.")
            undoStack.removeOldest(keeping: levelsOfUndo)
            redoStack.removeOldest(keeping: levelsOfUndo)
        }
    }

    /// The modes of the run loop in which a Mac closes the groups of events.
    ///
    /// Without effect here: the main queue closes them at its next turn, whatever the modes.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    // MARK: Registration

    /// Registers an action that undoes a change.
    ///
    /// Actions that could be redone are forgotten, unless this happens while undoing or redoing.
    ///
    /// Cost: O(1).
    ///
    /// ```swift
    /// let former = document.title
    /// undoManager.registerUndo(withTarget: document) { $0.title = former }
    /// document.title = "Stock"
    /// ```
    ///
    /// - Parameters:
    ///   - target: The argument of the handler. The manager does not retain it; once it is gone,
    ///     the action does nothing.
    ///   - handler: Undoes the change. The manager retains it: it should not capture the target.
    open func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        register(
            UndoAction(target: ObjectIdentifier(target)) { [weak target] in
                if let target { handler(target) }
            })
    }

    /// Registers an action that has no target, and therefore stays until all actions are removed.
    final func registerUndo(_ perform: @escaping () -> Void) { register(UndoAction(target: nil, perform: perform)) }

    /// Turns registration off until `enableUndoRegistration()` was called as many times.
    ///
    /// ```swift
    /// undoManager.disableUndoRegistration()
    /// defer { undoManager.enableUndoRegistration() }
    /// item.lastSeen = Date()                                  // cannot be undone
    /// ```
    open func disableUndoRegistration() { disabledCount += 1 }

    /// Ends the effect of the last `disableUndoRegistration()`. Stops the program if registration
    /// is enabled.
    open func enableUndoRegistration() {
        precondition(
            disabledCount > 0, "enableUndoRegistration() was called without a disableUndoRegistration() before it.")
        disabledCount -= 1
    }

    /// Whether registering has an effect.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    // MARK: Undoing and redoing

    /// Whether there is anything to undo, in closed or open groups.
    open var canUndo: Bool { undoStack.next != nil }

    /// Whether there is anything to redo.
    ///
    /// Posts `NSUndoManagerCheckpoint` first, because a late registration leaves nothing to redo.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return redoStack.next != nil
    }

    /// Whether actions are being undone.
    open private(set) var isUndoing = false

    /// Whether actions are being redone.
    open private(set) var isRedoing = false

    /// How many times something can be undone.
    open var undoCount: Int { undoStack.count }

    /// How many times something can be redone.
    open var redoCount: Int { redoStack.count }

    /// Closes the open group of the top level, and undoes the last group.
    ///
    /// Stops the program if more than one group is open, or if called while undoing or redoing.
    ///
    /// Cost: that of the actions of the group.
    ///
    /// ```swift
    /// if undoManager.canUndo { undoManager.undo() }
    /// ```
    open func undo() {
        requireRest("undo()")
        post(.NSUndoManagerCheckpoint)
        precondition(
            groupingLevel <= 1,
            "undo() was called while \(groupingLevel) undo groups are open: end all but one, or call undoNestedGroup()."
        )
        if groupingLevel == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the group that was closed last, even one within an open group. The actions that redo
    /// it become one group.
    ///
    /// Does nothing if there is none. Stops the program if the open group has actions after that
    /// group.
    open func undoNestedGroup() {
        requireRest("undoNestedGroup()")
        post(.NSUndoManagerCheckpoint)
        if let open = undoStack.open.last, case .action = open.entries.last {
            preconditionFailure(
                "undoNestedGroup() was called while the open undo group has actions of its own: end it first.")
        }
        guard let group = undoStack.popClosedGroup() else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        perform(group)
        isUndoing = false
        post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes the group that was undone last; does nothing if there is none.
    ///
    /// Redoing while undoing or redoing stops the program.
    ///
    /// ```swift
    /// if undoManager.canRedo { undoManager.redo() }
    /// ```
    open func redo() {
        requireRest("redo()")
        post(.NSUndoManagerCheckpoint)
        guard let group = redoStack.popClosedGroup() else { return }
        if let open = undoStack.open.last, open.isOfEvent { endGroup(removingIfEmpty: true) }
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        perform(group)
        isRedoing = false
        post(.NSUndoManagerDidRedoChange)
    }

    // MARK: Removing actions

    /// Forgets all actions and open groups, and enables registration.
    open func removeAllActions() {
        undoStack.removeAll()
        redoStack.removeAll()
        disabledCount = 0
    }

    /// Forgets the actions that were registered with a target. Cost: O(number of actions).
    ///
    /// ```swift
    /// undoManager.removeAllActions(withTarget: document)      // when it is closed
    /// ```
    open func removeAllActions(withTarget target: Any) {
        let identity = ObjectIdentifier(target as AnyObject)
        undoStack.removeActions(of: identity)
        redoStack.removeActions(of: identity)
    }

    // MARK: Names

    /// Names the group that `undo()` undoes, or `redo()` redoes: the open groups, or the last one
    /// if none is open.
    ///
    /// With `groupsByEvent` the name applies to the actions that the present event registers,
    /// before or after the call: the unregistered changes of contexts are registered first, and the
    /// name of an event that registers nothing is forgotten. An empty name removes the name.
    ///
    /// ```swift
    /// item.name = "Nut"
    /// context.undoManager?.setActionName("Rename")
    /// let title = context.undoManager?.undoMenuItemTitle      // "Undo Rename"
    /// ```
    open func setActionName(_ actionName: String) { mark { $0.name = actionName } }

    /// The name of the group that is undone next; empty without one.
    open var undoActionName: String { undoStack.next?.name ?? "" }

    /// The name of the group that is redone next; empty without one.
    open var redoActionName: String { redoStack.next?.name ?? "" }

    /// `Undo` and the name of the group that is undone next.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// `Redo` and the name of the group that is redone next.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// `Undo` and a name. Override it for other languages.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// `Redo` and a name. Override it for other languages.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Sets a value that is stored with the action's name; nil removes it.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { mark { $0.userInfo[key] = info } }

    /// A value stored with the name of the group that is undone next.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoStack.next?.userInfo[key] }

    /// A value stored with the name of the group that is redone next.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.next?.userInfo[key] }

    // MARK: Discardable actions

    /// Sets whether the action that was registered last may be lost, as a change of a view's scroll
    /// position may.
    open func setActionIsDiscardable(_ discardable: Bool) {
        if isUndoRegistrationEnabled {
            (recording.open.last ?? recording.groups.last)?.markLastAction(isDiscardable: discardable)
        }
    }

    /// Whether all actions of the group that is undone next are discardable.
    open var undoActionIsDiscardable: Bool { undoStack.next?.isDiscardable ?? false }

    /// Whether all actions of the group that is redone next are discardable.
    open var redoActionIsDiscardable: Bool { redoStack.next?.isDiscardable ?? false }

    // MARK: Opening and closing groups

    func openEventGroup() {
        openGroup(isOfEvent: true)
        undoStack.markAwaitedGroup()
        eventIsOver = false
        awaitEndOfEvent()
    }

    func awaitEndOfEvent() {
        if !awaitsEndOfEvent { awaitsEndOfEvent = MainQueueEvents.afterEvent { [weak self] in self?.endEvent() } }
    }

    /// Handles the end of the present event.
    func endEvent() {
        // Contexts register later than this if the name was set first.
        if !undoStack.awaitsGroup.isEmpty { post(.NSUndoManagerCheckpoint) }
        awaitsEndOfEvent = false
        undoStack.awaitsGroup = []
        guard let group = undoStack.open.first, group.isOfEvent else { return }
        // Groups inside it that outlive the event keep it open: the last of them closes it.
        if undoStack.open.count == 1 { endGroup(removingIfEmpty: true) } else { eventIsOver = true }
    }

    func openGroup(isOfEvent: Bool) {
        recording.open.append(UndoGroup(isOfEvent: isOfEvent))
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    func endGroup(removingIfEmpty: Bool) {
        precondition(groupingLevel > 0, "endUndoGrouping() was called while no undo group is open.")
        post(.NSUndoManagerCheckpoint)
        let stack = recording
        let userInfo =
            stack.open.last?.isDiscardable == true ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil
        post(.NSUndoManagerWillCloseUndoGroup, userInfo)
        // An observer may have removed all actions, and the groups with them.
        guard !stack.open.isEmpty else { return }
        stack.closeGroup(removingIfEmpty: removingIfEmpty)
        stack.removeOldest(keeping: levelsOfUndo)
        post(.NSUndoManagerDidCloseUndoGroup, userInfo)
        if eventIsOver, stack.open.count == 1, stack.open[0].isOfEvent {
            eventIsOver = false
            endGroup(removingIfEmpty: true)
        }
    }
}
