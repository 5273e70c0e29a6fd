import CoreData
import TestSupport
import Testing

/// Additions to relationships that nobody has read, and of which only the store knows whether they
/// have the object already.
@Suite(.everyStore) struct UnreadAdditionTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext
    private let names = ["many", "held", "row"]

    /// A shelf with the book "a" in all its relationships, and a book "b" beside it. Nothing of
    /// them is read.
    init() throws {
        let shelf = NSEntityDescription("Shelf", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let book = NSEntityDescription("Book", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(shelf, "many", toMany: true, book, inverse: "shelves", inverseToMany: true, inverseOrdered: true)
        let row = NSRelationshipDescription("row", to: book, toMany: true)
        row.isOrdered = true
        shelf.properties += [NSRelationshipDescription("held", to: book, toMany: true), row]
        stack = try TestStack([shelf, book])
        let writer = stack.newContext()
        func insert(_ entity: String, _ name: String) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: writer)
            object.setValue(name, forKey: "name")
            return object
        }
        let (a, z) = (insert("Book", "a"), insert("Book", "z"))
        _ = insert("Book", "b")
        let made = insert("Shelf", "shelf")
        made.setValue(NSSet(array: [a]), forKey: "many")
        made.setValue(NSSet(array: [a]), forKey: "held")
        made.setValue(NSOrderedSet(array: [a, z]), forKey: "row")
        try writer.save()
        context = stack.newContext()
    }

    private func object(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    private func members(_ name: String, _ context: NSManagedObjectContext) throws -> [String] {
        let value = try object("Shelf", "shelf", context).value(forKey: name)
        let names = ((value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []).map {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "nil"
        }
        return value is NSOrderedSet ? names : names.sorted()
    }

    private func add(_ book: NSManagedObject, to name: String, of shelf: NSManagedObject) {
        shelf._addRelated(book, forKey: name)
    }

    @Test(arguments: ["a", "b"])
    func whatWasAddedUnreadAndRemovedAgainIsNoMember(book name: String) throws {
        let (shelf, book) = (try object("Shelf", "shelf", context), try object("Book", name, context))
        for relationship in names {
            add(book, to: relationship, of: shelf)
            shelf._removeRelated(book, forKey: relationship)
        }
        try context.save()
        for (relationship, others) in [("many", ["a"]), ("held", ["a"]), ("row", ["a", "z"])] {
            #expect(try members(relationship, stack.newContext()) == others.filter { $0 != name })
        }
    }

    @Test(arguments: ["a", "b"])
    func undoingTheRemovalOfWhatWasAddedUnreadRestoresTheMembers(book name: String) throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let (shelf, book) = (try object("Shelf", "shelf", context), try object("Book", name, context))
        manager.beginUndoGrouping()
        for relationship in names {
            add(book, to: relationship, of: shelf)
            shelf._removeRelated(book, forKey: relationship)
        }
        context.processPendingChanges()
        manager.endUndoGrouping()
        context.undo()
        try context.save()
        for (relationship, stored) in [("many", ["a"]), ("held", ["a"]), ("row", ["a", "z"])] {
            #expect(try members(relationship, context) == stored)
            #expect(try members(relationship, stack.newContext()) == stored)
        }
    }

    @Test func anAdditionDoesNotReadTheRelationship() throws {
        let (shelf, book) = (try object("Shelf", "shelf", context), try object("Book", "b", context))
        for name in names {
            add(book, to: name, of: shelf)
            #expect(shelf.hasFault(forRelationshipNamed: name))
        }
        #expect(book.hasFault(forRelationshipNamed: "shelves"))
        try context.save()
        let reader = stack.newContext()
        for name in names { #expect(shelf.hasFault(forRelationshipNamed: name)) }
        #expect(try members("many", reader) == ["a", "b"])
        #expect(try members("held", reader) == ["a", "b"])
        #expect(try members("row", reader) == ["a", "z", "b"])
        for name in names { #expect(try members(name, context) == members(name, reader)) }
    }

    @Test func addingWhatIsThereChangesNothing() throws {
        let (shelf, book) = (try object("Shelf", "shelf", context), try object("Book", "a", context))
        for name in names { add(book, to: name, of: shelf) }
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            let reader = stack.newContext()
            for seen in [reader, context] where isSaved || seen === reader {
                #expect(try members("many", seen) == ["a"])
                #expect(try members("held", seen) == ["a"])
                #expect(try members("row", seen) == ["a", "z"])
            }
        }
        #expect((try object("Book", "a", stack.newContext()).value(forKey: "shelves") as? NSOrderedSet)?.count == 1)
    }

    @Test func undoTakesBackWhatWasNew() throws {
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
        let shelf = try object("Shelf", "shelf", context)
        let books = [try object("Book", "a", context), try object("Book", "b", context)]
        context.group {
            for name in names { for book in books { add(book, to: name, of: shelf) } }
        }
        try context.save()
        context.undo()
        try context.save()
        for seen in [stack.newContext(), context] {
            #expect(try members("many", seen) == ["a"])
            #expect(try members("held", seen) == ["a"])
            #expect(try members("row", seen) == ["a", "z"])
        }
    }

    @Test func aChildsAdditionDoesNotReadTheParentsRelationship() throws {
        let child = context.newChild()
        let parents = try object("Shelf", "shelf", context)
        let (shelf, book) = (try object("Shelf", "shelf", child), try object("Book", "b", child))
        for name in names { add(book, to: name, of: shelf) }
        try child.save()
        for name in names { #expect(parents.hasFault(forRelationshipNamed: name)) }
        try context.save()
        let reader = stack.newContext()
        #expect(try members("many", reader) == ["a", "b"])
        #expect(try members("held", reader) == ["a", "b"])
        #expect(try members("row", reader) == ["a", "z", "b"])
    }
}
