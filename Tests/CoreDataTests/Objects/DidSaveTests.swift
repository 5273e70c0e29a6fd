import CoreData
import TestSupport
import Testing

final class HeardItem: NSManagedObject {
    @Managed var name: String?
    var count = 0
    var inDidSave: ((HeardItem) -> Void)?

    override func didSave() {
        super.didSave()
        count += 1
        inDidSave?(self)
    }
}

/// Every object that a save wrote hears `didSave()` once, whatever the others do there.
@Suite(.everyStore) struct DidSaveTests {
    let stack: TestStack

    init() throws {
        stack = try TestStack([NSEntityDescription("Item", class: "HeardItem", [.init("name", .stringAttributeType)])])
    }

    private func items(_ context: NSManagedObjectContext) -> [HeardItem] {
        "abc".map {
            let item = HeardItem(context: context)
            item.name = String($0)
            return item
        }
    }

    @Test("41: an object that another one's didSave changes hears its own", arguments: [false, true])
    func objectsThatOthersChangeHearTheSave(isChild: Bool) throws {
        let child = stack.context.newChild()
        let context = isChild ? child : stack.context
        let items = items(context)
        try context.save()
        #expect(items.map(\.count) == [1, 1, 1])
        for item in items { item.name = "changed" }
        for item in items {
            item.inDidSave = { saved in for other in items where other !== saved { other.name = "again" } }
        }
        try context.save()
        #expect(items.map(\.count) == [2, 2, 2])
        #expect(items.map(\.isUpdated) == [true, true, true])
        for item in items { item.inDidSave = nil }
        try context.save()
        #expect(items.map(\.count) == [3, 3, 3])
    }

    @Test("41: an object that another one's didSave deletes hears its own, and that of the deletion")
    func objectsThatOthersDeleteHearTheSave() throws {
        let items = items(stack.context)
        items[0].inDidSave = { $0.managedObjectContext?.delete(items[2]) }
        items[1].inDidSave = { $0.managedObjectContext?.delete(items[0]) }
        try stack.context.save()
        #expect(items.map(\.count) == [1, 1, 1])
        for item in items { item.inDidSave = nil }
        try stack.context.save()
        #expect(items.map(\.count) == [2, 1, 2])
        #expect(stack.stored("name", of: "Item") == ["b"])
    }

    @Test("41: an object that was not saved hears nothing") func unsavedObjectsHearNothing() throws {
        let items = items(stack.context)
        try stack.context.save()
        items[0].name = "changed"
        items[0].inDidSave = { _ in items[1].name = "later" }
        try stack.context.save()
        #expect(items.map(\.count) == [2, 1, 1])
    }
}
