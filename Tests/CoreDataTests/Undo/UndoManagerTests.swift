import CoreData
import Testing

/// A text that an undo manager brings back.
private final class UndoableText {
    let manager: UndoManager
    private(set) var text = ""

    init(_ manager: UndoManager) { self.manager = manager }

    func set(_ new: String) {
        let old = text
        manager.registerUndo(withTarget: self) { $0.set(old) }
        text = new
    }

    /// Sets a text as a group of its own.
    func setInGroup(_ new: String, name: String = "") {
        manager.beginUndoGrouping()
        set(new)
        if !name.isEmpty { manager.setActionName(name) }
        manager.endUndoGrouping()
    }
}

/// A manager that groups by hand, and what it brings back.
private func textInHand(levels: Int = 0) -> (manager: UndoManager, text: UndoableText) {
    let manager = UndoManager()
    manager.groupsByEvent = false
    manager.levelsOfUndo = levels
    return (manager, UndoableText(manager))
}

struct UndoManagerTests {
    @Test func aNewManagerHasNothingToUndoAndGroupsByEvent() {
        let manager = UndoManager()
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(manager.groupsByEvent)
        #expect(manager.groupingLevel == 0)
        #expect(manager.levelsOfUndo == 0)
        #expect(manager.runLoopModes == [.default])
        #expect(manager.isUndoRegistrationEnabled)
        manager.undo()
        manager.redo()
        #expect(!manager.canUndo)
    }

    @Test func undoAndRedoGoBackAndForthThroughGroups() {
        let (manager, text) = textInHand()
        for new in ["a", "b", "c"] { text.setInGroup(new) }
        #expect((manager.undoCount, manager.redoCount) == (3, 0))
        manager.undo()
        #expect(text.text == "b")
        manager.undo()
        #expect(text.text == "a")
        #expect((manager.undoCount, manager.redoCount) == (1, 2))
        manager.redo()
        #expect(text.text == "b")
        manager.redo()
        #expect(text.text == "c")
        #expect(!manager.canRedo)
        manager.undo()
        #expect(text.text == "b")
    }

    @Test func theActionsOfAGroupAreUndoneLastFirst() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        for new in ["a", "b", "c"] { text.set(new) }
        manager.endUndoGrouping()
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(text.text == "")
        manager.redo()
        #expect(text.text == "c")
    }

    @Test func registeringAnActionLeavesNothingToRedo() {
        let (manager, text) = textInHand()
        text.setInGroup("a")
        manager.undo()
        #expect(manager.canRedo)
        text.setInGroup("b")
        #expect(!manager.canRedo)
    }

    @Test func managersSayWhatTheyAreDoingWhileTheyDoIt() {
        let (manager, target) = (UndoManager(), NSObject())
        manager.groupsByEvent = false
        var heard: [(Bool, Bool)] = []
        func register() {
            manager.registerUndo(withTarget: target) { _ in
                heard.append((manager.isUndoing, manager.isRedoing))
                register()
            }
        }
        manager.beginUndoGrouping()
        register()
        manager.endUndoGrouping()
        manager.undo()
        manager.redo()
        #expect(heard.map(\.0) == [true, false])
        #expect(heard.map(\.1) == [false, true])
        #expect(!manager.isUndoing)
        #expect(!manager.isRedoing)
    }

    @Test func anUndoThatRegistersNothingCannotBeRedone() {
        let (manager, target) = (UndoManager(), NSObject())
        manager.registerUndo(withTarget: target) { _ in }
        manager.undo()
        #expect(!manager.canRedo)
        #expect(!manager.canUndo)
    }

    // MARK: Groups

    @Test func aNestedGroupIsUndoneWithTheGroupAround() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        text.set("a")
        text.setInGroup("b")
        #expect(manager.groupingLevel == 1)
        text.set("c")
        manager.endUndoGrouping()
        manager.undo()
        #expect(text.text == "")
    }

    @Test func aNestedGroupCanBeUndoneAlone() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        text.set("a")
        text.setInGroup("b")
        manager.undoNestedGroup()
        #expect(text.text == "a")
        #expect(manager.groupingLevel == 1)
        #expect(manager.redoCount == 1)
        manager.endUndoGrouping()
        manager.undo()
        #expect(text.text == "")
    }

    @Test func undoClosesTheGroupOfTheTopLevel() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        text.set("a")
        #expect(manager.canUndo)
        manager.undo()
        #expect(text.text == "")
        #expect(manager.groupingLevel == 0)
    }

    @Test func anEmptyGroupRemainsAndUndoingItDoesNothing() {
        let (manager, text) = textInHand()
        text.setInGroup("a")
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        #expect(manager.undoCount == 2)
        manager.undo()
        #expect(text.text == "a")
        #expect(!manager.canRedo)
    }

    @Test func theOldestGroupsGoWhereLevelsAreLimited() {
        let (manager, text) = textInHand(levels: 2)
        for new in ["a", "b", "c", "d"] { text.setInGroup(new) }
        #expect(manager.undoCount == 2)
        manager.undo()
        manager.undo()
        manager.undo()
        #expect(text.text == "b")
    }

    @Test func fewerLevelsTakeEffectAtOnce() {
        let (manager, text) = textInHand()
        for new in ["a", "b", "c"] { text.setInGroup(new) }
        manager.levelsOfUndo = 1
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(text.text == "b")
        #expect(!manager.canUndo)
    }

    // MARK: Registration

    @Test func nothingIsRegisteredWhileRegistrationIsDisabled() {
        let (manager, text) = (UndoManager(), UndoableText(UndoManager()))
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.registerUndo(withTarget: text) { _ in }
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        manager.registerUndo(withTarget: text) { _ in }
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled)
        #expect(!manager.canUndo)
        #expect(manager.groupingLevel == 0)
    }

    @Test func targetsAreNotKept() {
        let (manager, other) = textInHand()
        weak var weakTarget: UndoableText?
        manager.beginUndoGrouping()
        other.set("a")
        do {
            let target = UndoableText(manager)
            target.set("a")
            weakTarget = target
        }
        manager.endUndoGrouping()
        #expect(weakTarget == nil)
        manager.undo()
        #expect(other.text == "")
    }

    @Test func theActionsOfOneTargetCanBeRemoved() {
        let (manager, first) = textInHand()
        let second = UndoableText(manager)
        first.setInGroup("a")
        second.setInGroup("b")
        manager.beginUndoGrouping()
        first.set("c")
        second.setInGroup("d")
        manager.endUndoGrouping()
        manager.removeAllActions(withTarget: second)
        #expect(manager.undoCount == 2)
        manager.undo()
        manager.undo()
        #expect(first.text == "")
        #expect(second.text == "d")
        manager.removeAllActions(withTarget: first)
        #expect(!manager.canRedo)
    }

    @Test func removingAllActionsEnablesRegistration() {
        let (manager, text) = textInHand()
        text.setInGroup("a")
        text.setInGroup("b")
        manager.undo()
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(manager.isUndoRegistrationEnabled)
        #expect(text.text == "a")
    }

    @Test func anActionMayRemoveAllActions() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: text) {
            $0.manager.removeAllActions()
        }
        text.set("a")
        manager.endUndoGrouping()
        manager.undo()
        #expect(text.text == "")
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(manager.groupingLevel == 0)
    }

    // MARK: Names

    @Test func namesMakeTheTitlesOfMenuItems() {
        let (manager, text) = textInHand()
        #expect(manager.undoMenuItemTitle == "Undo")
        #expect(manager.redoMenuItemTitle == "Redo")
        text.setInGroup("a", name: "Typing")
        text.setInGroup("b", name: "Paste")
        #expect(manager.undoActionName == "Paste")
        #expect(manager.undoMenuItemTitle == "Undo Paste")
        #expect(manager.redoActionName == "")
        manager.undo()
        #expect(manager.undoMenuItemTitle == "Undo Typing")
        #expect(manager.redoMenuItemTitle == "Redo Paste")
        manager.redo()
        #expect(manager.undoActionName == "Paste")
        manager.setActionName("")
        #expect(manager.undoMenuItemTitle == "Undo")
    }

    @Test func aNameGivenWithinANestedGroupNamesWhatIsUndone() {
        let text = UndoableText(UndoManager())
        text.setInGroup("a", name: "Typing")
        #expect(text.manager.undoActionName == "Typing")
    }

    @Test func titlesFollowWhatASubclassMakesOfNames() {
        final class German: UndoManager {
            override func undoMenuTitle(forUndoActionName actionName: String) -> String { "\(actionName) widerrufen" }
        }
        let text = UndoableText(German())
        text.set("a")
        text.manager.setActionName("Eingabe")
        #expect(text.manager.undoMenuItemTitle == "Eingabe widerrufen")
    }

    @Test func valuesStandBesideNames() {
        let (manager, text) = textInHand()
        let key = UndoManager.UserInfoKey(rawValue: "icon")
        text.setInGroup("a")
        manager.setActionUserInfoValue("pen", forKey: key)
        #expect(manager.undoActionUserInfoValue(forKey: key) as? String == "pen")
        manager.undo()
        #expect(manager.undoActionUserInfoValue(forKey: key) == nil)
        #expect(manager.redoActionUserInfoValue(forKey: key) as? String == "pen")
        manager.redo()
        manager.setActionUserInfoValue(nil, forKey: key)
        #expect(manager.undoActionUserInfoValue(forKey: key) == nil)
    }

    @Test func aGroupIsDiscardableWhenAllItsActionsAre() {
        let (manager, text) = textInHand()
        manager.beginUndoGrouping()
        text.set("a")
        manager.setActionIsDiscardable(true)
        #expect(manager.undoActionIsDiscardable)
        text.set("b")
        #expect(!manager.undoActionIsDiscardable)
        manager.endUndoGrouping()
        manager.setActionIsDiscardable(true)
        #expect(manager.undoActionIsDiscardable)
        #expect(!manager.redoActionIsDiscardable)
    }
}

#if os(Linux) || os(macOS)
    /// Misuse that stops a program, with a message that says why.
    struct UndoStopTests {
        private func message(_ result: ExitTest.Result?) -> String {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        }

        @Test func endingAGroupThatNobodyBeganStops() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                UndoManager().endUndoGrouping()
            }
            #expect(message(result).contains("endUndoGrouping() was called while no undo group is open"))
        }

        @Test func registeringWithoutAGroupStops() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let manager = UndoManager()
                manager.groupsByEvent = false
                manager.registerUndo(withTarget: manager) { _ in }
            }
            #expect(message(result).contains("call beginUndoGrouping() first"))
        }

        @Test func enablingWhatIsNotDisabledStops() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                UndoManager().enableUndoRegistration()
            }
            #expect(message(result).contains("without a disableUndoRegistration() before it"))
        }

        @Test func undoingWithinNestedGroupsStops() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let manager = UndoManager()
                manager.beginUndoGrouping()
                manager.undo()
            }
            #expect(message(result).contains("undo() was called while 2 undo groups are open"))
        }

        @Test func redoingWhileUndoingStops() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let manager = UndoManager()
                manager.registerUndo(withTarget: manager) { $0.redo() }
                manager.undo()
            }
            #expect(message(result).contains("redo() was called by an action that is being undone"))
        }
    }
#endif
