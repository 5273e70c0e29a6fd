import CoreData
import Synchronization
import Testing

/// Groups that events open, and the notifications of groups.
struct UndoEventTests {
    /// Waits until the main queue has done what it has been given so far.
    @MainActor private func nextEvent() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @MainActor @Test func theActionsOfAnEventOfTheMainThreadAreOneGroup() async {
        let (manager, target) = (UndoManager(), NSObject())
        var undone: [Int] = []
        for number in 1...2 { manager.registerUndo(withTarget: target) { _ in undone.append(number) } }
        #expect(manager.groupingLevel == 1)
        await nextEvent()
        #expect(manager.groupingLevel == 0)
        manager.registerUndo(withTarget: target) { _ in undone.append(3) }
        await nextEvent()
        #expect(manager.undoCount == 2)
        manager.undo()
        #expect(undone == [3])
        manager.undo()
        #expect(undone == [3, 2, 1])
    }

    @MainActor @Test func aGroupBegunByHandLiesWithinTheGroupOfTheEvent() async {
        let (manager, target) = (UndoManager(), NSObject())
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2)
        manager.registerUndo(withTarget: target) { _ in }
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 1)
        await nextEvent()
        #expect(manager.groupingLevel == 0)
        #expect(manager.undoCount == 1)
    }

    @MainActor @Test func aGroupThatOutlivesItsEventEndsTheEventsGroupWithItself() async {
        let (manager, target) = (UndoManager(), NSObject())
        manager.beginUndoGrouping()
        await nextEvent()
        #expect(manager.groupingLevel == 2)
        manager.registerUndo(withTarget: target) { _ in }
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0)
        #expect(manager.undoCount == 1)
    }

    @MainActor @Test func undoingWithinAnEventClosesTheEventsGroup() async {
        let (manager, target) = (UndoManager(), NSObject())
        manager.registerUndo(withTarget: target) { _ in }
        manager.undo()
        manager.registerUndo(withTarget: target) { _ in }
        #expect(manager.groupingLevel == 1)
        await nextEvent()
        #expect(manager.groupingLevel == 0)
        #expect(manager.undoCount == 1)
    }

    @MainActor @Test func anEventThatRemovedItsActionsLeavesNoGroup() async {
        let (manager, target) = (UndoManager(), NSObject())
        manager.registerUndo(withTarget: target) { _ in }
        manager.removeAllActions(withTarget: target)
        await nextEvent()
        #expect(!manager.canUndo)
        manager.registerUndo(withTarget: target) { _ in }
        manager.removeAllActions()
        await nextEvent()
        #expect(manager.groupingLevel == 0)
    }

    @Test func offTheMainThreadAGroupStaysOpenUntilUndoOrItsEnd() async {
        await Task.detached {
            let (manager, target) = (UndoManager(), NSObject())
            manager.registerUndo(withTarget: target) { _ in }
            manager.registerUndo(withTarget: target) { _ in }
            #expect(manager.groupingLevel == 1)
            manager.endUndoGrouping()
            manager.registerUndo(withTarget: target) { _ in }
            #expect(manager.undoCount == 2)
            manager.undo()
            #expect((manager.groupingLevel, manager.undoCount) == (0, 1))
        }.value
    }

    @Test func aManagerGoesThoughAnEventWouldEndItsGroup() async {
        weak var weakManager: UndoManager?
        do {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { _ in }
            weakManager = manager
        }
        #expect(weakManager == nil)
    }

    // MARK: Notifications

    /// The notifications of a manager while something happens, by their short names.
    private func notifications(of manager: UndoManager, _ body: () -> Void) -> [String] {
        let names: [Notification.Name] = [
            .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
            .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
            .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
        ]
        let heard = Mutex<[String]>([])
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { note in
                let isDiscardable = note.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true
                let text = note.name.rawValue.replacingOccurrences(of: "NSUndoManager", with: "")
                    .replacingOccurrences(of: "Notification", with: "")
                heard.withLock { $0.append(isDiscardable ? text + " discardable" : text) }
            }
        }
        body()
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        return heard.withLock { $0 }
    }

    private func managerByHand() -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        return manager
    }

    @Test func aGroupOfTheTopLevelOpensWithoutACheckpoint() {
        let manager = managerByHand()
        #expect(notifications(of: manager) { manager.beginUndoGrouping() } == ["DidOpenUndoGroup"])
        #expect(notifications(of: manager) { manager.beginUndoGrouping() } == ["Checkpoint", "DidOpenUndoGroup"])
        #expect(
            notifications(of: manager) { manager.endUndoGrouping() } == [
                "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup",
            ])
    }

    @Test func theEndOfADiscardableGroupSaysSo() {
        let manager = managerByHand()
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: manager) { _ in }
        manager.setActionIsDiscardable(true)
        #expect(
            notifications(of: manager) { manager.endUndoGrouping() }
                == ["Checkpoint", "WillCloseUndoGroup discardable", "DidCloseUndoGroup discardable"])
    }

    @Test func undoAndRedoAreAnnouncedBeforeAndAfter() {
        let manager = managerByHand()
        func register() { manager.registerUndo(withTarget: manager) { _ in register() } }
        manager.beginUndoGrouping()
        register()
        manager.endUndoGrouping()
        let undo = notifications(of: manager) { manager.undo() }
        #expect(undo.first == "Checkpoint")
        #expect(undo.last == "DidUndoChange")
        #expect(
            undo.filter { $0 != "Checkpoint" }
                == ["WillUndoChange", "DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup", "DidUndoChange"])
        let redo = notifications(of: manager) { manager.redo() }
        #expect(redo.first == "Checkpoint")
        #expect(redo.last == "DidRedoChange")
        #expect(redo.contains("WillRedoChange"))
    }

    @Test func askingWhetherThereIsSomethingToRedoIsACheckpoint() {
        let manager = managerByHand()
        #expect(notifications(of: manager) { _ = manager.canRedo } == ["Checkpoint"])
        #expect(notifications(of: manager) { _ = manager.canUndo }.isEmpty)
        #expect(notifications(of: manager) { manager.undo() }.allSatisfy { $0 == "Checkpoint" })
    }

    /// An undo action that is registered at the checkpoint comes before the manager looks for
    /// something to undo.
    @Test func whatIsRegisteredAtTheCheckpointIsUndone() {
        let manager = UndoManager()
        let isPending = Mutex(true)
        let undone = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { note in
            guard isPending.withLock({ exchange(&$0, with: false) }), let manager = note.object as? UndoManager else {
                return
            }
            manager.registerUndo(withTarget: manager) { _ in undone.withLock { $0 += 1 } }
        }
        manager.undo()
        NotificationCenter.default.removeObserver(observer)
        #expect(undone.withLock { $0 } == 1)
        #expect(manager.groupingLevel == 0)
    }

    private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
        defer { value = new }
        return value
    }

    @Test func manyActionsAreUndoneInOrder() {
        let (manager, target) = (UndoManager(), NSObject())
        var undone: [Int] = []
        for number in 0..<10_000 { manager.registerUndo(withTarget: target) { _ in undone.append(number) } }
        manager.undo()
        #expect(undone == Array((0..<10_000).reversed()))
    }
}
