import CoreData
import TestSupport
import Testing

/// Deletions beside rows that are older than the relationships which lead to them.
@Suite(.everyStore) struct StaleMemberTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        let person = NSEntityDescription("Person", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let team = NSEntityDescription("Team", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let seat = NSEntityDescription("Seat", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(team, "members", toMany: true, person, inverse: "team")
        relate(person, "seat", seat, inverse: "person")
        stack = try TestStack([person, team, seat])
        context = stack.context
        context.mergePolicy = NSMergePolicy.overwrite
        context.retainsRegisteredObjects = true
        for (entity, name) in [("Person", "a"), ("Team", "t"), ("Seat", "1"), ("Seat", "2")] {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue(name, forKey: "name")
        }
        try context.save()
    }

    private func object(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    @Test func aMemberThatOthersHaveLedHereLeavesWithItsOwner() throws {
        let other = stack.newContext()
        try object("Person", "a", other).setValue(object("Team", "t", other), forKey: "team")
        try other.save()
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        context.refresh(team, mergeChanges: false)
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [person])
        team.mutableSetValue(forKey: "members").remove(person)
        context.delete(team)
        try context.save()
        let fresh = stack.newContext()
        #expect(try object("Person", "a", fresh).value(forKey: "team") == nil)
        #expect(try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 0)
    }

    @Test func aSeatThatARefreshHasGivenBackIsFreedWithItsPerson() throws {
        let (person, seat) = (try object("Person", "a", context), try object("Seat", "1", context))
        person.setValue(seat, forKey: "seat")
        try context.save()
        person.setValue(try object("Seat", "2", context), forKey: "seat")
        context.delete(person)
        context.refresh(seat, mergeChanges: false)
        try context.save()
        let fresh = stack.newContext()
        for name in ["1", "2"] { #expect(try object("Seat", name, fresh).value(forKey: "person") == nil) }
        #expect(seat.value(forKey: "person") == nil)
    }
}
