import CoreData
import TestSupport
import Testing

final class TrackedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var cache: String?
    @Managed var owner: TrackedOwner?
}

final class TrackedOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<TrackedItem>
}

@Suite(.everyStore) struct ChangeTrackingTests {
    let stack: TestStack
    let item: TrackedItem
    let owner: TrackedOwner

    init() throws {
        let cache = NSAttributeDescription("cache", .stringAttributeType)
        cache.isTransient = true
        let item = NSEntityDescription(
            "Item", class: "TrackedItem",
            [.init("name", .stringAttributeType), .init("size", .integer32AttributeType, default: 0), cache])
        let owner = NSEntityDescription("Owner", class: "TrackedOwner", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        stack = try TestStack([item, owner])
        self.owner = TrackedOwner(context: stack.context)
        self.item = TrackedItem(context: stack.context)
        self.item.name = "A"
        self.item.size = 1
        self.item.owner = self.owner
        try stack.context.save()
    }

    @Test("55: changedValues lists persistent properties changed since the last save, with their new values")
    func changedValuesSinceTheLastSave() throws {
        #expect(item.changedValues().isEmpty)
        item.name = "B"
        item.size = 2
        item.owner = nil
        item.cache = "transient"
        let changes = item.changedValues()
        #expect(Set(changes.keys) == ["name", "size", "owner"])
        #expect(changes["name"] as? String == "B")
        #expect(changes["size"] as? Int == 2)
        #expect(changes["owner"] is NSNull)
        stack.context.processPendingChanges()
        #expect(Set(item.changedValues().keys) == ["name", "size", "owner"])
        #expect(Set(owner.changedValues().keys) == ["items"])
        try stack.context.save()
        #expect(item.changedValues().isEmpty)
        #expect(owner.changedValues().isEmpty)
    }

    @Test("53, 55: what a primitive setter set is listed where something else was changed")
    func primitiveValuesBesideOthers() throws {
        item.setPrimitiveValue(5, forKey: "size")
        #expect(item.changedValues().isEmpty)
        item.name = "B"
        #expect(Set(item.changedValues().keys) == ["name", "size"])
        #expect(item.changedValues()["size"] as? Int == 5)
        item.name = nil
        try stack.context.save()
        #expect(item.changedValues().isEmpty)
        #expect(stack.newContext().object(with: item.objectID).value(forKey: "size") as? Int == 5)
    }

    @Test("55: changedValues of a new object lists what was set") func changedValuesOfANewObject() {
        let new = TrackedItem(context: stack.context)
        new.name = "N"
        #expect(new.changedValues()["name"] as? String == "N")
        #expect(new.changedValues()["cache"] == nil)
    }

    @Test("56: changedValuesForCurrentEvent lists changes since pending changes were processed")
    func changedValuesForTheCurrentEvent() {
        item.name = "B"
        #expect(Set(item.changedValuesForCurrentEvent().keys) == ["name"])
        stack.context.processPendingChanges()
        item.size = 9
        #expect(Set(item.changedValuesForCurrentEvent().keys) == ["size"])
        #expect(Set(item.changedValues().keys) == ["name", "size"])
        stack.context.processPendingChanges()
        #expect(item.changedValuesForCurrentEvent()["name"] == nil)
    }

    @Test("56: changedValuesForCurrentEvent lists no transient properties") func changedValuesOfTheEventArePersistent()
    {
        item.cache = "transient"
        #expect(item.changedValuesForCurrentEvent().isEmpty)
        item.name = "B"
        #expect(Set(item.changedValuesForCurrentEvent().keys) == ["name"])
    }

    @Test("59: changedValuesForCurrentEvent reads a relationship only if it has changed")
    func changesOfUnreadRelationships() throws {
        let context = stack.newContext()
        let owner = try #require(try context.existingObject(with: owner.objectID) as? TrackedOwner)
        let item = try #require(try context.existingObject(with: item.objectID) as? TrackedItem)
        owner.willChangeValue(forKey: "items")
        owner.didChangeValue(forKey: "items")
        #expect(owner.changedValuesForCurrentEvent().isEmpty)
        #expect(owner.hasFault(forRelationshipNamed: "items"))
        let new = TrackedItem(context: context)
        new.owner = owner
        #expect(owner.changedValuesForCurrentEvent()["items"] as? Set<TrackedItem> == [item])
        context.processPendingChanges()
        new.owner = nil
        #expect(owner.changedValuesForCurrentEvent()["items"] as? Set<TrackedItem> == [item, new])
    }

    @Test("57: committedValues of nil lists all persistent properties, with NSNull for nil")
    func committedValuesOfAllProperties() {
        item.owner = nil
        item.name = nil
        let values = item.committedValues(forKeys: nil)
        #expect(Set(values.keys) == ["name", "size", "owner"])
        #expect(values["name"] as? String == "A")
        #expect(values["size"] as? Int == 1)
        #expect((values["owner"] as? TrackedOwner) === owner)
        #expect(owner.committedValues(forKeys: ["name"])["name"] is NSNull)
        #expect(owner.committedValues(forKeys: ["items"])["items"] as? Set<TrackedItem> == [item])
    }

    @Test("57: a new object has no committed values") func aNewObjectHasNoCommittedValues() throws {
        let item = TrackedItem(context: stack.context)
        item.name = "A"
        #expect(item.committedValues(forKeys: ["name"]).isEmpty)
        #expect(item.committedValues(forKeys: nil).isEmpty)
        try stack.context.save()
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "A")
    }

    @Test("58: committedValues keeps the old value until the save") func committedValuesFollowTheSave() throws {
        item.name = "B"
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "A")
        stack.context.processPendingChanges()
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "A")
        try stack.context.save()
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "B")
        #expect(item.changedValues().isEmpty)
    }

    @Test("58: a failed save keeps changed and committed values") func aFailedSaveKeepsChanges() throws {
        let other = stack.newContext()
        try #require(try other.existingObject(with: item.objectID) as? TrackedItem).name = "theirs"
        try other.save()
        item.name = "mine"
        #expect(errorThrown { try stack.context.save() }?.code == 133020)
        #expect(item.changedValues()["name"] as? String == "mine")
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "A")
        #expect(item.isUpdated)
    }

    @Test("59: asking for changes fires no relationship fault") func askingForChangesFiresNothing() throws {
        let context = stack.newContext()
        let owner = try #require(try context.existingObject(with: owner.objectID) as? TrackedOwner)
        let item = try #require(try context.existingObject(with: item.objectID) as? TrackedItem)
        owner.name = "new"
        item.size = 3
        #expect(owner.hasPersistentChangedValues)
        #expect(Array(owner.changedValues().keys) == ["name"])
        #expect(item.hasPersistentChangedValues)
        #expect(Array(item.changedValues().keys) == ["size"])
        #expect(owner.hasFault(forRelationshipNamed: "items"))
    }

    @Test("60: setting an equal value makes the object dirty without a changed value")
    func settingAnEqualValueOnlyDirties() throws {
        item.name = "A"
        #expect(item.hasChanges)
        #expect(stack.context.hasChanges)
        #expect(!item.hasPersistentChangedValues)
        #expect(item.changedValues().isEmpty)
        try stack.context.save()
        #expect(!stack.context.hasChanges)
        stack.expectColumn("SELECT {version} FROM {item}", is: ["1"])
    }

    @Test("60: a change set back is no changed value") func settingBackLeavesNoChangedValue() {
        item.name = "B"
        #expect(item.hasPersistentChangedValues)
        item.name = "A"
        #expect(item.hasChanges)
        #expect(!item.hasPersistentChangedValues)
    }

    @Test("61: a transient change makes object and context dirty, but nothing is to be stored")
    func transientChangesOnlyDirty() throws {
        item.cache = "x"
        #expect(item.hasChanges)
        #expect(stack.context.hasChanges)
        #expect(!item.hasPersistentChangedValues)
        #expect(item.changedValues().isEmpty)
        try stack.context.save()
        #expect(item.cache == "x")
        #expect(!stack.context.hasChanges)
        stack.expectColumn("SELECT {version} FROM {item}", is: ["1"])
    }

    @Test("62: changes of unmodeled properties are ignored by default") func unmodeledChangesAreIgnored() {
        #expect(TrackedItem.contextShouldIgnoreUnmodeledPropertyChanges)
        #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    }
}
