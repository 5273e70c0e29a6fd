import CoreData
import TestSupport
import Testing

final class EffectItem: NSManagedObject {
    @Managed var name: String?
    @Managed var trace: String?
    var inWillSave: ((EffectItem) -> Void)?
    var inPrepareForDeletion: ((EffectItem) -> Void)?
    var inValidation: ((EffectItem) -> Void)?

    override func willSave() {
        super.willSave()
        inWillSave?(self)
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        inPrepareForDeletion?(self)
    }

    override func validateForUpdate() throws {
        inValidation?(self)
        try super.validateForUpdate()
    }
}

/// Changes that hooks make to other objects of the context are part of the same save.
@Suite(.everyStore) struct HookSideEffectTests {
    let stack: TestStack

    init() throws {
        stack = try TestStack([
            NSEntityDescription(
                "Item", class: "EffectItem",
                [.init("name", .stringAttributeType), .init("trace", .stringAttributeType)])
        ])
    }

    func item(_ name: String) -> EffectItem {
        let item = EffectItem(context: stack.context)
        item.name = name
        return item
    }

    func names() -> [String?] { stack.stored("name", of: "Item") }

    @Test("39: objects inserted in willSave are saved too") func willSaveInserts() throws {
        let item = item("a")
        try stack.context.save()
        var done = false
        item.inWillSave = {
            if done { return }
            done = true
            guard let context = $0.managedObjectContext else { return }
            EffectItem(context: context).name = "inserted"
        }
        item.name = "b"
        try stack.context.save()
        #expect(names() == ["b", "inserted"])
        #expect(!stack.context.hasChanges)
    }

    @Test("39: objects deleted in willSave are deleted too") func willSaveDeletes() throws {
        let item = item("a")
        let victim = self.item("victim")
        try stack.context.save()
        item.inWillSave = { $0.managedObjectContext?.delete(victim) }
        item.name = "b"
        try stack.context.save()
        #expect(names() == ["b"])
        #expect(!stack.context.hasChanges)
    }

    @Test("39: an object may be changed by the willSave of one that is deleted") func willSaveOfADeletedObject() throws
    {
        let item = item("a")
        let witness = self.item("witness")
        try stack.context.save()
        item.inWillSave = { if $0.isDeleted, witness.trace == nil { witness.trace = "seen" } }
        stack.context.delete(item)
        try stack.context.save()
        #expect(stack.stored("trace", of: "Item") == ["seen"])
    }

    @Test("37: objects changed and inserted in prepareForDeletion are saved") func prepareForDeletionChangesOthers()
        throws
    {
        let item = item("a")
        let witness = self.item("witness")
        try stack.context.save()
        item.inPrepareForDeletion = {
            witness.trace = "before \($0.name ?? "")"
            guard let context = $0.managedObjectContext else { return }
            EffectItem(context: context).name = "grave of \($0.name ?? "")"
        }
        stack.context.delete(item)
        try stack.context.save()
        #expect(stack.stored(["name", "trace"], of: "Item") == [["grave of a", nil], ["witness", "before a"]])
    }

    @Test("37: prepareForDeletion runs once for an object that is deleted twice") func prepareForDeletionRunsOnce()
        throws
    {
        let item = item("a")
        try stack.context.save()
        var count = 0
        item.inPrepareForDeletion = { _ in count += 1 }
        stack.context.delete(item)
        stack.context.delete(item)
        try stack.context.save()
        #expect(count == 1)
    }

    @Test("37: objects that delete each other in prepareForDeletion hear it once each", arguments: [false, true])
    func objectsMayDeleteEachOther(isChild: Bool) throws {
        let child = stack.context.newChild()
        let context = isChild ? child : stack.context
        let items = ["a", "b", "c"].map { name in
            let item = EffectItem(context: context)
            item.name = name
            return item
        }
        try context.save()
        var heard: [String?] = []
        for (item, next) in zip(items, items[1...] + items[..<1]) {
            item.inPrepareForDeletion = {
                heard.append($0.name)
                $0.managedObjectContext?.delete($0)
                $0.managedObjectContext?.delete(next)
            }
        }
        context.delete(items[1])
        #expect(heard == ["b", "c", "a"])
        #expect(items.map(\.isDeleted) == [true, true, true])
        try context.save()
        try stack.context.save()
        #expect(names() == [])
    }

    @Test("37: a deletion that is undone and done again calls prepareForDeletion again") func deletedAgain() throws {
        let item = item("a")
        try stack.context.save()
        let manager = UndoManager()
        manager.groupsByEvent = false
        stack.context.undoManager = manager
        var count = 0
        item.inPrepareForDeletion = {
            count += 1
            $0.managedObjectContext?.delete($0)
        }
        manager.beginUndoGrouping()
        stack.context.delete(item)
        stack.context.processPendingChanges()
        manager.endUndoGrouping()
        stack.context.undo()
        #expect(!item.isDeleted)
        manager.beginUndoGrouping()
        stack.context.delete(item)
        manager.endUndoGrouping()
        #expect(count == 2)
        try stack.context.save()
        #expect(names() == [])
    }

    @Test("42: a value set during validation is saved") func changesInValidationAreSaved() throws {
        let item = item("a")
        try stack.context.save()
        item.inValidation = { if $0.trace == nil { $0.trace = "validated" } }
        item.name = "b"
        try stack.context.save()
        #expect(stack.stored(["name", "trace"], of: "Item") == [["b", "validated"]])
        #expect(!stack.context.hasChanges)
    }

    @Test("53: a primitive value of a new object is saved with it") func primitiveValuesOfNewObjects() throws {
        let item = item("a")
        item.setPrimitiveValue("primitive", forKey: "trace")
        try stack.context.save()
        #expect(stack.stored("trace", of: "Item") == ["primitive"])
    }

    @Test("43: an object with changes that becomes a fault loses them and is not saved") func faultsLoseChanges() throws
    {
        let item = item("a")
        try stack.context.save()
        item.name = "b"
        stack.context.refresh(item, mergeChanges: false)
        #expect(!stack.context.hasChanges)
        item.trace = "kept"
        try stack.context.save()
        #expect(stack.stored(["name", "trace"], of: "Item") == [["a", "kept"]])
    }

    @Test("44: using a deleted and saved object does not bring it back") func deletedObjectsStayDeleted() throws {
        let item = item("a")
        try stack.context.save()
        stack.context.delete(item)
        try stack.context.save()
        item.name = "zombie"
        try stack.context.save()
        #expect(names() == [])
        #expect(errorThrown { _ = try stack.context.existingObject(with: item.objectID) }?.code == 133000)
    }
}
