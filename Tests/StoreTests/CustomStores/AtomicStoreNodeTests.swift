import Testing

@testable import CoreData

/// Notes at each save who works where, as its nodes say.
final class StaffListStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: the notes are guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "StaffList")
    private let lock = NSLock()
    private var written: [String] = []
    private var removed: [String] = []

    /// "Employee > Department" and "Department > Employee, Employee", in order.
    var lines: [String] { lock.withLock { written } }
    /// The names of the nodes that were about to be removed.
    var removedNames: [String] { lock.withLock { removed } }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func load() throws {}

    private func name(_ node: Any?) -> String {
        (node as? NSAtomicStoreCacheNode)?.value(forKey: "name") as? String ?? "nobody"
    }

    override func save() throws {
        let lines = cacheNodes().map { node in
            let staff = (node.value(forKey: "employees") as? NSSet)?.allObjects.map(name).sorted().joined(
                separator: ", ")
            return name(node) + " > " + (staff ?? name(node.value(forKey: "department")))
        }
        lock.withLock { written = lines.sorted() }
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        let names = cacheNodes.map { cacheNode(for: $0.objectID) === $0 ? name($0) : "removed already" }
        lock.withLock { removed += names.sorted() }
    }
}

@Suite("Nodes of atomic stores")
struct AtomicStoreNodeTests {
    private let context: NSManagedObjectContext
    private let store: StaffListStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(StaffListStore.self, type: StaffListStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let url = URL(fileURLWithPath: "/staff/\(UUID().uuidString)")
        store = try #require(
            try coordinator.addPersistentStore(type: StaffListStore.storeType, at: url) as? StaffListStore)
        context = SampleStacks.context(coordinator)
    }

    /// New nodes are made one after the other, so that some lead to nodes that come later.
    @Test func nodesOfOneSaveLeadToEachOther() throws {  // 312
        try context.performAndWait { () throws in
            let ann = try SampleStacks.insert("Employee", ["name": "Ann"], into: context)
            let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: context)
            let ben = try SampleStacks.insert("Employee", ["name": "Ben"], into: context)
            for employee in [ann, ben] { employee.setValue(sales, forKey: "department") }
            try context.save()
        }
        #expect(store.lines == ["Ann > Sales", "Ben > Sales", "Sales > Ann, Ben"])
    }

    @Test func theStoreHearsOfNodesBeforeTheyGo() throws {  // 312
        try context.performAndWait { () throws in
            _ = try SampleStacks.insert("Employee", ["name": "Ann"], into: context)
            let ben = try SampleStacks.insert("Employee", ["name": "Ben"], into: context)
            try context.save()
            #expect(store.removedNames == [])
            context.delete(ben)
            try context.save()
        }
        #expect(store.removedNames == ["Ben"])
        #expect(store.lines == ["Ann > nobody"])
    }
}

/// A store as it is written for a Mac: its initializer gives it metadata, and nothing loads them.
private final class PlainListStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: no state of its own.
    static let storeType = NSPersistentStore.StoreType(rawValue: "PlainList")

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]?
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        if url.lastPathComponent == "known" {
            metadata = [NSStoreTypeKey: "PlainList", NSStoreUUIDKey: "known", "owner": "Ann"]
        }
    }

    override var type: String { Self.storeType.rawValue }
    override func load() throws {}
    override func save() throws {}
}

struct AtomicStoreMetadataTests {
    @Test(arguments: ["known", "unknown"]) func metadataNeedNotBeLoaded(name: String) throws {
        NSPersistentStoreCoordinator.registerStoreClass(PlainListStore.self, type: PlainListStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let url = URL(fileURLWithPath: "/plain/\(UUID().uuidString)/\(name)")
        let store = try coordinator.addPersistentStore(type: PlainListStore.storeType, at: url)
        #expect(store.metadata[NSStoreTypeKey] as? String == "PlainList")
        #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(store.metadata["owner"] as? String == (name == "known" ? "Ann" : nil))
        #expect((store.identifier == "known") == (name == "known"))
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            _ = try SampleStacks.insert("Employee", ["name": "Ann"], into: context)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee")) == 1)
        }
    }

    /// One class for two types, which it does not name.
    @Test(arguments: ["First", "Second"]) func aClassNeedNotNameItsType(name: String) throws {
        let type = NSPersistentStore.StoreType(rawValue: "Nameless" + name)
        NSPersistentStoreCoordinator.registerStoreClass(NamelessListStore.self, type: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try coordinator.addPersistentStore(
            type: type, at: URL(fileURLWithPath: "/plain/\(UUID().uuidString)"))
        #expect(store is NamelessListStore)
        #expect(store.type == type.rawValue)
        #expect(store.metadata[NSStoreTypeKey] as? String == type.rawValue)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            _ = try SampleStacks.insert("Employee", ["name": "Ann"], into: context)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee")) == 1)
        }
    }
}

/// A store that overrides no more than it must.
private final class NamelessListStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: no state of its own.
    override func load() throws {}
    override func save() throws {}
}
