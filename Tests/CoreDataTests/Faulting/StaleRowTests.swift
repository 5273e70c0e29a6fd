import TestSupport
import Testing

@testable import CoreData

/// Rows that were read while others saved.
struct StaleRowTests {
    private let cache = RowCache()
    private let library: Library
    private let layout: EntityLayout

    init() throws {
        library = try Library(.inMemory)
        layout = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"]).resolvedLayout
    }

    private func row(version: Int64) -> [RowPage] {
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        _ = builder.appendRow(key: 1, version: version)
        return builder.finish()
    }

    @Test func rowsThatWereReadAreCached() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        #expect(cache.snapshot(for: 1)?.version == 1)
        withExtendedLifetime(read) {}
    }

    @Test func aRowReadBeforeASaveIsNotCachedAfterIt() {
        let generation = cache.generation
        // The context that saved the newer row is gone already, and the row with it.
        cache.insert(row(version: 2))
        #expect(cache.snapshot(for: 1) == nil)
        let read = row(version: 1)
        cache.insert(read, readAt: generation)
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func aRowReadBeforeItsDeletionIsNotCachedAfterIt() {
        let generation = cache.generation
        cache.remove(1)
        let read = row(version: 1)
        cache.insert(read, readAt: generation)
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func aRowThatNobodyLookedForDoesNotComeBackWhenTheSavedOneGoes() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        // Gone at once, as above.
        cache.insert(row(version: 2))
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func aDeletedRowDoesNotComeBackFromTheRowsThatNobodyLookedFor() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        cache.remove(1)
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func aRecordReadBeforeASaveIsNotCachedAfterIt() throws {
        let stack = try NameStack()
        let reader = stack.coordinator.newContext()
        let object = reader.object(with: stack.objectID)
        stack.store.whileReading = {
            let writer = stack.coordinator.newContext()
            try? writer.existingObject(with: stack.objectID).setValue("new", forKey: "name")
            try? writer.save()
        }
        #expect(object.value(forKey: "name") as? String == "old")
        let later = stack.coordinator.newContext()
        #expect(try later.existingObject(with: stack.objectID).value(forKey: "name") as? String == "new")
        withExtendedLifetime(reader) {}
    }

    @Test func aRowInMemoryReadBeforeItsDeletionIsNotCachedAfterIt() throws {
        let author = library.context.author("Lem")
        try library.context.save()
        let key = try #require(author.objectID.key)
        let rows = try #require(library.store.snapshotStore as? MemoryRows)
        let cache = rows.rowCaches[layout.rootIndex]
        let generation = cache.generation
        let read = try #require(rows.current.row(key, of: layout))
        library.context.delete(author)
        try library.context.save()
        let published = rows.publish([read], of: layout, readAt: generation)
        #expect(cache.snapshot(for: key) == nil)
        withExtendedLifetime(published) {}
    }
}

/// Rows that are read by some while another saves.
@Suite(.everyStore) struct RowsReadBesideSavesTests {
    @Test func writersThatFollowEachOtherSeeEachOthersRowsWhileOthersRead() async throws {
        let library = try Library()
        let context = library.context
        let id = try context.performAndWait {
            let author = context.author("Lem")
            try context.save()
            return author.objectID
        }
        let coordinator = library.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 {
                    let context = coordinator.newContext()
                    try await context.perform {
                        let author = try context.existingObject(with: id) as? LibraryAuthor
                        author?.born += 1
                        try context.save()
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<300 {
                        let context = coordinator.newContext()
                        try await context.perform { _ = try context.authors() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(library.stored("born", of: "Author") == ["300"])
    }
}

/// A store of one record, which lets something happen between taking a value and handing it over.
private final class NameStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: used by one thread at a time.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Name")
    private var name = "old"
    private var version: UInt64 = 1
    /// Called once.
    var whileReading: (() -> Void)?

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        for object in (request as? NSSaveChangesRequest)?.updatedObjects ?? [] {
            name = object.value(forKey: "name") as? String ?? ""
            version += 1
        }
        return [Any]()
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let node = NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name], version: version)
        let happens = whileReading
        whileReading = nil
        happens?()
        return node
    }
}

/// A coordinator with a store of one record.
private struct NameStack {
    let coordinator: NSPersistentStoreCoordinator
    let store: NameStore
    let objectID: NSManagedObjectID

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NameStore.self, type: NameStore.storeType)
        let entity = NSEntityDescription(
            "Name", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
        let added = try coordinator.addPersistentStore(type: NameStore.storeType, at: URL(fileURLWithPath: "/names"))
        store = try #require(added as? NameStore)
        objectID = store.newObjectID(for: entity, referenceObject: 1)
    }
}
