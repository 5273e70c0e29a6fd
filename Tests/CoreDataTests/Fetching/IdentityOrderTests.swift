import CoreData
import TestSupport
import Testing

/// Orders by the identity of objects are the same in every store, with and without unsaved objects.
@Suite(.everyStore) struct IdentityOrderTests {
    private let stack: TestStack

    init() throws {
        let item = NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let part = NSEntityDescription("Part", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(item, "parts", toMany: true, part, inverse: "item")
        stack = try TestStack([item, part])
        // One save each: their keys are in this order.
        for name in ["c", "a", "b"] {
            insert("Item", name)
            try stack.context.save()
        }
    }

    @discardableResult
    private func insert(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSManagedObject(entity: stack.entity(entity), insertInto: stack.context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func names(
        _ key: String, ascending: Bool, of entity: String = "Item", in context: NSManagedObjectContext? = nil
    ) throws
        -> [String]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
        return try (context ?? stack.context).fetch(request).compactMap { $0.value(forKey: "name") as? String }
    }

    @Test(arguments: ["objectID", "self", "SELF"]) func rowsAreInTheOrderOfTheirKeys(key: String) throws {
        #expect(try names(key, ascending: true) == ["c", "a", "b"])
        #expect(try names(key, ascending: false) == ["b", "a", "c"])
        #expect(try names(key, ascending: false, in: stack.newContext()) == ["b", "a", "c"])
    }

    @Test(arguments: ["objectID", "self"]) func newObjectsComeBehindAllRows(key: String) throws {
        for name in ["z", "y"] { insert("Item", name) }
        #expect(try names(key, ascending: true) == ["c", "a", "b", "z", "y"])
        #expect(try names(key, ascending: false) == ["y", "z", "b", "a", "c"])
    }

    @Test(arguments: ["objectID", "self"]) func aChangedObjectStaysInItsPlace(key: String) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        for object in try stack.context.fetch(request) where object.value(forKey: "name") as? String == "a" {
            object.setValue("x", forKey: "name")
        }
        request.predicate = NSPredicate(format: "name != 'a'")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
        #expect(try stack.context.fetch(request).compactMap { $0.value(forKey: "name") as? String } == ["b", "x", "c"])
    }

    @Test(arguments: ["item", "item.objectID", "item.self"]) func destinationsAreInTheOrderOfTheirKeys(key: String)
        throws
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        for object in try stack.context.fetch(request) {
            insert("Part", "part of \(object.value(forKey: "name") ?? "")").setValue(object, forKey: "item")
        }
        insert("Part", "alone")
        let ascending = ["alone", "part of c", "part of a", "part of b"]
        #expect(try names(key, ascending: true, of: "Part") == ascending)
        try stack.context.save()
        #expect(try names(key, ascending: true, of: "Part", in: stack.newContext()) == ascending)
        #expect(try names(key, ascending: false, of: "Part", in: stack.newContext()) == ascending.reversed())
    }

    @Test func objectsAreSortedAlikeOutsideOfFetches() throws {
        insert("Item", "z")
        let all = NSSet(array: try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")))
        let sorted = all.sortedArray(using: [NSSortDescriptor(key: "objectID", ascending: false)])
        #expect(
            sorted.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["z", "b", "a", "c"])
    }

    @Test func dictionariesAreSortedAlike() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: false)]
        #expect(try stack.newContext().fetch(request).compactMap { $0["name"] as? String } == ["b", "a", "c"])
    }
}
