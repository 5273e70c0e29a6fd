import CoreData
import TestSupport
import Testing

final class StateItem: NSManagedObject {
    @Managed var name: String?
    @Managed var cache: String?
    var lines: [String] = []

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        lines.append("will \(primitiveValue(forKey: "name") ?? "nil") \(primitiveValue(forKey: "cache") ?? "nil")")
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        lines.append("did \(primitiveValue(forKey: "name") ?? "nil") \(primitiveValue(forKey: "cache") ?? "nil")")
    }
}

@Suite(.everyStore) struct ObjectStateTests {
    let stack: TestStack

    init() throws {
        let cache = NSAttributeDescription("cache", .stringAttributeType)
        cache.isTransient = true
        stack = try TestStack([
            NSEntityDescription("Item", class: "StateItem", [.init("name", .stringAttributeType), cache])
        ])
    }

    func savedItem() throws -> StateItem {
        let item = StateItem(context: stack.context)
        item.name = "A"
        try stack.context.save()
        return item
    }

    func flags(_ object: NSManagedObject) -> [Bool] { [object.isInserted, object.isUpdated, object.isDeleted] }

    @Test("43: values can be read in willTurnIntoFault and are gone in didTurnIntoFault")
    func valuesGoWhenAnObjectTurnsIntoAFault() throws {
        let item = try savedItem()
        item.setPrimitiveValue("cached", forKey: "cache")
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.lines == ["will A cached", "did nil nil"])
        #expect(item.isFault)
        #expect(item.name == "A")
        #expect(item.cache == nil)
    }

    @Test("44: a deleted object is deleted until the save")
    func deletedUntilTheSave() throws {
        let item = try savedItem()
        stack.context.delete(item)
        #expect(item.isDeleted)
        #expect(item.managedObjectContext === stack.context)
        stack.context.processPendingChanges()
        #expect(item.isDeleted)
        try stack.context.save()
        #expect(!item.isDeleted)
        #expect(!item.hasChanges)
        #expect(item.managedObjectContext == nil)
        #expect(stack.storedCount(of: "Item") == 0)
    }

    @Test("45: hasChanges is true when inserted, updated or deleted")
    func hasChangesInEachState() throws {
        let item = StateItem(context: stack.context)
        #expect(flags(item) == [true, false, false])
        #expect(item.hasChanges)
        item.name = "A"
        #expect(flags(item) == [true, false, false])
        try stack.context.save()
        #expect(flags(item) == [false, false, false])
        #expect(!item.hasChanges)
        item.name = "B"
        #expect(flags(item) == [false, true, false])
        #expect(item.hasChanges)
        stack.context.delete(item)
        #expect(flags(item) == [false, false, true])
        #expect(item.hasChanges)
        try stack.context.save()
        #expect(flags(item) == [false, false, false])
        #expect(!item.hasChanges)
    }

    @Test("46: an object with a permanent ID is inserted until the save")
    func aPermanentIDDoesNotEndInsertion() throws {
        let item = StateItem(context: stack.context)
        try stack.context.obtainPermanentIDs(for: [item])
        #expect(!item.objectID.isTemporaryID)
        #expect(item.isInserted)
        #expect(stack.context.insertedObjects == [item])
        try stack.context.save()
        #expect(!item.isInserted)
        #expect(stack.storedCount(of: "Item") == 1)
    }

    @Test("47: asking a fault about itself does not fire it")
    func questionsDoNotFireFaults() throws {
        _ = try savedItem()
        let context = stack.newContext()
        let item = try #require(try context.fetch(NSFetchRequest<StateItem>(entityName: "Item")).first)
        _ = (item.isFault, item.isInserted, item.isUpdated, item.isDeleted, item.hasChanges, item.objectID, item.entity)
        _ = (item.managedObjectContext, item.hash, item.isEqual(context), item == item, item.description, "\(item)")
        _ = (item.hasPersistentChangedValues, item.changedValues(), Set([item]), item.debugDescription)
        #expect(item.isFault)
    }

    @Test("48: faultingState is 0 only for an object with its values")
    func faultingStateTellsFaults() throws {
        let item = try savedItem()
        #expect(item.faultingState == 0)
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.faultingState != 0)
        _ = item.name
        #expect(item.faultingState == 0)
    }
}
