import CoreData
import TestSupport
import Testing

/// Saves that change objects in one store, and metadata of another.
struct CrossStoreMetadataTests {
    private let stack: TestStack
    /// The store without objects.
    private let other: MigratedStore

    private init(_ kind: StoreKind) throws {
        stack = try TestStack([entity("Item", text("name"))])
        other = try MigratedStore(kind)
    }

    init() throws { try self.init(.sqlite) }

    /// - Parameter timeout: how long locks are waited for; nil for as long as is usual.
    private func addOther(timeout: Double? = nil) throws -> NSPersistentStore {
        try stack.coordinator.addPersistentStore(
            ofType: other.kind.type, configurationName: nil, at: other.url,
            options: timeout.map { [NSPersistentStoreTimeoutOption: $0] })
    }

    /// Inserts an object into the first store.
    private func insert() throws {
        let item = stack.context.insert("Item", ["name": "a"])
        stack.context.assign(item, to: try #require(stack.coordinator.persistentStores.first))
    }

    private func written() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: other.kind.type, at: other.url)
    }

    private var count: Int? { stack.file.integer("SELECT count(*) FROM ZITEM") }

    @Test(arguments: StoreKind.persistent) func metadataOfAStoreWithoutChangesAreWritten(kind: StoreKind) throws {
        let run = try Self(kind)
        let store = try run.addOther()
        run.stack.coordinator.setMetadata(["token": 7], for: store)
        try run.insert()
        try run.stack.context.save()
        #expect(run.count == 1)
        #expect(try run.written()["token"] as? Int == 7)
        #expect(!run.stack.context.hasChanges)
    }

    @Test(arguments: StoreKind.persistent) func metadataThatCannotBeWrittenKeepTheObjectsFromBeingWritten(
        kind: StoreKind
    ) throws {
        let run = try Self(kind)
        let store = try run.addOther()
        run.stack.coordinator.setMetadata(["token": NSObject()], for: store)
        try run.insert()
        let error = try #require(errorThrown { try run.stack.context.save() })
        #expect(error.localizedDescription.contains("token"), "\(error)")
        #expect(run.count == 0)
        #expect(run.stack.context.hasChanges)
        run.stack.coordinator.setMetadata([:], for: store)
        try run.stack.context.save()
        #expect(run.count == 1)
        #expect(try run.written()["token"] == nil)
        #expect(!run.stack.context.hasChanges)
    }

    @Test func aLockedStoreWhoseMetadataAreSetKeepsTheObjectsFromBeingWritten() throws {
        let store = try addOther(timeout: 0.05)
        stack.coordinator.setMetadata(["token": 7], for: store)
        try insert()
        let file = other.file
        file.execute("BEGIN IMMEDIATE")
        #expect(errorThrown { try stack.context.save() }?.code == CocoaError.Code.persistentStoreTimeout.rawValue)
        #expect(count == 0)
        file.execute("ROLLBACK")
        try stack.context.save()
        #expect(count == 1)
        #expect(try written()["token"] as? Int == 7)
    }

    @Test func aLockedStoreThatNothingIsWrittenToIsNotWaitedFor() throws {
        _ = try addOther(timeout: 0.05)
        try insert()
        let file = other.file
        file.execute("BEGIN IMMEDIATE")
        try stack.context.save()
        #expect(count == 1)
        file.execute("ROLLBACK")
    }

    @Test(arguments: StoreKind.persistent) func metadataStayPendingWhereObjectsMeetAConflict(kind: StoreKind) throws {
        let run = try Self(kind)
        let store = try run.addOther()
        try run.insert()
        try run.stack.context.save()
        let item = try #require(try run.stack.context.objects("Item").first)
        item.setValue("mine", forKey: "name")
        #expect(run.stack.file.execute("UPDATE ZITEM SET ZNAME = 'theirs', Z_OPT = 2"))
        run.stack.coordinator.setMetadata(["token": 7], for: store)
        #expect(errorThrown { try run.stack.context.save() }?.code == CocoaError.Code.managedObjectMerge.rawValue)
        #expect(try run.written()["token"] == nil)
        run.stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try run.stack.context.save()
        #expect(run.stack.file.value("SELECT ZNAME FROM ZITEM") == "mine")
        #expect(try run.written()["token"] as? Int == 7)
    }

    @Test func aSaveWithoutObjectsWritesTheMetadataOfAllStores() throws {
        let store = try addOther()
        let first = try #require(stack.coordinator.persistentStores.first)
        for store in [first, store] { stack.coordinator.setMetadata(["token": 7], for: store) }
        try stack.context.save()
        #expect(try written()["token"] as? Int == 7)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)
        #expect(metadata["token"] as? Int == 7)
    }
}
