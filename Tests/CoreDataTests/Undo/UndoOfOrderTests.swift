import CoreData
import TestSupport
import Testing

/// The places of members of ordered relationships that nobody has read, after undo.
struct UndoOfOrderTests {
    /// A stored play with three acts, of which a context has read nothing.
    private final class Theatre {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        let parent: NSManagedObjectContext
        let manager = UndoManager()

        init(_ kind: StoreKind, isChild: Bool) throws {
            folder = try TemporaryFolder()
            let play = NSEntityDescription(
                "Play", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
            let act = NSEntityDescription(
                "Act", class: "NSManagedObject", [NSAttributeDescription("number", .integer32AttributeType)])
            relate(play, "acts", toMany: true, ordered: true, act, inverse: "play")
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([play, act]))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("theatre.sqlite")), options: nil)
            let writer = coordinator.newContext()
            let made = NSEntityDescription.insertNewObject(forEntityName: "Play", into: writer)
            made.setValue("Faust", forKey: "title")
            made.setValue(NSOrderedSet(array: (1...3).map { Self.newAct($0, writer) }), forKey: "acts")
            try writer.save()
            parent = coordinator.newContext()
            if isChild {
                context = parent.newChild()
            } else {
                context = parent
            }
            manager.groupsByEvent = false
            context.undoManager = manager
        }

        static func newAct(_ number: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
            let act = NSEntityDescription.insertNewObject(forEntityName: "Act", into: context)
            act.setValue(number, forKey: "number")
            return act
        }

        func play(in context: NSManagedObjectContext) throws -> NSManagedObject {
            try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Play")).first)
        }

        func act(_ number: Int) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Act")
            request.predicate = NSPredicate(format: "number == %d", number)
            return try #require(try context.fetch(request).first)
        }

        func group(_ body: () throws -> Void) rethrows {
            manager.beginUndoGrouping()
            try body()
            context.processPendingChanges()
            manager.endUndoGrouping()
        }

        static func numbers(_ play: NSManagedObject) -> [Int] {
            play.mutableOrderedSetValue(forKey: "acts").compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "number") as? Int
            }
        }

        func save() throws {
            try context.save()
            if parent !== context { try parent.save() }
        }

        func stored() throws -> [Int] {
            let fresh = coordinator.newContext()
            return try withExtendedLifetime(fresh) { Self.numbers(try play(in: fresh)) }
        }
    }

    enum Way: CaseIterable { case deletion, leaving }

    private func leave(_ act: NSManagedObject, _ way: Way, _ theatre: Theatre) {
        switch way {
        case .deletion: theatre.context.delete(act)
        case .leaving: act.setValue(nil, forKey: "play")
        }
    }

    private static let cases = UndoAfterBatchTests.desks.flatMap { desk in Way.allCases.map { (desk.0, desk.1, $0) } }

    @Test(arguments: cases) func aMemberComesBackToItsPlaceAndNothingIsChanged(kind: StoreKind, isChild: Bool, way: Way)
        throws
    {
        let theatre = try Theatre(kind, isChild: isChild)
        let play = try theatre.play(in: theatre.context)
        let second = try theatre.act(2)
        #expect(play.hasFault(forRelationshipNamed: "acts"))
        theatre.group { leave(second, way, theatre) }
        theatre.context.undo()
        #expect(!theatre.context.hasChanges)
        #expect(Theatre.numbers(play) == [1, 2, 3])
        theatre.context.redo()
        #expect(Theatre.numbers(play) == [1, 3])
        theatre.context.undo()
        #expect(Theatre.numbers(play) == [1, 2, 3])
        try theatre.save()
        #expect(try theatre.stored() == [1, 2, 3])
    }

    @Test(arguments: cases) func aMemberComesBackToItsPlaceInWhatWasReadMeanwhile(
        kind: StoreKind, isChild: Bool, way: Way
    ) throws {
        let theatre = try Theatre(kind, isChild: isChild)
        let play = try theatre.play(in: theatre.context)
        let second = try theatre.act(2)
        theatre.group { leave(second, way, theatre) }
        #expect(Theatre.numbers(play) == [1, 3])
        theatre.context.undo()
        #expect(Theatre.numbers(play) == [1, 2, 3])
        #expect(!theatre.context.hasChanges)
    }

    @Test(arguments: cases) func aMemberComesBackToItsPlaceAfterASave(kind: StoreKind, isChild: Bool, way: Way) throws {
        let theatre = try Theatre(kind, isChild: isChild)
        let play = try theatre.play(in: theatre.context)
        let second = try theatre.act(2)
        theatre.group { leave(second, way, theatre) }
        try theatre.save()
        #expect(try theatre.stored() == [1, 3])
        theatre.context.undo()
        #expect(Theatre.numbers(play) == [1, 2, 3])
        try theatre.save()
        #expect(try theatre.stored() == [1, 2, 3])
    }

    /// Members that were added before, and not saved, have places, too.
    @Test(arguments: cases) func anUnsavedMemberComesBackToItsPlace(kind: StoreKind, isChild: Bool, way: Way) throws {
        let theatre = try Theatre(kind, isChild: isChild)
        let play = try theatre.play(in: theatre.context)
        let fourth = Theatre.newAct(4, theatre.context)
        theatre.group {
            fourth.setValue(play, forKey: "play")
            Theatre.newAct(5, theatre.context).setValue(play, forKey: "play")
        }
        #expect(play.hasFault(forRelationshipNamed: "acts"))
        theatre.group { leave(fourth, way, theatre) }
        theatre.context.undo()
        #expect(Theatre.numbers(play) == [1, 2, 3, 4, 5])
        try theatre.save()
        #expect(try theatre.stored() == [1, 2, 3, 4, 5])
    }
}
