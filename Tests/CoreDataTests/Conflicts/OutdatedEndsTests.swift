import CoreData
import TestSupport
import Testing

/// Relationships of which a context has read one end before others changed them, and the other end
/// afterwards.
@Suite(.everyStore) struct OutdatedEndsTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext
    private let other: NSManagedObjectContext

    init() throws {
        let person = NSEntityDescription("Person", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let team = NSEntityDescription("Team", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let seat = NSEntityDescription("Seat", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(team, "members", toMany: true, person, inverse: "team")
        relate(team, "players", toMany: true, ordered: true, person, inverse: "club")
        relate(person, "seat", seat, inverse: "person")
        stack = try TestStack([person, team, seat])
        (context, other) = (stack.newContext(), stack.newContext())
        for context in [context, other] { context.retainsRegisteredObjects = true }
        for (entity, name) in [
            ("Person", "a"), ("Person", "b"), ("Team", "t"), ("Team", "u"), ("Seat", "1"), ("Seat", "2"),
        ] {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue(name, forKey: "name")
        }
        try context.save()
        other.mergePolicy = NSMergePolicy.overwrite
    }

    private func object(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    /// Changes relationships in the other context, and saves.
    private func lead(_ entity: String, _ name: String, _ key: String, to destination: (entity: String, name: String)?)
        throws
    {
        try object(entity, name, other).setValue(destination.map { try object($0.entity, $0.name, other) }, forKey: key)
        try other.save()
    }

    private func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
        var problems = try RelationshipEnds.problems(in: stack.newContext())
        if stack.kind == .sqlite {
            problems += try RelationshipEnds.problems(in: stack.file, of: stack.coordinator.managedObjectModel)
        }
        #expect(problems == [], sourceLocation: sourceLocation)
    }

    @Test func aSeatThatOthersGaveToADeletedPersonIsFree() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        let (person, seat) = (try object("Person", "a", context), try object("Seat", "1", context))
        try lead("Seat", "1", "person", to: ("Person", "a"))
        context.refresh(person, mergeChanges: true)
        // What the person has by now, and the seat has not.
        seat.setValue(person, forKey: "person")
        context.delete(person)
        try context.save()
        #expect(try object("Seat", "1", stack.newContext()).value(forKey: "person") == nil)
        try expectAgreement()
    }

    @Test(arguments: [
        NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType,
    ])
    func aSeatHasOnePerson(policy: NSMergePolicyType) throws {
        context.mergePolicy = NSMergePolicy(merge: policy)
        let (person, seat) = (try object("Person", "a", context), try object("Seat", "1", context))
        person.setValue(seat, forKey: "seat")
        context.refresh(seat, mergeChanges: false)
        try lead("Person", "b", "seat", to: ("Seat", "1"))
        try context.save()
        try expectAgreement()
    }

    @Test func aRelationshipThatBothHaveSetAndOneHasTakenBackStaysAsTheOtherSavedIt() throws {
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        person.setValue(team, forKey: "team")
        try lead("Person", "a", "team", to: ("Team", "t"))
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [person])
        team.mutableSetValue(forKey: "members").remove(person)
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [])
        for object in [person, team] { context.refresh(object, mergeChanges: true) }
        #expect(person.value(forKey: "team") as? NSManagedObject === team)
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [person])
    }

    @Test func aMemberThatOthersBroughtHereAndThatLeadsElsewhereUnsavedLeavesWithItsOwner() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        try lead("Person", "a", "team", to: ("Team", "t"))
        context.refresh(team, mergeChanges: false)
        let unsaved = try object("Team", "u", context)
        person.setValue(unsaved, forKey: "team")
        // Nothing is left of the person's change then, though others have led it to a team that
        // goes.
        for team in [unsaved, team] { context.delete(team) }
        try context.save()
        #expect(try object("Person", "a", stack.newContext()).value(forKey: "team") == nil)
        try expectAgreement()
    }

    @Test func whatBothHaveSetIsNoChangeForEitherEnd() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        person.setValue(team, forKey: "team")
        try lead("Person", "a", "team", to: ("Team", "t"))
        context.refresh(person, mergeChanges: true)
        try lead("Person", "a", "team", to: ("Team", "u"))
        person.setValue("a2", forKey: "name")
        try context.save()
        #expect((person.value(forKey: "team") as? NSManagedObject)?.value(forKey: "name") as? String == "u")
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [])
        #expect(try object("Team", "t", stack.newContext()).value(forKey: "members") as? Set<NSManagedObject> == [])
        try expectAgreement()
    }

    @Test func playersOfATeamThatIsSavedAgainHaveTheirPlaces() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        let team = try object("Team", "t", context)
        let players = [try object("Person", "b", context), try object("Person", "a", context)]
        team.setValue(NSOrderedSet(array: players), forKey: "players")
        try context.save()
        other.delete(try object("Team", "t", other))
        try other.save()
        for (object, name) in zip([team] + players, ["t2", "b2", "a2"]) { object.setValue(name, forKey: "name") }
        try context.save()
        let saved = try object("Team", "t2", stack.newContext()).value(forKey: "players") as? NSOrderedSet
        #expect(
            Set(saved?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } ?? []) == [
                "a2", "b2",
            ])
        try expectAgreement()
    }

    @Test func aMemberThatOthersHaveLedHereLeavesWithItsOwner() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        try lead("Person", "a", "team", to: ("Team", "t"))
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        context.refresh(team, mergeChanges: false)
        #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [person])
        team.mutableSetValue(forKey: "members").remove(person)
        context.delete(team)
        try context.save()
        let fresh = stack.newContext()
        #expect(try object("Person", "a", fresh).value(forKey: "team") == nil)
        let deleted = NSFetchRequest<NSManagedObject>(entityName: "Team")
        deleted.predicate = NSPredicate(format: "name == 't'")
        #expect(try fresh.count(for: deleted) == 0)
    }

    @Test func aSeatThatARefreshHasGivenBackIsFreedWithItsPerson() throws {
        context.mergePolicy = NSMergePolicy.overwrite
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

    @Test(arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType])
    func aMemberThatOthersDeleteMeanwhileIsNoConflictWithoutEnd(policy: NSMergePolicyType) throws {
        context.mergePolicy = NSMergePolicy(merge: policy)
        let (person, team) = (try object("Person", "a", context), try object("Team", "t", context))
        let unsaved = try object("Team", "u", context)
        try lead("Person", "a", "team", to: ("Team", "t"))
        context.refresh(team, mergeChanges: false)
        person.setValue(unsaved, forKey: "team")
        for team in [unsaved, team] { context.delete(team) }
        context.processPendingChanges()
        other.delete(try object("Person", "a", other))
        try other.save()
        try context.save()
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 0)
        try expectAgreement()
    }
}
