import Testing

@testable import CoreData

/// A store of one employee in one department, whose records say nothing about relationships.
private final class StaffStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: the questions are guarded by the lock, all else is constant after the start.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Staff")

    private let lock = NSLock()
    private var asked: [String] = []

    /// The relationships that were asked for, in their order.
    var questions: [String] { lock.withLock { asked } }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else {
            return [Any]()
        }
        return [context.object(with: newObjectID(for: entity, referenceObject: "only"))]
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let name = objectID.entity.name ?? ""
        let values: [String: Any] = name == "Task" ? ["title": name, "assignee": NSNull()] : ["name": name]
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        lock.withLock { asked.append(relationship.name) }
        guard !relationship.isToMany, let destination = relationship.destinationEntity else {
            return [NSManagedObjectID]()
        }
        return newObjectID(for: destination, referenceObject: "only")
    }
}

@Suite("Relationships that a node leaves out")
struct OmittedRelationshipTests {
    private static func open() throws -> (store: StaffStore, context: NSManagedObjectContext) {
        NSPersistentStoreCoordinator.registerStoreClass(StaffStore.self, type: StaffStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let added = try coordinator.addPersistentStore(type: StaffStore.storeType, at: URL(fileURLWithPath: "/staff"))
        return (try #require(added as? StaffStore), SampleStacks.context(coordinator))
    }

    @Test func theStoreIsAskedForAToOneRelationshipThatTheNodeLeavesOut() throws {
        let (store, context) = try Self.open()
        try context.performAndWait { () throws in
            let employee = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
            let department = try #require(employee.value(forKey: "department") as? NSManagedObject)
            #expect(department.entity.name == "Department")
            #expect(department.value(forKey: "name") as? String == "Department")
        }
        #expect(store.questions.filter { $0 == "department" } == ["department"])
    }

    @Test func aNullInTheNodeIsAnAnswer() throws {
        let (store, context) = try Self.open()
        try context.performAndWait { () throws in
            let task = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Task")).first)
            #expect(task.value(forKey: "title") as? String == "Task")
            #expect(task.value(forKey: "assignee") == nil)
        }
        #expect(!store.questions.contains("assignee"))
    }

    @Test func aNodeTellsWhatItLeavesOut() throws {
        let (store, context) = try Self.open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Employee"])
        let department = try #require(entity.relationshipsByName["department"])
        let id = store.newObjectID(for: entity, referenceObject: "only")
        #expect(NSIncrementalStoreNode(objectID: id, withValues: [:], version: 1).value(for: department) == nil)
        let null = NSIncrementalStoreNode(objectID: id, withValues: ["department": NSNull()], version: 1)
        #expect(null.value(for: department) is NSNull)
    }
}
