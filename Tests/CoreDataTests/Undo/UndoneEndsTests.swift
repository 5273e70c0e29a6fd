import CoreData
import TestSupport
import Testing

/// One-to-one relationships beside undo: both ends agree, and what the framework does by itself is
/// no action.
@Suite(.everyStore) struct UndoneEndsTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        let person = NSEntityDescription("Person", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let seat = NSEntityDescription("Seat", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let partner = NSRelationshipDescription("partner", to: person)
        partner.inverseRelationship = partner
        person.properties.append(partner)
        relate(person, "seat", seat, inverse: "person")
        stack = try TestStack([person, seat])
        context = stack.context
        for name in ["a", "b"] {
            for entity in ["Person", "Seat"] {
                NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue(name, forKey: "name")
            }
        }
        try context.save()
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
    }

    private func object(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    private func name(_ object: NSManagedObject, _ key: String) -> String? {
        (object.value(forKey: key) as? NSManagedObject)?.value(forKey: "name") as? String
    }

    @Test func anObjectThatLedToItselfDoesSoAgain() throws {
        let (a, b) = (try object("Person", "a", context), try object("Person", "b", context))
        context.group { a.setValue(a, forKey: "partner") }
        context.group { b.setValue(a, forKey: "partner") }
        #expect(name(a, "partner") == "b")
        #expect(name(b, "partner") == "a")
        context.undo()
        #expect(name(a, "partner") == "a")
        #expect(name(b, "partner") == nil)
        context.redo()
        #expect(name(a, "partner") == "b")
        #expect(name(b, "partner") == "a")
    }

    /// Others have led the seat elsewhere. The merge comes outside of every undo group, where an
    /// action would stop the program.
    @Test func whatAMergeSettlesIsNoAction() throws {
        let other = stack.newContext()
        let (a, seat) = (try object("Person", "a", context), try object("Seat", "a", context))
        context.group { a.setValue(seat, forKey: "seat") }
        try object("Person", "b", other).setValue(try object("Seat", "a", other), forKey: "seat")
        try object("Person", "a", other).setValue(try object("Seat", "b", other), forKey: "seat")
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        context.processPendingChanges()
        #expect(name(a, "seat") == "a")
        #expect(name(seat, "person") == "a")
        #expect(try name(object("Person", "b", context), "seat") != "a")
        context.undo()
        #expect(context.undoManager?.canUndo == false)
    }

    @Test(arguments: [false, true]) func whatARefreshSettlesIsNoAction(refreshesAll: Bool) throws {
        let (a, seat) = (try object("Person", "a", context), try object("Seat", "a", context))
        context.group { a.setValue(seat, forKey: "seat") }
        try context.save()
        context.group { context.delete(a) }
        #expect(name(seat, "person") == nil)
        if refreshesAll { context.refreshAllObjects() } else { context.refresh(seat, mergeChanges: false) }
        context.processPendingChanges()
        #expect(name(seat, "person") == nil)
        context.undo()
        #expect(name(seat, "person") == "a")
        #expect(name(a, "seat") == "a")
        try context.save()
        let fresh = stack.newContext()
        #expect(try name(object("Seat", "a", fresh), "person") == "a")
        #expect(try name(object("Person", "a", fresh), "seat") == "a")
    }
}
