import CoreData
import TestSupport
import Testing

/// Conflicts of unique values between objects of a superentity and its subentities, whose
/// relationships differ.
@Suite(.everyStore) struct TwinOfAnotherEntityTests {
    private let stack: TestStack
    private var context: NSManagedObjectContext { stack.context }

    /// Works with unique titles. Songs and films are works, each with authors of its own kind. A
    /// shelf refers to works, a radio to songs alone.
    init() throws {
        func entity(_ name: String, _ attribute: String) -> NSEntityDescription {
            NSEntityDescription(name, class: "NSManagedObject", [.init(attribute, .stringAttributeType)])
        }
        let (work, song, film) = (entity("Work", "title"), entity("Song", "tune"), entity("Film", "plot"))
        let (singer, actor) = (entity("Singer", "name"), entity("Actor", "name"))
        let (shelf, radio, owner) = (entity("Shelf", "name"), entity("Radio", "name"), entity("Owner", "name"))
        work.uniquenessConstraints = [["title"]]
        work.subentities = [song, film]
        relate(song, "lead", singer, inverse: "songs", inverseToMany: true)
        relate(film, "lead", actor, inverse: "films", inverseToMany: true)
        relate(song, "cast", toMany: true, singer, inverse: "sings", inverseToMany: true)
        relate(film, "cast", actor, inverse: "star")
        relate(work, "owner", owner, inverse: "works", inverseToMany: true)
        let playlist = NSRelationshipDescription("playlist", to: song, toMany: true)
        radio.properties += [NSRelationshipDescription("song", to: song), playlist]
        shelf.properties += [NSRelationshipDescription("work", to: work)]
        stack = try TestStack([work, song, film, singer, actor, shelf, radio, owner])
    }

    private func new(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }

    /// Saves a work of one entity, then inserts one of another entity with the same title.
    private func twins(_ entities: [String], _ policy: NSMergePolicy, isStored: Bool) throws
        -> (first: NSManagedObject, second: NSManagedObject)
    {
        context.mergePolicy = policy
        let first = new(entities[0], ["title": "Same"])
        if isStored { try context.save() }
        return (first, new(entities[1], ["title": "Same"]))
    }

    private func expectAgreement(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(!context.hasChanges, sourceLocation: location)
        for context in [context, stack.newContext()] {
            #expect(try RelationshipEnds.problems(in: context) == [], sourceLocation: location)
        }
    }

    private static let settling = [
        NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    @Test(arguments: settling, [true, false])
    func aReferenceThatDoesNotTakeTheTwinsEntityBecomesNil(policy: NSMergePolicy, isStored: Bool) throws {
        let (first, second) = try twins(["Work", "Song"], policy, isStored: isStored)
        let radio = new("Radio", ["song": second, "playlist": NSSet(object: second)])
        let shelf = new("Shelf", ["work": second])
        try context.save()
        let stays = second.managedObjectContext == nil ? first : second
        #expect(radio.value(forKey: "song") as? NSManagedObject == (stays === second ? second : nil))
        #expect((radio.value(forKey: "playlist") as? NSSet)?.count == (stays === second ? 1 : 0))
        #expect(shelf.value(forKey: "work") as? NSManagedObject == (policy === NSMergePolicy.rollback ? nil : stays))
        #expect(stack.stored("title", of: "Work") == ["Same"])
        try expectAgreement()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Radio")
        let reading = stack.newContext()
        let fresh = try #require(try reading.fetch(request).first)
        #expect((fresh.value(forKey: "song") == nil) == (stays === first))
        #expect((fresh.value(forKey: "playlist") as? NSSet)?.count == (stays === first ? 0 : 1))
    }

    @Test(arguments: settling, [true, false])
    func aRelationshipOfTheSameNameInASisterIsAnother(policy: NSMergePolicy, isStored: Bool) throws {
        let (first, second) = try twins(["Film", "Song"], policy, isStored: isStored)
        let (singer, owner) = (new("Singer", ["name": "Ann"]), new("Owner", ["name": "Bob"]))
        second.setValuesForKeys(["lead": singer, "cast": NSSet(object: singer), "owner": owner])
        try context.save()
        let isReplaced = second.managedObjectContext == nil
        if isReplaced {
            #expect(first.value(forKey: "lead") == nil)
            #expect(first.value(forKey: "cast") == nil)
            #expect((singer.value(forKey: "songs") as? NSSet)?.count == 0)
            #expect((singer.value(forKey: "sings") as? NSSet)?.count == 0)
            // What both inherit goes on.
            let works = policy === NSMergePolicy.rollback ? [] : [first]
            #expect(owner.value(forKey: "works") as? Set<NSManagedObject> == Set(works))
        } else {
            #expect(singer.value(forKey: "songs") as? Set<NSManagedObject> == [second])
            #expect(owner.value(forKey: "works") as? Set<NSManagedObject> == [second])
        }
        #expect(stack.stored("title", of: "Work") == ["Same"])
        try expectAgreement()
    }
}
