import CoreData
import TestSupport
import Testing

final class PrimitiveItem: NSManagedObject {
    @Managed var name: String?
    @Managed var owner: PrimitiveOwner?
}

final class PrimitiveOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<PrimitiveItem>
}

@Suite(.everyStore) struct PrimitiveValueTests {
    let stack: TestStack
    let item: PrimitiveItem
    let owner: PrimitiveOwner

    init() throws {
        let item = NSEntityDescription("Item", class: "PrimitiveItem", [.init("name", .stringAttributeType)])
        let owner = NSEntityDescription("Owner", class: "PrimitiveOwner", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        stack = try TestStack([item, owner])
        self.item = PrimitiveItem(context: stack.context)
        self.item.name = "A"
        self.owner = PrimitiveOwner(context: stack.context)
        try stack.context.save()
    }

    @Test("51: accessors fire a fault, primitive getters do not") func accessorsFireFaults() {
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.primitiveValue(forKey: "name") == nil)
        #expect(item.isFault)
        #expect(item.name == "A")
        #expect(!item.isFault)
        #expect(item.primitiveValue(forKey: "name") as? String == "A")
    }

    @Test("51: reading by key fires a fault") func valueForKeyFiresFaults() {
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.value(forKey: "name") as? String == "A")
        #expect(!item.isFault)
    }

    @Test("52: willAccessValue makes sure that the fault has fired, with a key and without")
    func willAccessValueFiresFaults() {
        for key in [nil, "name"] {
            stack.context.refresh(item, mergeChanges: false)
            item.willAccessValue(forKey: key)
            #expect(!item.isFault)
            #expect(item.primitiveValue(forKey: "name") as? String == "A")
            item.didAccessValue(forKey: key)
        }
    }

    @Test("53: a primitive setter is no change") func primitiveSettersAreNotTracked() {
        item.setPrimitiveValue("B", forKey: "name")
        #expect(item.name == "B")
        #expect(!item.hasChanges)
        #expect(!stack.context.hasChanges)
        #expect(item.changedValues().isEmpty)
        #expect(item.changedValuesForCurrentEvent().isEmpty)
    }

    @Test("55: an object that was never saved lists what primitive setters set, until it is saved")
    func newObjectsListPrimitiveValues() throws {
        let new = PrimitiveItem(context: stack.context)
        #expect(new.changedValues().isEmpty)
        new.setPrimitiveValue("C", forKey: "name")
        #expect(new.changedValues()["name"] as? String == "C")
        #expect(new.hasPersistentChangedValues)
        try stack.context.save()
        #expect(new.changedValues().isEmpty)
        #expect(stack.stored("name", of: "Item") == ["A", "C"])
    }

    @Test("53: a primitive setter of a relationship does not maintain the inverse")
    func primitiveSettersDoNotMaintainInverses() {
        item.setPrimitiveValue(owner, forKey: "owner")
        #expect(item.owner === owner)
        #expect(owner.items.isEmpty)
        #expect(!owner.hasChanges)
        #expect(!item.hasChanges)
    }

    @Test("53: a primitive setter between willChangeValue and didChangeValue is a tracked change")
    func primitiveSettersBetweenNotificationsAreTracked() throws {
        item.willChangeValue(forKey: "name")
        item.setPrimitiveValue("B", forKey: "name")
        item.didChangeValue(forKey: "name")
        #expect(item.isUpdated)
        #expect(item.changedValues()["name"] as? String == "B")
        #expect(item.committedValues(forKeys: ["name"])["name"] as? String == "A")
        try stack.context.save()
        #expect(stack.stored("name", of: "Item") == ["B"])
    }

    @Test("54: a mutable copy of the primitive set may be given to the primitive setter of a to-many relationship")
    func primitiveSettersTakeMutableCopiesOfThePrimitiveSet() throws {
        let second = PrimitiveItem(context: stack.context)
        second.name = "B"
        owner.items = [item]
        try stack.context.save()
        let members = try #require((owner.primitiveValue(forKey: "items") as? NSSet)?.mutableCopy() as? NSMutableSet)
        members.add(second)
        // The copy alone changes nothing.
        #expect(owner.items == [item])
        owner.willChangeValue(forKey: "items")
        owner.setPrimitiveValue(members, forKey: "items")
        owner.didChangeValue(forKey: "items")
        #expect(owner.items == [item, second])
        // Later changes of the copy are no changes of the relationship.
        members.removeAllObjects()
        #expect(owner.items == [item, second])
    }

    @Test func aSetThatIsChangedByAPrimitiveSetterIsAChangeOnceThatIsSaid() throws {
        let library = try Library()
        let notes = library.context.book("Notes")
        let tag = library.context.tag("old")
        try library.context.save()
        notes.willChangeValue(forKey: "tags", withSetMutation: .union, using: [tag])
        notes.setPrimitiveValue(Set([tag]), forKey: "tags")
        #expect(!notes.hasChanges)
        notes.didChangeValue(forKey: "tags", withSetMutation: .union, using: [tag])
        #expect(notes.hasChanges)
        try library.context.save()
        #expect(try library.newContext().books().first?.tags.map(\.label) == ["old"])
    }
}
