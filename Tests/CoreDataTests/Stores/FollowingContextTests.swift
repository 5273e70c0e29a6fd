import CoreData
import TestSupport
import Testing

/// Contexts that follow the saves of other coordinators, and are pinned or have a parent.
@Suite(.stores(StoreKind.persistent)) struct FollowingContextTests {
    private let library: Library
    private let other: NSManagedObjectContext
    private let author: LibraryAuthor

    init() throws {
        library = try Library(options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        other = try library.newStackContext()
        author = other.author("Ada")
        try other.save()
    }

    /// The object of the author in a context that merges, loaded.
    private func followed(_ context: NSManagedObjectContext) throws -> LibraryAuthor {
        context.automaticallyMergesChangesFromParent = true
        let held = try #require(try context.performAndWait { try context.authors().first })
        #expect(context.performAndWait { held.name } == "Ada")
        return held
    }

    @Test func aPinnedContextContinues() throws {
        let context = library.newContext()
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        let held = try followed(context)
        author.name = "Eve"
        try other.save()
        #expect(wait(upTo: 60) { context.performAndWait { held.name == "Eve" } })
        other.author("Bob")
        try other.save()
        #expect(wait(upTo: 60) { context.performAndWait { (try? context.authors().count) == 2 } })
    }

    @Test func childrenFollowWithWhatOnlyTheyHold() throws {
        let parent = library.newContext()
        parent.automaticallyMergesChangesFromParent = true
        let child = parent.newChild()
        child.automaticallyMergesChangesFromParent = true
        let grandchild = child.newChild()
        let held = try followed(grandchild)
        author.name = "Eve"
        try other.save()
        #expect(wait(upTo: 60) { grandchild.performAndWait { held.name == "Eve" } })
        author.books = [other.book("Notes")]
        try other.save()
        #expect(wait(upTo: 60) { grandchild.performAndWait { held.books.first?.title == "Notes" } })
        other.delete(author)
        try other.save()
        #expect(wait(upTo: 60) { grandchild.performAndWait { held.isDeleted || held.managedObjectContext == nil } })
    }

    @Test func aChildKeepsItsOwnChanges() throws {
        let parent = library.newContext()
        parent.automaticallyMergesChangesFromParent = true
        let child = parent.newChild()
        let held = try followed(child)
        child.performAndWait { held.born = 1815 }
        author.name = "Eve"
        try other.save()
        #expect(wait(upTo: 60) { child.performAndWait { held.name == "Eve" } })
        #expect(child.performAndWait { held.born } == 1815)
    }
}
