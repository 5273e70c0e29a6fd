import CoreData
import Foundation
import TestSupport
import Testing

/// Long ordered relationships, which are changed in blocks.
struct LongOrderedSetTests {
    private let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext
    private let owner: NSManagedObject
    private let items: [NSManagedObject]

    init() throws {
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [NSAttributeDescription("number", .integer64AttributeType)])
        relate(owner, "items", toMany: true, ordered: true, item, inverse: "owner")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([owner, item]))
        _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        self.context = context
        self.owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        items = (0..<6000).map { number in
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(number, forKey: "number")
            return item
        }
    }

    /// One change, made to the relationship and to an ordered set of Foundation's own.
    private func step(_ set: NSMutableOrderedSet, _ expected: NSMutableOrderedSet, _ random: inout SeededGenerator) {
        let (count, item) = (expected.count, items.randomElement(using: &random) ?? items[0])
        let (first, second) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: for set in [set, expected] { set.insert(item, at: first) }
        case 1: for set in [set, expected] { set.removeObject(at: first) }
        case 2: for set in [set, expected] { set.add(item) }
        case 3: for set in [set, expected] { set.exchangeObject(at: first, withObjectAt: second) }
        case 4 where expected.contains(item): for set in [set, expected] { set.remove(item) }
        case 5 where !expected.contains(item): for set in [set, expected] { set.replaceObject(at: first, with: item) }
        case 6:
            let indexes = IndexSet([first, second, count - 1])
            let place = min(first, count - indexes.count)
            set.moveObjects(at: indexes, to: place)
            let moved = indexes.map { expected[$0] }
            for index in indexes.reversed() { expected.removeObject(at: index) }
            for (offset, object) in moved.enumerated() { expected.insert(object, at: place + offset) }
        default:
            #expect(set.index(of: item) == expected.index(of: item))
            #expect(set.contains(item) == expected.contains(item))
        }
    }

    private func isSame(_ set: NSOrderedSet, _ expected: NSOrderedSet) -> Bool {
        set.count == expected.count && set.array.elementsEqual(expected.array) { $0 as AnyObject === $1 as AnyObject }
            && set.firstObject as AnyObject? === expected.firstObject as AnyObject?
            && set.lastObject as AnyObject? === expected.lastObject as AnyObject? && set.set == expected.set
    }

    @Test(arguments: LongTests.some(1, of: [1, 2, 3] as [UInt64]))
    func randomChangesMakeWhatFoundationsOrderedSetHas(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = owner.mutableOrderedSetValue(forKey: "items")
        let expected = NSMutableOrderedSet()
        for item in items[..<4500] { for set in [set, expected] { set.add(item) } }
        for number in 0..<400 {
            step(set, expected, &random)
            if number % 50 == 0 { try #require(isSame(set, expected), "change \(number)") }
            if number == 200 { try context.save() }
            if number == 300 {
                for set in [set, expected] { set.sort(using: [NSSortDescriptor(key: "number", ascending: false)]) }
                try #require(isSame(set, expected), "after sorting")
            }
        }
        try context.save()
        let other = coordinator.newContext()
        let saved = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first)
        let numbers = { (set: NSOrderedSet) in
            set.compactMap { ($0 as? NSManagedObject)?.value(forKey: "number") as? Int }
        }
        #expect(numbers(try #require(saved.value(forKey: "items") as? NSOrderedSet)) == numbers(expected))
    }

    @Test func changesMadeElsewhereAreSeenAtOnce() {
        let set = owner.mutableOrderedSetValue(forKey: "items")
        for item in items[..<100] { set.add(item) }
        let array = owner.mutableArrayValue(forKey: "items")
        array.exchangeObject(at: 0, withObjectAt: 99)
        #expect(set.firstObject as AnyObject? === items[99])
        #expect(set.lastObject as AnyObject? === items[0])
        items[99].setValue(nil, forKey: "owner")
        #expect(set.firstObject as AnyObject? === items[1])
        #expect(set.array.count == 99)
        #expect(!set.set.contains(items[99]))
        set.removeAllObjects()
        #expect(array.count == 0)
        #expect(set.array.isEmpty)
        #expect(set.reversed.count == 0)
    }

    @Test func aRolledBackOrderIsTheSavedOne() throws {
        let set = owner.mutableOrderedSetValue(forKey: "items")
        for item in items { set.insert(item, at: 0) }
        try context.save()
        set.moveObjects(at: [0, 10, 5000], to: 3000)
        for _ in 0..<50 { set.removeObject(at: 20) }
        set.exchangeObject(at: 3, withObjectAt: 5000)
        context.rollback()
        #expect(set.array.elementsEqual(items.reversed()) { $0 as AnyObject === $1 })
        #expect(!context.hasChanges)
    }
}
