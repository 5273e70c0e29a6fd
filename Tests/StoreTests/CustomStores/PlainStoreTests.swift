import CoreData
import Testing

/// An incremental store as small as the documentation allows: no type, no UUID of its own, no URL.
private final class PlainStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: the state is guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Plain")
    private let lock = NSLock()
    private var records: [String: String] = ["a": "first", "b": "second"]
    private var used: [NSManagedObjectID: Int] = [:]

    /// How often contexts use each object.
    var uses: [Int] { lock.withLock { used.values.filter { $0 != 0 } } }

    override class func identifierForNewStore(at storeURL: URL) -> Any { "PLAIN-STORE" }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType.rawValue] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            for object in save.deletedObjects ?? [] {
                let reference = referenceObject(for: object.objectID) as? String ?? ""
                lock.withLock { records[reference] = nil }
            }
            return [Any]()
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else {
            return [Any]()
        }
        let ids = lock.withLock { records.keys.sorted() }.map { newObjectID(for: entity, referenceObject: $0) }
        if fetch.resultType == .countResultType { return [NSNumber(value: ids.count)] }
        if fetch.resultType == .managedObjectIDResultType { return ids }
        return ids.map { context.object(with: $0) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let reference = referenceObject(for: objectID) as? String ?? ""
        guard let name = lock.withLock({ records[reference] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name], version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { relationship.isToMany ? [NSManagedObjectID]() : NSNull() }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        lock.withLock { for id in objectIDs { used[id, default: 0] += 1 } }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        lock.withLock { for id in objectIDs { used[id, default: 0] -= 1 } }
    }
}

@Suite("Custom stores that leave out what they may")
struct PlainStoreTests {
    private let coordinator: NSPersistentStoreCoordinator
    private let store: PlainStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(PlainStore.self, type: PlainStore.storeType)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        store = try #require(
            try coordinator.addPersistentStore(ofType: PlainStore.storeType.rawValue, configurationName: nil, at: nil)
                as? PlainStore)
    }

    private func tags(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
    }

    @Test func theTypeIsTheRegisteredOne() { #expect(store.type == "Plain") }

    @Test func aStoreWithoutAURLIsAdded() throws {
        #expect(coordinator.persistentStores == [store])
        #expect(store.url?.isFileURL == false)
    }

    @Test func theClassNamesItsNewStore() throws {
        #expect(store.identifier == "PLAIN-STORE")
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            #expect(try tags(context).first?.objectID.uriRepresentation().host == "PLAIN-STORE")
        }
    }

    @Test func theStoreKnowsWhichObjectsAreUsed() throws {
        let first = SampleStacks.context(coordinator)
        let second = SampleStacks.context(coordinator)
        try first.performAndWait { () throws in
            var found = try tags(first)
            #expect(store.uses.sorted() == [1, 1])
            let same = try second.performAndWait { try tags(second) }
            #expect(store.uses.sorted() == [2, 2])
            found.removeLast()
            #expect(store.uses.sorted() == [1, 2])
            first.delete(try #require(found.first))
            try first.save()
            #expect(store.uses.sorted() == [1, 1])
            second.performAndWait { second.reset() }
            #expect(store.uses.isEmpty)
            #expect(same.count == 2)
        }
    }

    @Test func deletedObjectsAreNeitherFoundNorCountedNorTakenFromALimit() throws {
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            let found = try tags(context)
            context.delete(try #require(found.first { $0.value(forKey: "name") as? String == "first" }))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.fetchLimit = 1
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["second"])
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 1)
        }
    }
}
