import CoreData
import TestSupport
import Testing

final class CrossItem: NSManagedObject {
    @Managed var name: String?
    @Managed var other: CrossItem?
    @Managed var others: Set<CrossItem>
}

struct CrossStoreTests {
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

    /// Nodes whose file cannot be written when told so.
    private final class UnreliableStore: NSAtomicStore, @unchecked Sendable {
        // Sendable: used on one thread.
        var isFailing = false
        override var type: String { "CrossStoreTests.Unreliable" }
        override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }
        override func load() throws {}
        override func save() throws { if isFailing { throw CocoaError(.fileWriteOutOfSpace) } }
    }

    private func stackOfItems() throws -> TestStack {
        let item = NSEntityDescription("Item", class: "CrossItem", [.init("name", .stringAttributeType)])
        relate(item, "others", toMany: true, item, inverse: "other")
        return try TestStack([item])
    }

    /// A store of the program's own cannot take back what it has written, and is therefore the
    /// last.
    @Test("337: a save in which only some stores failed names the stores and objects that were not saved")
    func aSaveOfSeveralStoresMayFailForSome() throws {
        let stack = try stackOfItems()
        let first = try #require(stack.coordinator.persistentStores.first)
        NSPersistentStoreCoordinator.registerStoreClass(
            UnreliableStore.self, forStoreType: "CrossStoreTests.Unreliable")
        let added = try stack.coordinator.addPersistentStore(
            ofType: "CrossStoreTests.Unreliable", configurationName: nil, at: stack.url.appendingPathExtension("nodes"))
        let second = try #require(added as? UnreliableStore)
        let a = CrossItem(context: stack.context)
        let b = CrossItem(context: stack.context)
        stack.context.assign(a, to: first)
        stack.context.assign(b, to: second)
        try stack.context.save()
        a.name = "a"
        b.name = "b"
        second.isFailing = true
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSPersistentStoreIncompleteSaveError)
        #expect((error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore])?.map { $0 === second } == [true])
        #expect((error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]) == [b])
        #expect(!a.hasChanges)
        #expect(b.hasChanges)
        #expect(stack.file.value("SELECT ZNAME FROM ZITEM") == "a")
        second.isFailing = false
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZNAME, Z_OPT FROM ZITEM") == [["a", "2"]])
        #expect(!stack.context.hasChanges)
    }

    @Test("82: a store that cannot be written keeps the others from being written")
    func aLockedStoreKeepsTheOthersFromBeingWritten() throws {
        let stack = try stackOfItems()
        let first = try #require(stack.coordinator.persistentStores.first)
        let secondURL = stack.url.deletingLastPathComponent().appendingPathComponent("second.sqlite")
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: secondURL,
            options: [NSPersistentStoreTimeoutOption: 0])
        let a = CrossItem(context: stack.context)
        let b = CrossItem(context: stack.context)
        stack.context.assign(a, to: first)
        stack.context.assign(b, to: second)
        try stack.context.save()
        a.name = "a"
        b.name = "b"
        let other = SQLiteFile(secondURL)
        other.execute("BEGIN IMMEDIATE")
        #expect(throws: NSError.self) { try stack.context.save() }
        #expect(a.hasChanges)
        #expect(b.hasChanges)
        #expect(stack.file.rows("SELECT ZNAME FROM ZITEM") == [[nil]])
        other.execute("ROLLBACK")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZNAME, Z_OPT FROM ZITEM") == [["a", "2"]])
        #expect(other.rows("SELECT ZNAME, Z_OPT FROM ZITEM") == [["b", "2"]])
        #expect(!stack.context.hasChanges)
    }
}
