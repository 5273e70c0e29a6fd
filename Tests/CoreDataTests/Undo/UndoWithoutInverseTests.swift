import CoreData
import TestSupport
import Testing

/// Undone deletions among relationships without an inverse. A server empties the keys that lead to
/// deleted rows.
@Suite(.stores(StoreKind.allCases.filter { $0 != .postgreSQL })) struct UndoWithoutInverseTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        let page = NSEntityDescription("Page", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let note = NSEntityDescription("Note", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let row = NSRelationshipDescription("row", to: note, toMany: true)
        row.isOrdered = true
        page.properties += [
            NSRelationshipDescription("one", to: note), NSRelationshipDescription("many", to: note, toMany: true), row,
        ]
        stack = try TestStack([page, note])
        let writer = stack.newContext()
        let notes = ["x", "y", "z"].map { Self.insert("Note", $0, writer) }
        let made = Self.insert("Page", "page", writer)
        made.setValue(notes[1], forKey: "one")
        made.setValue(NSSet(array: notes), forKey: "many")
        made.setValue(NSOrderedSet(array: [notes[2], notes[1], notes[0]]), forKey: "row")
        try writer.save()
        context = stack.newContext()
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
    }

    private static func insert(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func object(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject?
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try context.fetch(request).first
    }

    /// The destinations of a page, by names.
    private func shown(_ page: NSManagedObject?) -> [String] {
        func name(_ object: Any?) -> String { (object as? NSManagedObject)?.value(forKey: "name") as? String ?? "nil" }
        let many = (page?.value(forKey: "many") as? NSSet)?.allObjects.map(name).sorted() ?? []
        let row = (page?.value(forKey: "row") as? NSOrderedSet)?.array.map(name) ?? []
        return [name(page?.value(forKey: "one")), many.joined(), row.joined()]
    }

    private func stored() throws -> [String] { shown(try object("Page", "page", stack.newContext())) }

    private let all = ["y", "xyz", "zyx"]

    @Test(arguments: [false, true], [false, true])
    func bothEndsComeBackTogether(destinationFirst: Bool, isRead: Bool) throws {
        let page = try #require(try object("Page", "page", context))
        let note = try #require(try object("Note", "y", context))
        if isRead { _ = shown(page) }
        context.group { for object in destinationFirst ? [note, page] : [page, note] { context.delete(object) } }
        for _ in 0..<2 {
            try context.save()
            #expect(try stored() == ["nil", "", ""])
            context.undo()
            #expect(page.value(forKey: "one") as? NSManagedObject === note)
            #expect(shown(page) == all)
            try context.save()
            #expect((page.value(forKey: "one") as? NSManagedObject)?.managedObjectContext === context)
            #expect(try stored() == all)
            context.redo()
        }
    }

    @Test(arguments: [false, true], [false, true]) func aMemberComesBack(isSaved: Bool, isRead: Bool) throws {
        let page = try #require(try object("Page", "page", context))
        let note = try #require(try object("Note", "y", context))
        context.group { page.setValue(nil, forKey: "one") }
        try context.save()
        context.undoManager?.removeAllActions()
        if isRead { _ = shown(page) }
        context.group { context.delete(note) }
        if isSaved {
            try context.save()
            #expect(shown(page) == ["nil", "xz", "zx"])
        }
        for _ in 0..<2 {
            context.undo()
            #expect(shown(page) == ["nil", "xyz", "zyx"])
            try context.save()
            #expect(try stored() == ["nil", "xyz", "zyx"])
            context.redo()
            try context.save()
            #expect(shown(page) == ["nil", "xz", "zx"])
            #expect(try stored() == ["nil", "xz", "zx"])
        }
    }

    @Test func aMemberComesBackToAnOwnerThatTheContextDidNotHold() throws {
        let note = try #require(try object("Note", "y", context))
        context.group { context.delete(note) }
        try context.save()
        context.undo()
        try context.save()
        #expect(try stored() == all)
    }

    @Test(arguments: [false, true]) func aReferenceThatWasSetToNilComesBackWithItsDestination(isOneGroup: Bool) throws {
        let page = try #require(try object("Page", "page", context))
        let note = try #require(page.value(forKey: "one") as? NSManagedObject)
        context.undoManager?.beginUndoGrouping()
        context.delete(note)
        context.processPendingChanges()
        if !isOneGroup {
            context.undoManager?.endUndoGrouping()
            context.undoManager?.beginUndoGrouping()
        }
        page.setValue(nil, forKey: "one")
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        for _ in 0..<2 {
            try context.save()
            #expect(try stored() == ["nil", "xz", "zx"])
            context.undoAll()
            #expect(page.value(forKey: "one") as? NSManagedObject === note)
            try context.save()
            #expect(try stored() == all)
            context.redoAll()
            #expect(page.value(forKey: "one") == nil)
        }
    }

    @Test(arguments: [false, true]) func aChildTakesOutWhatItDeletes(isProcessed: Bool) throws {
        let parents = try #require(try object("Page", "page", context))
        _ = shown(parents)
        let child = context.newChild()
        let page = try #require(try object("Page", "page", child))
        let note = try #require(try object("Note", "y", child))
        child.delete(note)
        if isProcessed { child.processPendingChanges() }
        page.setValue(nil, forKey: "one")
        page.mutableSetValue(forKey: "many").remove(note)
        page.mutableOrderedSetValue(forKey: "row").remove(note)
        try context.group { try child.save() }
        #expect(shown(parents) == ["nil", "xz", "zx"])
        try context.save()
        #expect(try stored() == ["nil", "xz", "zx"])
    }

    @Test func whatOthersDeleteLeavesTheRelationship() throws {
        let page = try #require(try object("Page", "page", context))
        context.group { page.setValue(nil, forKey: "one") }
        try context.save()
        _ = shown(page)
        let writer = stack.newContext()
        let note = try #require(try object("Note", "y", writer))
        let deletedID = note.objectID
        writer.delete(note)
        try writer.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: [deletedID]], into: [context])
        try context.save()
        #expect(shown(page) == ["nil", "xz", "zx"])
    }
}
