import CoreData
import TestSupport
import Testing

/// Rows that change with others, which the history of those does not name.
struct FollowedDependentRowTests {
    private static func model() -> NSManagedObjectModel {
        let list = NSEntityDescription(
            "List", class: "NSManagedObject",
            [
                .init("name", .stringAttributeType),
                NSDerivedAttributeDescription("count", .integer32AttributeType, from: "entries.@count"),
            ])
        let entry = NSEntityDescription("Entry", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let track = NSEntityDescription("Track", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(list, "entries", toMany: true, entry, inverse: "list")
        list.properties += [NSRelationshipDescription("tracks", to: track, toMany: true)]
        let label = NSEntityDescription("Label", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        label.properties += [NSRelationshipDescription("track", to: track)]
        return NSManagedObjectModel([list, entry, track, label])
    }

    private func context(_ url: URL, _ type: String) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url,
            options: [
                NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        let context = coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        return context
    }

    private func list(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "List")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    private func insert(_ entity: String, _ values: [String: Any], into context: NSManagedObjectContext) throws
        -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        try context.save()
        return object
    }

    @Test(.stores(StoreKind.persistent)) func derivedValuesFollow() throws {
        let folder = try TemporaryFolder()
        let kind = StoreKind.current
        let url = try #require(kind.url(folder.file("lists.sqlite")))
        let (other, held) = (try context(url, kind.type), try context(url, kind.type))
        let made = try insert("List", ["name": "A"], into: other)
        let same = try held.performAndWait { try list("A", in: held) }
        #expect(held.performAndWait { same.value(forKey: "count") as? Int } == 0)
        for number in 1...3 {
            _ = try insert("Entry", ["name": "\(number)", "list": made], into: other)
            #expect(wait(upTo: 60) { held.performAndWait { same.value(forKey: "count") as? Int == number } })
        }
    }

    @Test(.stores(StoreKind.persistent)) func aMemberWithoutAnInverseHasOneOwner() throws {
        let folder = try TemporaryFolder()
        let kind = StoreKind.current
        let url = try #require(kind.url(folder.file("lists.sqlite")))
        let (other, held) = (try context(url, kind.type), try context(url, kind.type))
        let track = try insert("Track", ["name": "T"], into: other)
        let first = try insert("List", ["name": "A", "tracks": Set([track])], into: other)
        let second = try insert("List", ["name": "B"], into: other)
        let (sameFirst, sameSecond) = try held.performAndWait { (try list("A", in: held), try list("B", in: held)) }
        func counts() -> [Int] {
            held.performAndWait {
                [sameFirst, sameSecond].map { ($0.value(forKey: "tracks") as? Set<NSManagedObject>)?.count ?? -1 }
            }
        }
        #expect(counts() == [1, 0])
        first.setValue("renamed", forKey: "name")
        try other.save()
        #expect(wait(upTo: 60) { held.performAndWait { sameFirst.value(forKey: "name") as? String == "renamed" } })
        second.setValue(Set([track]), forKey: "tracks")
        try other.save()
        #expect(wait(upTo: 60) { counts() == [0, 1] })
    }

    /// The server clears such references. The history names the deleted object and the renamed one,
    /// and not the row that led to the first.
    @Test(.stores(StoreKind.allCases.filter { $0 == .postgreSQL }))
    func aReferenceWithoutAnInverseEndsWithItsObject() throws {
        let folder = try TemporaryFolder()
        let kind = StoreKind.current
        let url = try #require(kind.url(folder.file("lists.sqlite")))
        let (other, held) = (try context(url, kind.type), try context(url, kind.type))
        let track = try insert("Track", ["name": "T"], into: other)
        let made = try insert("List", ["name": "A"], into: other)
        _ = try insert("Label", ["name": "L", "track": track], into: other)
        let (list, label) = try held.performAndWait {
            let labels = try held.fetch(NSFetchRequest<NSManagedObject>(entityName: "Label"))
            return (try self.list("A", in: held), try #require(labels.first))
        }
        #expect(held.performAndWait { label.value(forKey: "name") as? String } == "L")
        func rename(_ name: String) throws {
            made.setValue(name, forKey: "name")
            try other.save()
            #expect(wait(upTo: 60) { held.performAndWait { list.value(forKey: "name") as? String == name } })
        }
        // The first change after the store was opened is merged whatever the history names.
        try rename("B")
        other.delete(track)
        try rename("C")
        #expect(held.performAndWait { label.value(forKey: "track") == nil })
    }
}
