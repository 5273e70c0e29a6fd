import CoreData
import TestSupport
import Testing

final class MissingItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var owner: MissingOwner?
}

final class MissingOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<MissingItem>
}

final class AskedContext: NSManagedObjectContext, @unchecked Sendable {
    var questions: [String] = []

    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        questions.append(property?.name ?? "nil")
        return super.shouldHandleInaccessibleFault(fault, for: oid, triggeredByProperty: property)
    }
}

@Suite(.everyStore) struct InaccessibleFaultTests {
    let stack: TestStack
    let itemID: NSManagedObjectID

    init() throws {
        stack = try Self.stack()
        let item = MissingItem(context: stack.context)
        item.name = "item"
        item.size = 3
        item.owner = MissingOwner(context: stack.context)
        try stack.context.save()
        itemID = item.objectID
        stack.context.delete(item)
        try stack.context.save()
    }

    static func stack() throws -> TestStack {
        let item = NSEntityDescription(
            "Item", class: "MissingItem",
            [.init("name", .stringAttributeType, optional: false), .init("size", .integer32AttributeType)])
        let owner = NSEntityDescription("Owner", class: "MissingOwner", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        return try TestStack([item, owner])
    }

    func fault(in context: NSManagedObjectContext) throws -> MissingItem {
        try #require(context.object(with: itemID) as? MissingItem)
    }

    @Test("115: a fault whose row is gone has nil and zero values and is deleted") func missingRowsAreDeletedObjects()
        throws
    {
        let context = stack.newContext()
        #expect(context.shouldDeleteInaccessibleFaults)
        let item = try fault(in: context)
        #expect(!item.isDeleted)
        #expect(item.name == nil)
        #expect(item.size == 0)
        #expect(item.owner == nil)
        #expect(item.isDeleted)
        #expect(context.deletedObjects == [item])
    }

    @Test("83: an object made from an inaccessible fault is exempt from validation") func missingRowsAreNotValidated()
        throws
    {
        let context = stack.newContext()
        let item = try fault(in: context)
        // Its name is required; a new object without one is refused.
        #expect(item.name == nil)
        #expect(item.isDeleted)
        try context.save()
        #expect(!context.hasChanges)
        _ = MissingItem(context: context)
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test("116: the context is asked about an inaccessible fault with the property that was read")
    func theContextIsAsked() throws {
        let context = AskedContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let item = try fault(in: context)
        #expect(item.name == nil)
        #expect(context.questions == ["name"])
        #expect(item.isDeleted)
    }

    @Test("116: the answer about inaccessible faults is the setting of the context") func theAnswerIsTheSetting() throws
    {
        let context = stack.newContext()
        let item = try fault(in: context)
        #expect(context.shouldHandleInaccessibleFault(item, for: itemID, triggeredByProperty: nil))
        context.shouldDeleteInaccessibleFaults = false
        #expect(!context.shouldHandleInaccessibleFault(item, for: itemID, triggeredByProperty: nil))
    }
}

struct InaccessibleFaultStopTests {
    @Test("115: a fault whose row is gone stops the program when the context is told so")
    func missingRowsStopTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try InaccessibleFaultTests.stack()
            let item = MissingItem(context: stack.context)
            item.name = "item"
            try stack.context.save()
            let itemID = item.objectID
            stack.context.delete(item)
            try stack.context.save()
            let context = stack.newContext()
            context.shouldDeleteInaccessibleFaults = false
            _ = (context.object(with: itemID) as? MissingItem)?.name
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "could not fulfill a fault for x-coredata://", "/Item/p", "shouldDeleteInaccessibleFaults") == [])
    }
}

/// Rows that another program deletes.
@Suite(.stores(StoreKind.persistent)) struct RowsDeletedElsewhereTests {
    @Test("an object whose row is gone is no change to be written") func whatIsGoneIsNoChange() throws {
        let library = try Library()
        library.context.book("Notes", by: library.context.author("Ada"))
        try library.context.save()
        library.context.reset()
        let context = library.newContext()
        let book = try #require(try context.books().first)
        #expect(library.tables.execute("DELETE FROM {author}"))
        #expect(book.author?.name == nil)
        #expect(!context.hasChangesToWrite)
    }
}
