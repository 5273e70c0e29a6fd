import CoreData
import Foundation
import TestSupport
import Testing

// UndoManager as in Foundation on Apple platforms, and undo in NSManagedObjectContext.
// Every context test sets groupsByEvent = false and makes its groups itself, since a synchronous
// test never turns the run loop and so would put everything into one event group.

@MainActor
private final class UndoCounter {
    var value = 0
    let manager: UndoManager
    var log: [String] = []

    init(_ manager: UndoManager) { self.manager = manager }

    func set(_ new: Int) {
        let old = value
        manager.registerUndo(withTarget: self) { target in target.set(old) }
        value = new
        if manager.isUndoing {
            log.append("undoing")
        } else if manager.isRedoing {
            log.append("redoing")
        } else {
            log.append("doing")
        }
    }

    func step(_ new: Int, name: String? = nil) {
        manager.beginUndoGrouping()
        set(new)
        if let name { manager.setActionName(name) }
        manager.endUndoGrouping()
    }
}

/// Records the life-cycle calls of an instance.
class MacUndoItem: NSManagedObject {
    var insertAwakes = 0
    var snapshotEvents: [NSSnapshotEventType] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        insertAwakes += 1
        setPrimitiveValue("fresh", forKey: "note")
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        snapshotEvents.append(flags)
    }
}

private enum UndoKit: MacModelKit {
    /// Folder <->> Item (cascade), Folder <->> Link (nullify), Folder ordered "pages".
    static func model() -> NSManagedObjectModel {
        let folder = NSEntityDescription()
        folder.name = "Folder"
        folder.managedObjectClassName = "NSManagedObject"
        let item = NSEntityDescription()
        item.name = "Item"
        item.managedObjectClassName = NSStringFromClass(MacUndoItem.self)
        let link = NSEntityDescription()
        link.name = "Link"
        link.managedObjectClassName = "NSManagedObject"

        let page = NSEntityDescription()
        page.name = "Page"
        page.managedObjectClassName = "NSManagedObject"
        folder.properties = [attribute("name", .stringAttributeType)]
        item.properties = [
            attribute("name", .stringAttributeType), attribute("count", .integer32AttributeType),
            attribute("note", .stringAttributeType), attribute("scratch", .stringAttributeType, transient: true),
        ]
        link.properties = [attribute("name", .stringAttributeType)]
        page.properties = [attribute("name", .stringAttributeType)]
        relate(folder, "items", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "folder")
        relate(folder, "links", toMany: true, link, inverse: "folder")
        relate(folder, "pages", toMany: true, ordered: true, page, inverse: "folder")
        let model = NSManagedObjectModel()
        model.entities = [folder, item, link, page]
        return model
    }

    static func container() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Undo", managedObjectModel: model())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }
}

/// Undo managers and undo in contexts, as programs for a Mac use them.
@MainActor
struct MacUndoTests {
    // MARK: UndoManager alone

    private func manager() -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        return manager
    }

    @Test func defaultsOfANewManager() {
        let manager = UndoManager()
        #expect(manager.groupsByEvent)
        #expect(manager.levelsOfUndo == 0)
        #expect(manager.groupingLevel == 0)
        #expect(manager.isUndoRegistrationEnabled)
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(!manager.isUndoing)
        #expect(!manager.isRedoing)
        #expect(manager.runLoopModes == [.default])
        #expect(manager.undoActionName == "")
        #expect(manager.redoActionName == "")
    }

    @Test func undoAndRedoWithAHandler() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(5)
        #expect(manager.canUndo)
        #expect(!manager.canRedo)
        manager.undo()
        #expect(counter.value == 0)
        #expect(!manager.canUndo)
        #expect(manager.canRedo)
        manager.redo()
        #expect(counter.value == 5)
        #expect(manager.canUndo)
        #expect(!manager.canRedo)
    }

    @Test func groupsByEventOpensAGroupAndUndoClosesIt() {
        let manager = UndoManager()
        let counter = UndoCounter(manager)
        #expect(manager.groupingLevel == 0)
        counter.set(1)
        #expect(manager.groupingLevel == 1)
        counter.set(2)
        #expect(manager.groupingLevel == 1)
        manager.undo()
        #expect(counter.value == 0)
        #expect(manager.groupingLevel == 0)
        #expect(!manager.canUndo)
        manager.redo()
        #expect(counter.value == 2)
    }

    @Test func actionsOfOneGroupAreUndoneInReverseOrder() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        manager.beginUndoGrouping()
        let target = NSObject()
        for n in 1...3 { manager.registerUndo(withTarget: target) { _ in counter.log.append("\(n)") } }
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.log == ["3", "2", "1"])
    }

    @Test func nestedGroupsAreUndoneTogether() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 1)
        counter.set(1)
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2)
        counter.set(2)
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 1)
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0)
        manager.undo()
        #expect(counter.value == 0)
        #expect(!manager.canUndo)
    }

    @Test func undoNestedGroupUndoesTheLastClosedGroup() {
        // Not documented: undoNestedGroup() while an outer group is still open is left out.
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(1)
        counter.step(2)
        manager.undoNestedGroup()
        #expect(counter.value == 1)
        #expect(manager.canUndo)
        #expect(manager.canRedo)
    }

    @Test func separateGroupsAreUndoneOneByOne() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(1)
        counter.step(2)
        counter.step(3)
        manager.undo()
        #expect(counter.value == 2)
        manager.undo()
        #expect(counter.value == 1)
        manager.redo()
        #expect(counter.value == 2)
        manager.undo()
        manager.undo()
        #expect(counter.value == 0)
        #expect(!manager.canUndo)
    }

    @Test func aNewActionClearsTheRedoStack() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(1)
        manager.undo()
        #expect(manager.canRedo)
        counter.step(9)
        #expect(!manager.canRedo)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test func levelsOfUndoLimitsTheStack() {
        let manager = self.manager()
        manager.levelsOfUndo = 2
        let counter = UndoCounter(manager)
        for n in 1...4 { counter.step(n) }
        manager.undo()
        manager.undo()
        #expect(counter.value == 2)
        #expect(!manager.canUndo)
    }

    @Test func loweringLevelsOfUndoDropsTheOldestGroups() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        for n in 1...4 { counter.step(n) }
        manager.levelsOfUndo = 1
        manager.undo()
        #expect(counter.value == 3)
        #expect(!manager.canUndo)
    }

    @Test func actionNamesAndMenuTitles() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        #expect(manager.undoMenuItemTitle == "Undo")
        #expect(manager.redoMenuItemTitle == "Redo")
        counter.step(1, name: "Typing")
        #expect(manager.undoActionName == "Typing")
        #expect(manager.undoMenuItemTitle == "Undo Typing")
        #expect(manager.redoActionName == "")
        manager.undo()
        #expect(manager.undoActionName == "")
        #expect(manager.redoActionName == "Typing")
        #expect(manager.redoMenuItemTitle == "Redo Typing")
        manager.redo()
        #expect(manager.undoActionName == "Typing")
    }

    @Test func menuTitlesForGivenNames() {
        let manager = UndoManager()
        #expect(manager.undoMenuTitle(forUndoActionName: "Paste") == "Undo Paste")
        #expect(manager.redoMenuTitle(forUndoActionName: "Paste") == "Redo Paste")
        #expect(manager.undoMenuTitle(forUndoActionName: "") == "Undo")
        #expect(manager.redoMenuTitle(forUndoActionName: "") == "Redo")
    }

    @Test func registrationCanBeDisabledInNestedPairs() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.set(1)
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.set(2)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled)
        #expect(!manager.canUndo)
        #expect(counter.value == 2)
    }

    @Test func removeAllActionsClearsBothStacksAndReenables() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(1)
        counter.step(2)
        manager.undo()
        #expect(manager.canUndo)
        #expect(manager.canRedo)
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(manager.isUndoRegistrationEnabled)
    }

    @Test func removeAllActionsWithTargetKeepsTheOthers() {
        let manager = self.manager()
        let first = UndoCounter(manager)
        let second = UndoCounter(manager)
        first.step(1)
        second.step(2)
        manager.removeAllActions(withTarget: second)
        manager.undo()
        #expect(first.value == 0)
        #expect(second.value == 2)
    }

    @Test func isUndoingAndIsRedoingInsideTheHandler() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        counter.step(1)
        manager.undo()
        manager.redo()
        #expect(counter.log == ["doing", "undoing", "redoing"])
        #expect(!manager.isUndoing)
        #expect(!manager.isRedoing)
    }

    @Test func undoAndRedoPostTheirNotifications() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        let recorder = NotificationLog(
            [
                .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
                .NSUndoManagerDidRedoChange,
            ],
            from: manager)
        counter.step(1)
        #expect(recorder.all.isEmpty)
        manager.undo()
        #expect(recorder.all.map(\.name) == [.NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange])
        manager.redo()
        #expect(recorder.all.map(\.name).suffix(2) == [.NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange])
    }

    @Test func groupsPostOpenCloseAndCheckpointNotifications() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        let recorder = NotificationLog(
            [
                .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
                .NSUndoManagerCheckpoint,
            ],
            from: manager)
        counter.step(1)
        #expect(recorder.count(.NSUndoManagerDidOpenUndoGroup) == 1)
        #expect(recorder.count(.NSUndoManagerWillCloseUndoGroup) == 1)
        #expect(recorder.count(.NSUndoManagerDidCloseUndoGroup) == 1)
        let before = recorder.count(.NSUndoManagerCheckpoint)
        #expect(before >= 1)
        _ = manager.canRedo  // documented to post a checkpoint
        #expect(recorder.count(.NSUndoManagerCheckpoint) > before)
    }

    @Test func discardableActions() {
        let manager = self.manager()
        let counter = UndoCounter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        manager.setActionIsDiscardable(true)
        manager.endUndoGrouping()
        #expect(manager.undoActionIsDiscardable)
        counter.step(2)
        #expect(!manager.undoActionIsDiscardable)
    }

    // MARK: Contexts

    private struct Stack {
        let container: NSPersistentContainer
        let context: NSManagedObjectContext
        let undo: UndoManager
    }

    /// A context with saved data made by `prepare`, and after that an undo manager.
    private func stack(_ prepare: (NSManagedObjectContext) throws -> Void = { _ in }) throws -> Stack {
        let container = try UndoKit.container()
        let context = container.viewContext
        try prepare(context)
        if context.hasChanges { try context.save() }
        let undo = UndoManager()
        undo.groupsByEvent = false
        context.undoManager = undo
        return Stack(container: container, context: context, undo: undo)
    }

    private func step(_ stack: Stack, _ body: () throws -> Void) rethrows {
        stack.undo.beginUndoGrouping()
        defer { stack.undo.endUndoGrouping() }
        try body()
        stack.context.processPendingChanges()
    }

    @discardableResult
    private func insert(
        _ entity: String, _ name: String, _ context: NSManagedObjectContext, folder: NSManagedObject? = nil
    )
        -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        if let folder { object.setValue(folder, forKey: "folder") }
        return object
    }

    private func fetch(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    @Test func contextsHaveNoUndoManagerByDefault() throws {
        let container = try UndoKit.container()
        #expect(container.viewContext.undoManager == nil)
        #expect(container.newBackgroundContext().undoManager == nil)
        let item = insert("Item", "a", container.viewContext)
        container.viewContext.undo()  // both do nothing without an undo manager
        container.viewContext.redo()
        #expect(item.isInserted)
    }

    @Test func undoOfAnInsertion() throws {
        let s = try stack()
        step(s) { insert("Item", "a", s.context) }
        #expect(s.context.insertedObjects.count == 1)
        s.context.undo()
        #expect(s.context.insertedObjects.isEmpty)
        #expect(try fetch("Item", s.context).isEmpty)
        s.context.redo()
        let back = try fetch("Item", s.context)
        #expect(back.count == 1)
        #expect(back.first?.value(forKey: "name") as? String == "a")
        #expect(back.first?.isInserted == true)
    }

    @Test func undoWithAnAutomaticEventGroup() throws {
        let container = try UndoKit.container()
        let context = container.viewContext
        context.undoManager = UndoManager()
        insert("Item", "a", context)
        context.processPendingChanges()
        #expect(context.undoManager?.canUndo == true)
        context.undo()
        #expect(try fetch("Item", context).isEmpty)
        context.redo()
        #expect(try fetch("Item", context).count == 1)
    }

    @Test func redoOfAnInsertionDoesNotAwakeFromInsertAgain() throws {
        let s = try stack()
        var item: MacUndoItem?
        step(s) { item = insert("Item", "a", s.context) as? MacUndoItem }
        #expect(item?.insertAwakes == 1)
        #expect(item?.value(forKey: "note") as? String == "fresh")
        s.context.undo()
        s.context.redo()
        let back = try #require(try fetch("Item", s.context).first as? MacUndoItem)
        #expect(back === item)
        #expect(back.insertAwakes == 1)
        #expect(!back.snapshotEvents.isEmpty)
    }

    @Test func undoOfAnUpdate() throws {
        let s = try stack { insert("Item", "old", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) {
            item.setValue("new", forKey: "name")
            item.setValue(7, forKey: "count")
        }
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "old")
        #expect(item.value(forKey: "count") == nil)
        #expect(item.changedValues().isEmpty)
        s.context.redo()
        #expect(item.value(forKey: "name") as? String == "new")
        #expect(item.value(forKey: "count") as? Int == 7)
    }

    @Test func processPendingChangesAndGroupsMakeTheSteps() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) { item.setValue("b", forKey: "name") }
        step(s) { item.setValue("c", forKey: "name") }
        step(s) { item.setValue("d", forKey: "name") }
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "c")
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "b")
        s.context.redo()
        #expect(item.value(forKey: "name") as? String == "c")
        s.context.undo()
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(!s.undo.canUndo)
    }

    @Test func manyChangesOfOneEventAreOneStep() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) {
            for n in 1...10 { item.setValue("v\(n)", forKey: "name") }
        }
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(!s.undo.canUndo)
    }

    @Test func undoOfADeletion() throws {
        let s = try stack { context in
            let folder = insert("Folder", "f", context)
            insert("Link", "a", context, folder: folder)
        }
        let link = try #require(try fetch("Link", s.context).first)
        let folder = try #require(link.value(forKey: "folder") as? NSManagedObject)
        step(s) { s.context.delete(link) }
        #expect(link.isDeleted)
        #expect((folder.value(forKey: "links") as? NSSet)?.count == 0)
        s.context.undo()
        #expect(!link.isDeleted)
        #expect(link.value(forKey: "name") as? String == "a")
        #expect(link.value(forKey: "folder") as? NSManagedObject === folder)
        #expect((folder.value(forKey: "links") as? NSSet)?.contains(link) == true)
        #expect(try fetch("Link", s.context).count == 1)
        s.context.redo()
        #expect(try fetch("Link", s.context).isEmpty)
    }

    @Test func undoOfACascade() throws {
        let s = try stack { context in
            let folder = insert("Folder", "f", context)
            for name in ["a", "b", "c"] { insert("Item", name, context, folder: folder) }
        }
        let folder = try #require(try fetch("Folder", s.context).first)
        step(s) { s.context.delete(folder) }
        #expect(s.context.deletedObjects.count == 4)
        s.context.undo()
        #expect(s.context.deletedObjects.isEmpty)
        #expect(try fetch("Item", s.context).count == 3)
        #expect((folder.value(forKey: "items") as? NSSet)?.count == 3)
        s.context.redo()
        #expect(s.context.deletedObjects.count == 4)
        #expect(try fetch("Item", s.context).isEmpty)
    }

    @Test func undoOfANullifyingDeletion() throws {
        let s = try stack { context in
            let folder = insert("Folder", "f", context)
            insert("Link", "a", context, folder: folder)
        }
        let folder = try #require(try fetch("Folder", s.context).first)
        let link = try #require(try fetch("Link", s.context).first)
        step(s) { s.context.delete(folder) }
        #expect(link.value(forKey: "folder") == nil)
        s.context.undo()
        #expect(link.value(forKey: "folder") as? NSManagedObject === folder)
    }

    @Test func undoOfARelationshipChangeRestoresBothSides() throws {
        let s = try stack { context in
            let one = insert("Folder", "1", context)
            insert("Folder", "2", context)
            insert("Link", "a", context, folder: one)
        }
        let folders = try fetch("Folder", s.context)
        let link = try #require(try fetch("Link", s.context).first)
        step(s) { folders[1].mutableSetValue(forKey: "links").add(link) }
        #expect(link.value(forKey: "folder") as? NSManagedObject === folders[1])
        #expect((folders[0].value(forKey: "links") as? NSSet)?.count == 0)
        s.context.undo()
        #expect(link.value(forKey: "folder") as? NSManagedObject === folders[0])
        #expect((folders[0].value(forKey: "links") as? NSSet)?.contains(link) == true)
        #expect((folders[1].value(forKey: "links") as? NSSet)?.count == 0)
    }

    @Test func undoOfAnOrderedMove() throws {
        let s = try stack { context in
            let folder = insert("Folder", "f", context)
            let pages = folder.mutableOrderedSetValue(forKey: "pages")
            for name in ["1", "2", "3"] { pages.add(insert("Page", name, context)) }
        }
        let folder = try #require(try fetch("Folder", s.context).first)
        func names() -> [String] {
            (folder.value(forKey: "pages") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            } ?? []
        }
        #expect(names() == ["1", "2", "3"])
        step(s) { folder.mutableOrderedSetValue(forKey: "pages").moveObjects(at: IndexSet(integer: 2), to: 0) }
        #expect(names() == ["3", "1", "2"])
        s.context.undo()
        #expect(names() == ["1", "2", "3"])
        s.context.redo()
        #expect(names() == ["3", "1", "2"])
    }

    @Test func undoOfADeletedUnsavedObjectBringsItBackAsInserted() throws {
        let s = try stack()
        var item: NSManagedObject!
        step(s) { item = insert("Item", "a", s.context) }
        step(s) { s.context.delete(item) }
        #expect(try fetch("Item", s.context).isEmpty)
        s.context.undo()
        #expect(try fetch("Item", s.context).count == 1)
        #expect(s.context.insertedObjects.count == 1)
        s.context.undo()
        #expect(try fetch("Item", s.context).isEmpty)
    }

    @Test func changesWithoutRegistrationAreNotUndoable() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        s.context.processPendingChanges()
        s.undo.disableUndoRegistration()
        item.setValue("silent", forKey: "name")
        s.context.processPendingChanges()
        s.undo.enableUndoRegistration()
        #expect(!s.undo.canUndo)
        #expect(item.value(forKey: "name") as? String == "silent")
    }

    @Test func undoReachesBackBeyondASave() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) { item.setValue("b", forKey: "name") }
        try s.context.save()
        #expect(!s.context.hasChanges)
        #expect(s.undo.canUndo)
        s.context.undo()
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(s.context.hasChanges)
        #expect(item.changedValues()["name"] as? String == "a")
    }

    @Test func rollbackEmptiesTheUndoStack() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) {
            item.setValue("b", forKey: "name")
            insert("Item", "new", s.context)
        }
        #expect(s.undo.canUndo)
        s.context.rollback()
        #expect(!s.undo.canUndo)
        #expect(!s.undo.canRedo)
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(!s.context.hasChanges)
        #expect(try fetch("Item", s.context).count == 1)
    }

    @Test func rollbackBringsDeletedObjectsBack() throws {
        let container = try UndoKit.container()
        let context = container.viewContext
        let folder = insert("Folder", "f", context)
        insert("Item", "a", context, folder: folder)
        try context.save()
        context.delete(folder)
        context.processPendingChanges()
        #expect(context.deletedObjects.count == 2)
        context.rollback()
        #expect(!folder.isDeleted)
        #expect(try fetch("Item", context).count == 1)
        #expect((folder.value(forKey: "items") as? NSSet)?.count == 1)
    }

    @Test func resetForgetsEverything() throws {
        // Not documented: whether reset() also clears the undo stack (it is not documented).
        let container = try UndoKit.container()
        let context = container.viewContext
        insert("Item", "saved", context)
        try context.save()
        insert("Item", "pending", context)
        context.reset()
        #expect(!context.hasChanges)
        #expect(context.registeredObjects.isEmpty)
        #expect(try fetch("Item", context).map { $0.value(forKey: "name") as? String } == ["saved"])
    }

    @Test func snapshotEventsOfUndoAndRollback() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first as? MacUndoItem)
        _ = item.value(forKey: "name")
        item.snapshotEvents = []
        step(s) { item.setValue("b", forKey: "name") }
        s.context.undo()
        #expect(item.snapshotEvents.contains { $0.contains(.undoUpdate) })

        item.snapshotEvents = []
        step(s) { s.context.delete(item) }
        s.context.undo()
        #expect(item.snapshotEvents.contains { $0.contains(.undoDeletion) })

        item.snapshotEvents = []
        step(s) { item.setValue("c", forKey: "name") }
        s.context.rollback()
        #expect(item.snapshotEvents.contains { $0.contains(.rollback) })
    }

    @Test func snapshotEventRawValues() {
        #expect(NSSnapshotEventType.undoInsertion.rawValue == 2)
        #expect(NSSnapshotEventType.undoDeletion.rawValue == 4)
        #expect(NSSnapshotEventType.undoUpdate.rawValue == 8)
        #expect(NSSnapshotEventType.rollback.rawValue == 16)
        #expect(NSSnapshotEventType.refresh.rawValue == 32)
        #expect(NSSnapshotEventType.mergePolicy.rawValue == 64)
    }

    @Test func undoCoversTransientAttributes() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) { item.setValue("one", forKey: "scratch") }
        step(s) { item.setValue("two", forKey: "scratch") }
        s.context.undo()
        #expect(item.value(forKey: "scratch") as? String == "one")
    }

    @Test func actionNamesOfContextSteps() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        step(s) {
            item.setValue("b", forKey: "name")
            s.context.undoManager?.setActionName("Rename")
        }
        #expect(s.context.undoManager?.undoMenuItemTitle == "Undo Rename")
        s.context.undo()
        #expect(s.context.undoManager?.redoMenuItemTitle == "Redo Rename")
    }

    @Test func theUndoManagerCanBeUsedDirectly() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        let recorder = NotificationLog([.NSManagedObjectContextObjectsDidChange], from: s.context)
        step(s) { item.setValue("b", forKey: "name") }
        let before = recorder.all.count
        #expect(before >= 1)
        s.undo.undo()
        s.context.processPendingChanges()
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(recorder.all.count > before)
        s.undo.redo()
        #expect(item.value(forKey: "name") as? String == "b")
    }

    @Test func contextAndOtherTargetsShareOneGroup() throws {
        let s = try stack { insert("Item", "a", $0) }
        let item = try #require(try fetch("Item", s.context).first)
        let counter = UndoCounter(s.undo)
        step(s) {
            item.setValue("b", forKey: "name")
            counter.set(1)
        }
        s.undo.undo()
        #expect(item.value(forKey: "name") as? String == "a")
        #expect(counter.value == 0)
    }
}
