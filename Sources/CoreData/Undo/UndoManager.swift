import Foundation

/// Records how changes are taken back, and takes them back: Foundation's class of Apple's systems, which Linux lacks.
///
/// ```swift
/// func rename(_ item: Item, to name: String) {
///     let old = item.name
///     undoManager.registerUndo(withTarget: self) { $0.rename(item, to: old) }
///     item.name = name
/// }
/// ```
///
/// Actions that are registered while undoing can be redone. They stand in groups, which nest; what is undone is a group of the top
/// level. With `groupsByEvent` the first action opens such a group. On the main thread it is closed when the main queue takes its
/// next turn, also by `undo()` and `endUndoGrouping()`; on other threads, which have no events, by these two alone.
///
/// A manager may be used on any thread or queue, by one at a time: it is the caller who sees to that, as with the queue of a
/// managed object context. (On a Mac the class has been isolated to the main actor of late; it is not here.) What is no use of it,
/// such as to end a group that was not begun, stops the program with a message where a Mac raises an exception.
///
/// `prepare(withInvocationTarget:)` and `registerUndo(withTarget:selector:object:)` are missing: there are no invocations and no
/// selectors to call without the Objective-C runtime.
///
/// Source: <https://developer.apple.com/documentation/foundation/undomanager>
open class UndoManager: NSObject {
    private let undoStack = UndoStack()
    private let redoStack = UndoStack()
    private let events: any UndoEvents
    private var disabledCount = 0
    /// Whether the end of the present event has been asked for and not come yet.
    private var awaitsEndOfEvent = false
    /// Whether the event of the open group is over while groups within are open still.
    private var eventIsOver = false

    /// A manager without actions.
    public override init() {
        events = MainQueueEvents()
        super.init()
    }

    /// A manager that hears of the end of events elsewhere.
    init(events: any UndoEvents) {
        self.events = events
        super.init()
    }

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

    /// Closes the group that was opened last. None being open stops the program.
    ///
    /// A group remains when there is nothing in it, and undoing it does nothing.
    open func endUndoGrouping() { endGroup(removingIfEmpty: false) }

    /// How many groups are open.
    open var groupingLevel: Int { recording.open.count }

    /// Whether the first action of an event opens a group for the event; true to begin with.
    ///
    /// Where it is false, an action without an open group stops the program.
    ///
    /// ```swift
    /// undoManager.groupsByEvent = false                       // groups as the program opens them
    /// undoManager.beginUndoGrouping()
    /// rename(item, to: "Nut")
    /// undoManager.endUndoGrouping()
    /// ```
    open var groupsByEvent = true

    /// How many groups of the top level are kept, the oldest going first; 0, the value to begin with, keeps all.
    ///
    /// ```swift
    /// undoManager.levelsOfUndo = 50
    /// ```
    open var levelsOfUndo = 0 {
        didSet {
            precondition(levelsOfUndo >= 0, "The undo manager cannot keep \(levelsOfUndo) levels: levelsOfUndo is 0 (all) or more.")
            undoStack.removeOldest(keeping: levelsOfUndo)
            redoStack.removeOldest(keeping: levelsOfUndo)
        }
    }

    /// The modes of the run loop in which a Mac closes the groups of events. Without effect here: the main queue closes them at its
    /// next turn, whatever the modes.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    // MARK: Registration

    /// Registers what takes a change back.
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
    ///   - target: what the handler is given. The manager does not keep it; once it is gone, the action does nothing.
    ///   - handler: takes the change back. It is kept: it should not refer to the target by itself.
    open func registerUndo<TargetType: AnyObject>(withTarget target: TargetType, handler: @escaping (TargetType) -> Void) {
        register(
            UndoAction(target: ObjectIdentifier(target)) { [weak target] in
                if let target { handler(target) }
            })
    }

    /// Registers an action that has no target, and so stays until all actions are removed.
    final func registerUndo(_ perform: @escaping () -> Void) { register(UndoAction(target: nil, perform: perform)) }

    /// Makes registering have no effect until `enableUndoRegistration()` was called as many times.
    ///
    /// ```swift
    /// undoManager.disableUndoRegistration()
    /// defer { undoManager.enableUndoRegistration() }
    /// item.lastSeen = Date()                                  // cannot be undone
    /// ```
    open func disableUndoRegistration() { disabledCount += 1 }

    /// Ends what the last `disableUndoRegistration()` began. Not being disabled stops the program.
    open func enableUndoRegistration() {
        precondition(disabledCount > 0, "enableUndoRegistration() was called without a disableUndoRegistration() before it.")
        disabledCount -= 1
    }

    /// Whether registering has an effect.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    // MARK: Undoing and redoing

    /// Whether there is anything to undo, in closed or open groups.
    open var canUndo: Bool { undoStack.next != nil }

    /// Whether there is anything to redo.
    ///
    /// Posts `NSUndoManagerCheckpoint` first, because what is registered late leaves nothing to redo.
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
    /// More than one open group stops the program, and so does undoing while undoing or redoing.
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
            "undo() was called while \(groupingLevel) undo groups are open: end all but one, or call undoNestedGroup().")
        if groupingLevel == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the group that was closed last, also one within an open group; what it takes to redo it becomes one group.
    ///
    /// Nothing happens when there is none. Actions in the open group after it stop the program.
    open func undoNestedGroup() {
        requireRest("undoNestedGroup()")
        post(.NSUndoManagerCheckpoint)
        if let open = undoStack.open.last, case .action = open.entries.last {
            preconditionFailure("undoNestedGroup() was called while the open undo group has actions of its own: end it first.")
        }
        guard let group = undoStack.popClosedGroup() else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        perform(group)
        isUndoing = false
        post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes the group that was undone last; nothing happens when there is none.
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

    /// Names what `undo()` undoes, or `redo()` redoes: the open groups, or the last one where none is open.
    ///
    /// With `groupsByEvent` it is what the present event registers that is named, before or after: the unregistered changes of contexts are
    /// registered first, and the name of an event that registers nothing is forgotten. An empty name takes the name away.
    ///
    /// ```swift
    /// item.name = "Nut"
    /// context.undoManager?.setActionName("Rename")
    /// let title = context.undoManager?.undoMenuItemTitle      // "Undo Rename"
    /// ```
    open func setActionName(_ actionName: String) { mark { $0.name = actionName } }

    /// The name of what is undone next; empty without one.
    open var undoActionName: String { undoStack.next?.name ?? "" }

    /// The name of what is redone next; empty without one.
    open var redoActionName: String { redoStack.next?.name ?? "" }

    /// `Undo` and the name of what is undone next.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// `Redo` and the name of what is redone next.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// `Undo` and a name. For other languages it is overridden.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Undo" : "Undo \(actionName)" }

    /// `Redo` and a name. For other languages it is overridden.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Redo" : "Redo \(actionName)" }

    /// Sets a value beside the action's name; nil takes it away.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { mark { $0.userInfo[key] = info } }

    /// A value beside the name of what is undone next.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoStack.next?.userInfo[key] }

    /// A value beside the name of what is redone next.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.next?.userInfo[key] }

    // MARK: Discardable actions

    /// Says whether the action that was registered last may be lost, as a change of a view's scroll position may.
    open func setActionIsDiscardable(_ discardable: Bool) {
        if isUndoRegistrationEnabled { (recording.open.last ?? recording.groups.last)?.markLastAction(isDiscardable: discardable) }
    }

    /// Whether all that is undone next is discardable.
    open var undoActionIsDiscardable: Bool { undoStack.next?.isDiscardable ?? false }

    /// Whether all that is redone next is discardable.
    open var redoActionIsDiscardable: Bool { redoStack.next?.isDiscardable ?? false }

    // MARK: Within

    /// The stack that actions and groups go to.
    private var recording: UndoStack { isUndoing ? redoStack : undoStack }

    private var opensGroupsByEvent: Bool { groupsByEvent && !isUndoing && !isRedoing && undoStack.open.isEmpty }

    private func mark(_ change: @escaping (UndoGroup) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        // Contexts register at the end of the event, or now.
        if opensGroupsByEvent { post(.NSUndoManagerCheckpoint) }
        if opensGroupsByEvent { awaitEndOfEvent() }
        recording.mark(awaitingGroup: opensGroupsByEvent, change)
    }

    private func register(_ action: UndoAction) {
        guard isUndoRegistrationEnabled else { return }
        if opensGroupsByEvent { openEventGroup() }
        guard let group = recording.open.last else {
            preconditionFailure(
                "An undo action was registered while no undo group is open and groupsByEvent is false: call beginUndoGrouping() first.")
        }
        if !isUndoing, !isRedoing { redoStack.removeAll() }
        group.entries.append(.action(action))
    }

    private func openEventGroup() {
        openGroup(isOfEvent: true)
        undoStack.markAwaitedGroup()
        eventIsOver = false
        awaitEndOfEvent()
    }

    private func awaitEndOfEvent() {
        if !awaitsEndOfEvent { awaitsEndOfEvent = events.afterEvent { [weak self] in self?.endEvent() } }
    }

    /// The present event is over.
    func endEvent() {
        // Contexts register later than this where the name was given first.
        if !undoStack.awaitsGroup.isEmpty { post(.NSUndoManagerCheckpoint) }
        awaitsEndOfEvent = false
        undoStack.awaitsGroup = []
        guard let group = undoStack.open.first, group.isOfEvent else { return }
        // Groups within that outlive the event hold it open: the last of them closes it.
        if undoStack.open.count == 1 { endGroup(removingIfEmpty: true) } else { eventIsOver = true }
    }

    private func openGroup(isOfEvent: Bool) {
        recording.open.append(UndoGroup(isOfEvent: isOfEvent))
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    private func endGroup(removingIfEmpty: Bool) {
        precondition(groupingLevel > 0, "endUndoGrouping() was called while no undo group is open.")
        post(.NSUndoManagerCheckpoint)
        let stack = recording
        let userInfo = stack.open.last?.isDiscardable == true ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil
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

    /// Performs the actions of a group within a new group on the other stack, which takes over the name.
    private func perform(_ group: UndoGroup) {
        let stack = recording
        openGroup(isOfEvent: false)
        let reverse = stack.open.last
        group.perform()
        guard let reverse, stack.open.last === reverse else {
            precondition(
                !stack.open.contains { $0 === reverse },
                "An undo action began an undo group that it did not end.")
            // The actions were removed by what was undone.
            return
        }
        reverse.takeOver(group)
        endGroup(removingIfEmpty: true)
    }

    private func requireRest(_ call: String) {
        precondition(!isUndoing, "\(call) was called by an action that is being undone.")
        precondition(!isRedoing, "\(call) was called by an action that is being redone.")
    }

    private func post(_ name: NSNotification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}
