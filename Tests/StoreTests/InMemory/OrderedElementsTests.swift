import TestSupport
import Testing

@testable import CoreData

/// Elements by key and in order, against a plain array.
struct OrderedElementsTests {
    private typealias Elements = OrderedElements<Int, String>

    private func texts(_ elements: Elements) -> [String] { elements.places.compactMap(\.self) }

    @Test func elementsStayInTheOrderInWhichTheirKeysCame() {
        var elements = Elements()
        for key in [3, 1, 2] { elements.put("\(key)", for: key) }
        elements.put("one", for: 1)
        #expect(texts(elements) == ["3", "one", "2"])
        #expect(elements[1] == "one")
        #expect(elements[4] == nil)
        #expect(elements.contains(2))
        #expect(!elements.contains(4))
    }

    @Test(arguments: 0..<20) func randomChangesAreThoseOfAnArray(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var elements = Elements()
        var expected: [Int] = []
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<200, using: &generator)
            if Bool.random(using: &generator) {
                elements.put("\(key)", for: key)
                if !expected.contains(key) { expected.append(key) }
            } else {
                elements.remove(key) { Int($0) ?? -1 }
                expected.removeAll { $0 == key }
            }
            #expect(elements.count == expected.count)
        }
        #expect(texts(elements) == expected.map { "\($0)" })
        #expect(expected.allSatisfy { elements[$0] == "\($0)" })
        // What was removed takes no room for long.
        #expect(elements.places.count <= max(2 * expected.count, 64) + 1)
    }

    /// With as many members as cannot each be looked for among all others.
    @Test func manyMembersOfAnOrderedRelationshipAreSavedInTheirOrder() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.company())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
        var tasks = (0..<(LongTests.areEnabled ? 50_000 : 10_000)).map { _ in
            NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
        }
        employee.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        try context.save()
        func stored() throws -> [NSManagedObjectID] {
            let other = coordinator.newContext()
            let found = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
            return (found.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.objectID
            } ?? []
        }
        #expect(try stored() == tasks.map(\.objectID))
        tasks.reverse()
        let gone = tasks.removeLast()
        employee.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        context.delete(gone)
        try context.save()
        #expect(try stored() == tasks.map(\.objectID))
    }
}
