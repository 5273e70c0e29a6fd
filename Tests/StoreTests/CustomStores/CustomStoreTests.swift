import TestSupport
import Testing

@testable import CoreData

/// A file of one line per tag, as an application would write it.
final class TagListStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: the calls are guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "TagList")
    private let lock = NSLock()
    private var calls: [String] = []

    /// The calls of the framework since the last look.
    func takeCalls() -> [String] {
        lock.withLock {
            defer { calls = [] }
            return calls
        }
    }

    private func note(_ call: String) { lock.withLock { calls.append(call) } }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "4D1E7B57-6A44-4B0E-9F0B-0A3B6C0F7E11"]
    }

    override func load() throws {
        note("load")
        guard let url, FileManager.default.fileExists(atPath: url.path),
            let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Tag"]
        else { return }
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        addCacheNodes(
            Set(
                lines.map { line in
                    let fields = line.split(separator: "=", maxSplits: 1).map(String.init)
                    let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: fields[0]))
                    node.setValue(fields[1], forKey: "name")
                    return node
                }))
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        note("node \(managedObject.value(forKey: "name") as? String ?? "")")
        return super.newCacheNode(for: managedObject)
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        note("update \(node.value(forKey: "name") as? String ?? "")")
        super.updateCacheNode(node, from: managedObject)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        note("reference \(managedObject.value(forKey: "name") as? String ?? "")")
        return "tag-\(managedObject.value(forKey: "name") as? String ?? "")"
    }

    override func save() throws {
        note("save")
        guard let url else { return }
        let lines = cacheNodes().map { node in
            "\(referenceObject(for: node.objectID))=\(node.value(forKey: "name") as? String ?? "")"
        }
        try lines.sorted().joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8)
    }
}

/// Records in a dictionary, as a stand-in for a service.
final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: the records are guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Service")
    let lock = NSLock()
    private var records: [String: String] = [:]
    private var requested: [String] = []

    var log: [String] { lock.withLock { requested } }

    private func note(_ line: String) { lock.withLock { requested.append(line) } }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            // A save that only inserts names no others, and says so.
            note("save \(save.insertedObjects?.count ?? -1) \(save.deletedObjects?.count ?? -1)")
            for object in save.insertedObjects ?? [] {
                let reference = referenceObject(for: object.objectID) as? String ?? ""
                let name = object.value(forKey: "name") as? String
                lock.withLock { records[reference] = name }
            }
            return [Any]()
        }
        note("fetch")
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else {
            return [Any]()
        }
        let references = lock.withLock { records.keys.sorted() }
        return references.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let reference = referenceObject(for: objectID) as? String ?? ""
        note("values \(reference)")
        guard let name = lock.withLock({ records[reference] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name], version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        note("relationship \(relationship.name)")
        return relationship.isToMany ? [NSManagedObjectID]() : NSNull()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        note("ids \(array.count)")
        return array.map { object in
            newObjectID(for: object.entity, referenceObject: "r-\(object.value(forKey: "name") as? String ?? "")")
        }
    }
}

/// A store that answers no request.
final class SilentStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: adds no state.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Silent")

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }
}

@Suite("Custom stores")
struct CustomStoreTests {
    @Test func anAtomicStoreLoadsNodesAndSavesThem() throws {  // 312
        NSPersistentStoreCoordinator.registerStoreClass(TagListStore.self, type: TagListStore.storeType)
        let directory = try TemporaryFolder()
        let url = directory.file("tags.txt")
        try "tag-old=old".write(to: url, atomically: true, encoding: .utf8)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try #require(
            try coordinator.addPersistentStore(type: TagListStore.storeType, at: url) as? TagListStore)
        #expect(store.takeCalls() == ["load"])
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            #expect(try SampleStacks.names(context, "Tag") == ["old"])
            let new = try SampleStacks.insert("Tag", ["name": "new"], into: context)
            try context.save()
            #expect(store.takeCalls().filter { !$0.hasPrefix("update") } == ["reference new", "node new", "save"])
            #expect(store.referenceObject(for: new.objectID) as? String == "tag-new")
            #expect(store.objectID(for: new.entity, withReferenceObject: "tag-new") == new.objectID)
            #expect(store.cacheNode(for: new.objectID)?.value(forKey: "name") as? String == "new")
            #expect(try String(contentsOf: url, encoding: .utf8) == "tag-new=new\ntag-old=old")
            new.setValue("newer", forKey: "name")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.predicate = NSPredicate(format: "name == 'old'")
            context.delete(try #require(context.fetch(request).first))
            try context.save()
            #expect(store.takeCalls() == ["update new", "save"])
            #expect(try String(contentsOf: url, encoding: .utf8) == "tag-new=newer")
        }
    }

    @Test func anAtomicStoreThatCannotSaveKeepsItsNodes() throws {
        NSPersistentStoreCoordinator.registerStoreClass(TagListStore.self, type: TagListStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try coordinator.addPersistentStore(
            type: TagListStore.storeType, at: URL(fileURLWithPath: "/nowhere/at/all/tags.txt"))
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            _ = try SampleStacks.insert("Tag", ["name": "new"], into: context)
            #expect(throws: (any Error).self) { try context.save() }
        }
        #expect((store as? TagListStore)?.cacheNodes().isEmpty == true)
        let fresh = SampleStacks.context(coordinator)
        #expect(try fresh.performAndWait { try SampleStacks.names(fresh, "Tag") } == [])
    }

    @Test func anIncrementalStoreIsAskedInTheDocumentedOrder() throws {  // 313
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let added = try coordinator.addPersistentStore(
            type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
        let store = try #require(added as? ServiceStore)
        let first = SampleStacks.context(coordinator)
        let uri = try first.performAndWait {
            let tag = try SampleStacks.insert("Tag", ["name": "red"], into: first)
            try first.save()
            return tag.objectID.uriRepresentation()
        }
        #expect(store.log == ["ids 1", "save 1 0"])
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) != nil)
        let second = SampleStacks.context(coordinator)
        try second.performAndWait { () throws in
            let tag = try #require(second.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
            #expect(tag.value(forKey: "name") as? String == "red")
            #expect(NodeValue.elements(of: tag.value(forKey: "employees")).isEmpty)
        }
        #expect(store.log.dropFirst(2) == ["fetch", "values r-red", "relationship employees"])
    }

    @Test(
        "313: any text of a reference comes back from its URI",
        arguments: ["a%20b", "key with/slash", "100%", "ä?#&=;", "a/../b"])
    func referencesComeBackFromURIs(name: String) throws {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let added = try coordinator.addPersistentStore(
            type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
        let store = try #require(added as? ServiceStore)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait {
            let tag = try SampleStacks.insert("Tag", ["name": name], into: context)
            try context.save()
            let uri = try #require(URL(string: tag.objectID.uriRepresentation().absoluteString))
            let objectID = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(objectID == tag.objectID)
            #expect(store.referenceObject(for: objectID) as? String == "r-" + name)
            withExtendedLifetime(tag) {}
        }
    }

    @Test func eachNewObjectGetsTheIDThatAnIncrementalStoreGaveAtItsPlace() throws {  // 313
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try #require(
            try coordinator.addPersistentStore(type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
                as? ServiceStore)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            let tags = try ["a", "b", "c", "d", "e"].map { try SampleStacks.insert("Tag", ["name": $0], into: context) }
            try context.save()
            #expect(
                tags.map { store.referenceObject(for: $0.objectID) as? String } == ["r-a", "r-b", "r-c", "r-d", "r-e"])
            #expect(store.log == ["ids 5", "save 5 0"])
        }
    }

    @Test func nullFromAnIncrementalStoreIsNoObject() throws {  // 313
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try #require(
            try coordinator.addPersistentStore(type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
                as? ServiceStore)
        let first = SampleStacks.context(coordinator)
        try first.performAndWait { () throws in
            _ = try SampleStacks.insert("Employee", ["name": "Ada"], into: first)
            try first.save()
        }
        let second = SampleStacks.context(coordinator)
        try second.performAndWait { () throws in
            let employee = try #require(second.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
            #expect(employee.value(forKey: "department") == nil)
        }
        #expect(store.log.contains("relationship department"))
    }

    @Test func aStoreGetsRequestsAsOneTypeWhateverTheyWereDeclaredFor() throws {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        try coordinator.addPersistentStore(type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            _ = try SampleStacks.insert("Tag", ["name": "red"], into: context)
            try context.save()
            #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).count == 1)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Tag")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.fetch(ids).count == 1)
            let number = NSFetchRequest<NSNumber>(entityName: "Tag")
            number.resultType = .countResultType
            #expect(try context.fetch(number) == [1])
            #expect(try context.fetch(NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")).count == 1)
        }
    }

    @Test func aStoreRefusesRequestsThatItDoesNotKnow() throws {  // 338
        NSPersistentStoreCoordinator.registerStoreClass(SilentStore.self, type: SilentStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        try coordinator.addPersistentStore(type: SilentStore.storeType, at: URL(fileURLWithPath: "/silence"))
        let context = SampleStacks.context(coordinator)
        context.performAndWait {
            let error = #expect(throws: (any Error).self) {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            }
            #expect((error as NSError?)?.code == NSPersistentStoreUnsupportedRequestTypeError)
        }
    }

    @Test func recordsAreNamedByNumbersOfAnyKind() throws {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: ServiceStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let added = try coordinator.addPersistentStore(
            type: ServiceStore.storeType, at: URL(fileURLWithPath: "/service"))
        let store = try #require(added as? ServiceStore)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
        func id(_ reference: Any) -> NSManagedObjectID { store.newObjectID(for: entity, referenceObject: reference) }
        let references: [Any] = [
            1, 1.25, 1.75, NSDecimalNumber(string: "2.5"), NSDecimalNumber(string: "7"), Int64.max, "1",
        ]
        let ids = references.map(id)
        #expect(Set(ids).count == references.count)
        #expect(references.map(id) == ids)
        #expect(id(NSDecimalNumber(string: "1.25")) == ids[1])
        #expect(id(7) == ids[4])
    }
}
