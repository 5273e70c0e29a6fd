import CoreData
import TestSupport
import Testing

/// Notifications of a child context about its own insertions when its parents save them.
@Suite(.everyStore) struct OwnInsertionTests {
    @Test(arguments: [1, 2]) func aChildHearsOfItsInsertionOnce(levels: Int) throws {
        let stack = try TestStack([
            NSEntityDescription("Note", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        ])
        var contexts = [stack.context]
        for _ in 0..<levels {
            let child = contexts[contexts.count - 1].newChild()
            child.automaticallyMergesChangesFromParent = true
            contexts.append(child)
        }
        let sibling = stack.context.newChild()
        sibling.automaticallyMergesChangesFromParent = true
        let leaf = contexts[levels]
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: leaf)
        let siblings = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: sibling)
        let note = leaf.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "Note", into: leaf) }
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
        leaf.performAndWait { leaf.processPendingChanges() }
        sibling.performAndWait { sibling.processPendingChanges() }
        #expect(log.all.filter { $0.objects(NSInsertedObjectsKey).contains(note) }.count == 1)
        #expect(siblings.all.contains { $0.objects(NSInsertedObjectsKey).count == 1 })
    }
}
