import CoreData
import TestSupport
import Testing

final class CrossItem: NSManagedObject {
    @Managed var name: String?
    @Managed var other: CrossItem?
    @Managed var others: Set<CrossItem>
}

@Suite struct CrossStoreTests {
    @Test("98: a relationship between objects of two stores cannot be saved") func relationshipsStayInAStore() throws {
        let item = NSEntityDescription("Item", class: "CrossItem", [.init("name", .stringAttributeType)])
        relate(item, "others", toMany: true, item, inverse: "other")
        let stack = try TestStack([item])
        let first = try #require(stack.coordinator.persistentStores.first)
        let secondURL = stack.url.deletingLastPathComponent().appendingPathComponent("second.sqlite")
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: secondURL)
        let a = CrossItem(context: stack.context)
        stack.context.assign(a, to: first)
        let b = CrossItem(context: stack.context)
        stack.context.assign(b, to: second)
        try stack.context.save()
        #expect(a.objectID.persistentStore === first)
        #expect(b.objectID.persistentStore === second)
        #expect(stack.file.integer("SELECT COUNT(*) FROM ZITEM") == 1)
        a.other = b
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.code == 133010)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(stack.file.column("SELECT ZOTHER FROM ZITEM") == [nil])
    }

    @Test("337: a save in which only some stores failed names the stores and objects that were not saved")
    func aSaveOfSeveralStoresMayFailForSome() throws {
        let item = NSEntityDescription("Item", class: "CrossItem", [.init("name", .stringAttributeType)])
        relate(item, "others", toMany: true, item, inverse: "other")
        let stack = try TestStack([item])
        let first = try #require(stack.coordinator.persistentStores.first)
        let secondURL = stack.url.deletingLastPathComponent().appendingPathComponent("second.sqlite")
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: secondURL, options: [NSPersistentStoreTimeoutOption: 0])
        let a = CrossItem(context: stack.context)
        let b = CrossItem(context: stack.context)
        stack.context.assign(a, to: first)
        stack.context.assign(b, to: second)
        try stack.context.save()
        a.name = "a"
        b.name = "b"
        let other = SQLiteFile(secondURL)
        other.execute("BEGIN IMMEDIATE")
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSPersistentStoreIncompleteSaveError)
        #expect((error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore])?.map { $0 === second } == [true])
        #expect((error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]) == [b])
        #expect(!a.hasChanges && b.hasChanges)
        #expect(stack.file.value("SELECT ZNAME FROM ZITEM") == "a")
        other.execute("ROLLBACK")
        #expect(other.rows("SELECT ZNAME FROM ZITEM") == [[nil]])
        try stack.context.save()
        #expect(other.value("SELECT ZNAME FROM ZITEM") == "b")
        #expect(!stack.context.hasChanges)
    }
}
