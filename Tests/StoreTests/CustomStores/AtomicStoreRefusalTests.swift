import Testing

@testable import CoreData

/// A record that keeps its values in a place of its own.
private final class PlainNode: NSAtomicStoreCacheNode, @unchecked Sendable {
    // Sendable: only saves and loads touch it, one at a time.
    private var values: [String: Any] = [:]

    override func value(forKey key: String) -> Any? { values[key] }

    override func setValue(_ value: Any?, forKey key: String) { values[key] = value }
}

/// Writes a line for each record, unless there is no room.
private final class FullDiskStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: tests use it on one thread.
    static let storeType = NSPersistentStore.StoreType(rawValue: "FullDisk")
    private(set) var lines: [String] = []
    var isFull = false
    var usesPlainNodes = false

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func load() throws {}

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        guard usesPlainNodes else { return super.newCacheNode(for: managedObject) }
        let node = PlainNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    private func name(_ node: Any?) -> String {
        (node as? NSAtomicStoreCacheNode)?.value(forKey: "name") as? String ?? "nobody"
    }

    override func save() throws {
        if isFull { throw CocoaError(.fileWriteOutOfSpace) }
        lines = cacheNodes().map { node in
            let staff = (node.value(forKey: "employees") as? NSSet)?.allObjects.map(name).sorted().joined(
                separator: ", ")
            return name(node) + " > " + (staff ?? name(node.value(forKey: "department")))
        }.sorted()
    }
}

@Suite("Saves that an atomic store refuses")
struct AtomicStoreRefusalTests {
    /// Ann works in sales and is about to be called Eve and to move to research, with Ben, who is
    /// new.
    @Test(arguments: [false, true]) func whatWasNotSavedIsNotInTheNextFile(usesPlainNodes: Bool) throws {
        NSPersistentStoreCoordinator.registerStoreClass(FullDiskStore.self, type: FullDiskStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let url = URL(fileURLWithPath: "/disk/\(UUID().uuidString)")
        let store = try #require(
            try coordinator.addPersistentStore(type: FullDiskStore.storeType, at: url) as? FullDiskStore)
        store.usesPlainNodes = usesPlainNodes
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: context)
            let research = try SampleStacks.insert("Department", ["name": "Research"], into: context)
            let ann = try SampleStacks.insert("Employee", ["name": "Ann", "department": sales], into: context)
            let old = try SampleStacks.insert("Employee", ["name": "Old", "department": sales], into: context)
            try context.save()
            #expect(store.lines == ["Ann > Sales", "Old > Sales", "Research > ", "Sales > Ann, Old"])

            ann.setValue("Eve", forKey: "name")
            ann.setValue(research, forKey: "department")
            ann.setValue(1000, forKey: "salary")
            _ = try SampleStacks.insert("Employee", ["name": "Ben", "department": research], into: context)
            context.delete(old)
            store.isFull = true
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            #expect(store.cacheNode(for: ann.objectID)?.value(forKey: "salary") == nil)

            store.isFull = false
            _ = try SampleStacks.insert("Employee", ["name": "Cid"], into: context)
            try context.save()
            #expect(store.lines == ["Ann > Sales", "Cid > nobody", "Old > Sales", "Research > ", "Sales > Ann, Old"])
        }
    }
}
