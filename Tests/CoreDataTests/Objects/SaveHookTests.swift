import CoreData
import Synchronization
import TestSupport
import Testing

final class HookLog: @unchecked Sendable {
    var lines: [String] = []
}

final class HookItem: NSManagedObject {
    @Managed var name: String?
    @Managed var stamp: Int64
    @Managed var box: HookBox?
    var log: HookLog?
    var rounds = 0
    var onWillSave: ((HookItem) -> Void)?
    var onDidSave: ((HookItem) -> Void)?

    override func willSave() {
        super.willSave()
        rounds += 1
        log?.lines.append("willSave deleted=\(isDeleted)")
        onWillSave?(self)
    }

    override func didSave() {
        super.didSave()
        log?.lines.append("didSave")
        onDidSave?(self)
    }

    override func validateForInsert() throws {
        log?.lines.append("validateForInsert")
        try super.validateForInsert()
    }

    override func validateForUpdate() throws {
        log?.lines.append("validateForUpdate")
        try super.validateForUpdate()
    }

    override func validateForDelete() throws {
        log?.lines.append("validateForDelete")
        try super.validateForDelete()
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        log?.lines.append("prepareForDeletion box=\(box?.name ?? "nil") items=\(box?.items.count ?? -1)")
    }
}

final class HookBox: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<HookItem>
    var namesBeforeDeletion: Set<String>?
    var isRefused = false

    override func validateForInsert() throws {
        try super.validateForInsert()
        if isRefused { throw NSError(domain: "HookBox", code: 1) }
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        namesBeforeDeletion = Set(items.filter { !$0.isDeleted }.compactMap(\.name))
    }
}

@Suite(.everyStore) struct SaveHookTests {
    let stack: TestStack
    let log = HookLog()

    init() throws {
        let item = NSEntityDescription(
            "Item", class: "HookItem",
            [.init("name", .stringAttributeType), .init("stamp", .integer64AttributeType, default: 0)])
        let box = NSEntityDescription("Box", class: "HookBox", [.init("name", .stringAttributeType)])
        relate(box, "items", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "box")
        stack = try TestStack([item, box])
    }

    func savedItem() throws -> HookItem {
        let item = HookItem(context: stack.context)
        item.name = "A"
        try stack.context.save()
        item.rounds = 0
        item.log = log
        return item
    }

    func storedNames() -> [String?] { stack.stored("name", of: "Item") }

    @Test("37: prepareForDeletion runs while the relationships of owner and owned are intact")
    func prepareForDeletionSeesRelationships() throws {
        let box = HookBox(context: stack.context)
        box.name = "Box"
        let item = try savedItem()
        item.box = box
        try stack.context.save()
        log.lines = []
        stack.context.delete(box)
        stack.context.processPendingChanges()
        #expect(box.namesBeforeDeletion == ["A"])
        #expect(log.lines == ["prepareForDeletion box=Box items=1"])
        #expect(item.isDeleted)
    }

    @Test("38: willSave runs for inserted, updated and deleted objects")
    func willSaveRunsForAllChanges() throws {
        let item = HookItem(context: stack.context)
        item.log = log
        try stack.context.save()
        item.name = "B"
        try stack.context.save()
        stack.context.delete(item)
        try stack.context.save()
        #expect(
            log.lines.filter { $0.hasPrefix("willSave") } == [
                "willSave deleted=false", "willSave deleted=false", "willSave deleted=true",
            ])
    }

    @Test("38: a save that was refused calls willSave of all its objects again when it is repeated")
    func repeatedSavesCallTheHooksAgain() throws {
        let item = try savedItem()
        item.name = "B"
        let box = HookBox(context: stack.context)
        box.isRefused = true
        #expect(errorThrown { try stack.context.save() }?.domain == "HookBox")
        #expect(item.rounds == 1)
        #expect(storedNames() == ["A"])
        box.isRefused = false
        try stack.context.save()
        #expect(item.rounds == 2)
        #expect(storedNames() == ["B"])
    }

    @Test("38, 133: willSave runs for no new object whose insertion a refresh has taken back")
    func willSaveRunsForNoRefreshedNewObjects()
        throws
    {
        let (gone, stays) = (HookItem(context: stack.context), HookItem(context: stack.context))
        stack.context.refresh(gone, mergeChanges: false)
        stack.context.refresh(stays, mergeChanges: true)
        try stack.context.save()
        #expect(gone.rounds == 0)
        #expect(stays.rounds == 1)
    }

    @Test("39: a change in willSave is saved too and makes willSave run again")
    func changesInWillSaveAreSaved() throws {
        let item = try savedItem()
        item.onWillSave = { if $0.stamp != 7 { $0.stamp = 7 } }
        item.name = "B"
        try stack.context.save()
        #expect(item.rounds == 2)
        #expect(!stack.context.hasChanges)
        #expect(stack.stored(["name", "stamp"], of: "Item") == [["B", "7"]])
    }

    @Test("39: willSave may change another, so far unchanged object, which is saved too")
    func willSaveMayChangeOthers() throws {
        let item = try savedItem()
        let other = try savedItem()
        item.onWillSave = { _ in if other.name != "by willSave" { other.name = "by willSave" } }
        item.name = "B"
        try stack.context.save()
        #expect(other.rounds == 1)
        #expect(!stack.context.hasChanges)
        #expect(storedNames() == ["B", "by willSave"])
    }

    @Test("39: a save whose willSave always changes something fails and writes nothing")
    func endlessChangesInWillSaveFail() throws {
        let item = try savedItem()
        item.onWillSave = { $0.stamp += 1 }
        item.name = "B"
        let error = errorThrown { try stack.context.save() }
        #expect(error != nil)
        #expect(storedNames() == ["A"])
    }

    @Test("40: a primitive value set in willSave causes no second round and is saved with the object")
    func primitiveChangesInWillSaveAreNotNoticed() throws {
        let item = try savedItem()
        item.onWillSave = { $0.setPrimitiveValue(Int64(9), forKey: "stamp") }
        item.name = "B"
        try stack.context.save()
        #expect(item.rounds == 1)
        #expect(!item.hasChanges)
        #expect(item.stamp == 9)
        #expect(stack.stored(["name", "stamp"], of: "Item") == [["B", "9"]])
    }

    @Test("41: didSave runs after the commit, also for deleted objects")
    func didSaveRunsAfterTheCommit() throws {
        let item = try savedItem()
        let (stack, log) = (stack, log)
        item.onDidSave = { _ in log.lines.append(stack.stored("name", of: "Item").description) }
        item.name = "B"
        try stack.context.save()
        #expect(log.lines.suffix(2) == ["didSave", "[Optional(\"B\")]"])
        stack.context.delete(item)
        try stack.context.save()
        #expect(log.lines.suffix(2) == ["didSave", "[]"])
    }

    @Test("41: a setter in didSave leaves the context dirty")
    func changesInDidSaveLeaveTheContextDirty() throws {
        let item = try savedItem()
        item.onDidSave = { $0.name = "after" }
        item.name = "B"
        try stack.context.save()
        #expect(item.hasChanges)
        #expect(stack.context.hasChanges)
        #expect(storedNames() == ["B"])
        item.onDidSave = nil
        try stack.context.save()
        #expect(storedNames() == ["after"])
    }

    @Test("42: notifications, hooks and validation come in the documented order")
    func theOrderOfASave() throws {
        let log = log
        let names: [(Notification.Name, String)] = [
            (NSManagedObjectContext.didChangeObjectsNotification, "ObjectsDidChange"),
            (NSManagedObjectContext.willSaveObjectsNotification, "WillSave"),
            (NSManagedObjectContext.didSaveObjectsNotification, "DidSave"),
        ]
        let tokens = names.map { name, line in
            NotificationCenter.default.addObserver(forName: name, object: stack.context, queue: nil) { _ in
                log.lines.append(line)
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        let item = HookItem(context: stack.context)
        item.log = log
        var wasTemporary: Bool?
        item.onDidSave = { wasTemporary = $0.objectID.isTemporaryID }
        try stack.context.save()
        #expect(
            log.lines == [
                "ObjectsDidChange", "WillSave", "willSave deleted=false", "validateForInsert", "didSave", "DidSave",
            ])
        #expect(wasTemporary == false)
    }
}
