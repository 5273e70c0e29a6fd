import CoreData
import Foundation
import TestSupport
import Testing

/// Chains of objects that go with the last reference to their first object.
struct DeepReleaseTests {
    private static let model: NSManagedObjectModel = {
        let link = NSEntityDescription(
            "Link", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(link, "kids", toMany: true, link, inverse: "parent")
        link.properties += [NSRelationshipDescription("next", to: link)]
        return NSManagedObjectModel([link])
    }()

    /// A thread with little stack.
    private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            isDone.signal()
        }
        thread.stackSize = 256 * 1024
        thread.start()
        isDone.wait()
    }

    @Test func aLongChainOfObjectsIsReleasedOnASmallStack() {
        // A stack of 256 KB has no room for as many calls within each other.
        let count = LongTests.areEnabled ? 1_000_000 : 100_000
        onSmallStack {
            let model = Self.model
            let entity = model.entities[0]
            var first: NSManagedObject? = NSManagedObject(entity: entity, insertInto: nil)
            weak let last = first
            for _ in 0..<count {
                let object = NSManagedObject(entity: entity, insertInto: nil)
                object.setValue(first, forKey: "next")
                first = object
            }
            #expect(last != nil)
            first = nil
            #expect(last == nil)
        }
    }

    @Test func aWalkDownARelationshipIsReleasedOnASmallStack() {
        onSmallStack {
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
                _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
                let context = coordinator.newContext()
                let count = LongTests.areEnabled ? 20_000 : 5_000
                try context.performAndWait {
                    try makeChain(count, context)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Link")
                    request.predicate = NSPredicate(format: "parent == nil")
                    var root = try context.fetch(request).first
                    var object = root
                    var depth = 0
                    while let current = object {
                        depth += 1
                        object = (current.value(forKey: "kids") as? NSSet)?.anyObject() as? NSManagedObject
                    }
                    #expect(depth == count)
                    #expect(context.registeredObjects.count == count)
                    root = nil
                    #expect(context.registeredObjects.isEmpty)
                    // A fetched list that is linked and saved.
                    try linkAll(context)
                    #expect(context.registeredObjects.isEmpty)
                }
            } catch {
                Issue.record(error)
            }
        }
    }
}

private func makeChain(_ count: Int, _ context: NSManagedObjectContext) throws {
    var former: NSManagedObject?
    for _ in 0..<count {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Link", into: context)
        object.setValue(former, forKey: "parent")
        former = object
    }
    try context.save()
    context.reset()
}

private func linkAll(_ context: NSManagedObjectContext) throws {
    let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Link"))
    for (former, object) in zip(objects, objects.dropFirst()) { object.setValue(former, forKey: "next") }
    try context.save()
}
