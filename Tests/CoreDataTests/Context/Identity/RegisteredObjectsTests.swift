import CoreData
import TestSupport
import Testing

/// Which objects a context keeps alive (behaviour 120).
@Suite(.everyStore) struct RegisteredObjectsTests {
    let library: Library
    let context: NSManagedObjectContext

    /// Three authors, and a context that knows none of them.
    init() throws {
        library = try Library()
        for name in ["Ada", "Bob", "Cid"] { library.context.author(name) }
        try library.context.save()
        context = library.newContext()
    }

    private var names: [String?] {
        context.registeredObjects.map { $0.value(forKey: "name") as? String }.sorted { ($0 ?? "") < ($1 ?? "") }
    }

    /// Fetches the authors and lets go of them after `body`.
    private func withAuthors(_ body: ([LibraryAuthor]) -> Void = { _ in }) throws {
        let authors = try context.authors()
        // An optimized build lets go of what is not used any more.
        withExtendedLifetime(authors) {
            #expect(context.registeredObjects.count == 3)
            body(authors)
        }
    }

    @Test func objectsThatNobodyHoldsLeaveTheContext() throws {  // 120
        try withAuthors()
        #expect(context.registeredObjects.isEmpty)
    }

    @Test func changedDeletedAndNewObjectsStay() throws {  // 120
        try withAuthors { authors in
            authors.first { $0.name == "Ada" }?.born = 1815
            if let bob = authors.first(where: { $0.name == "Bob" }) { context.delete(bob) }
            context.author("New")
        }
        #expect(names == ["Ada", "Bob", "New"])
        #expect(context.updatedObjects.count == 1)
        #expect(context.deletedObjects.count == 1)
        #expect(context.insertedObjects.count == 1)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
        #expect(library.stored(["born", "name"], of: "Author") == [["0", "Cid"], ["0", "New"], ["1815", "Ada"]])
    }

    @Test func aContextThatRetainsItsObjectsKeepsAll() throws {  // 120
        context.retainsRegisteredObjects = true
        try withAuthors()
        #expect(names == ["Ada", "Bob", "Cid"])
        context.retainsRegisteredObjects = false
        #expect(context.registeredObjects.isEmpty)
    }
}
