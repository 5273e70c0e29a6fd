import CoreData
import Synchronization
import TestSupport
import Testing

/// Contexts that merge what others save to a store with a history: they read only the rows again
/// that the history names.
final class FollowedByHistoryTests {
    /// Counts the rows that statements return of the table of authors.
    private final class ReadRows: CoreDataInstrument {
        let count = Mutex(0)

        func record(_ event: CoreDataEvent) {
            guard case .statement(let statement) = event, statement.sql.contains("FROM ZAUTHOR") else { return }
            count.withLock { $0 += statement.rows }
        }
    }

    private let read = ReadRows()
    private let library: Library
    private let held: NSManagedObjectContext
    private let other: NSManagedObjectContext

    init() throws {
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]
        // Connections tell of their statements only if they are opened after this.
        NSPersistentStoreCoordinator.instrument = read
        library = try Library(.sqlite, options: options)
        held = library.newContext()
        held.automaticallyMergesChangesFromParent = true
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.url, options: options)
        other = coordinator.newContext()
    }

    deinit { NSPersistentStoreCoordinator.instrument = nil }

    /// The contents as a context sees them.
    private func contents(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            func number(_ object: NSManagedObject?) -> String {
                object?.objectID.uriRepresentation().lastPathComponent ?? "-"
            }
            let authors = try context.authors().map { author in
                "\(number(author)) \(author.name ?? "-") \(author.born): \(author.books.map(number).sorted())"
            }
            let books = try context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book")).map { book in
                "\(number(book)) \(book.title ?? "-") \(number(book.author)): \(book.tags.map(number).sorted())"
            }
            return (authors + books).sorted()
        }
    }

    private func change(_ context: NSManagedObjectContext, _ generator: inout SeededGenerator) throws {
        let authors = try context.authors()
        let books = try context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book"))
        let tags = try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag"))
        for _ in 1...Int.random(in: 1...4, using: &generator) {
            let book = books.randomElement(using: &generator)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: context.author("new \(Int.random(in: 0..<100, using: &generator))")
            case 1: context.book("new", by: authors.randomElement(using: &generator))
            case 2: authors.randomElement(using: &generator)?.name = "\(Int.random(in: 0..<100, using: &generator))"
            case 3: book?.author = Bool.random(using: &generator) ? authors.randomElement(using: &generator) : nil
            case 4: book?.tags = Set(tags.filter { _ in Bool.random(using: &generator) })
            case 5: book.map(context.delete)
            default: book?.title = "\(Int.random(in: 0..<100, using: &generator))"
            }
        }
        try context.save()
    }

    @Test(arguments: LongTests.some(6, of: (1...40).map(UInt64.init))) func mergesEndWithWhatTheStoreHolds(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        for number in 1...8 {
            let author = other.author("\(number)")
            other.book("\(number)", by: author, tags: [LibraryTag(context: other)])
        }
        try other.save()
        #expect(try contents(held).count == 16)
        for _ in 1...10 {
            try change(other, &generator)
            if Bool.random(using: &generator) {
                let request = NSBatchUpdateRequest(entityName: "Author")
                request.propertiesToUpdate = ["born": Int.random(in: 0..<2000, using: &generator)]
                _ = try other.execute(request)
                other.refreshAllObjects()
            }
            let expected = try contents(library.newStackContext())
            let isMerged = try wait(upTo: 60) { try contents(held) == expected }
            #expect(isMerged)
        }
    }

    @Test func onlyChangedRowsAreReadAgain() throws {
        for number in 1...3000 { other.author("\(number)") }
        try other.save()
        let authors = try held.performAndWait { try held.authors() }
        let areRead = held.performAndWait { authors.allSatisfy { $0.name != nil } }
        #expect(areRead)
        let first = try #require(try other.authors().first)
        let id = first.objectID.uriRepresentation()
        let same = try #require(authors.first { $0.objectID.uriRepresentation() == id })
        // What was saved before is merged too.
        first.name = "first"
        try other.save()
        #expect(wait(upTo: 60) { held.performAndWait { same.name == "first" } })
        read.count.withLock { $0 = 0 }
        first.name = "second"
        try other.save()
        #expect(wait(upTo: 60) { held.performAndWait { same.name == "second" } })
        #expect(read.count.withLock { $0 } < 10)
    }

    @Test func whatTheHistoryDoesNotNameIsFoundToo() throws {
        other.author("Ada")
        try other.save()
        let author = try #require(try held.performAndWait { try held.authors().first })
        #expect(held.performAndWait { author.name } == "Ada")
        try library.file.run("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1")
        #expect(wait(upTo: 60) { held.performAndWait { author.name == "Eve" } })
    }

    /// Own saves are no sign that the history names what others wrote.
    @Test func whatTheHistoryDoesNotNameIsFoundAfterAnOwnSave() throws {
        other.author("Ada")
        try other.save()
        let author = try #require(try held.performAndWait { try held.authors().first })
        #expect(held.performAndWait { author.name } == "Ada")
        // The first change after the store was opened is merged whatever the history names.
        try library.file.run("UPDATE ZAUTHOR SET ZNAME = 'Bob', Z_OPT = Z_OPT + 1")
        #expect(wait(upTo: 60) { held.performAndWait { author.name == "Bob" } })
        library.context.author("own")
        try library.context.save()
        try library.file.run("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Bob'")
        #expect(wait(upTo: 60) { held.performAndWait { author.name == "Eve" } })
    }

    @Test func aPurgedHistoryIsNoGap() throws {
        let author = other.author("Ada")
        try other.save()
        let same = try #require(try held.performAndWait { try held.authors().first })
        #expect(held.performAndWait { same.name } == "Ada")
        for number in 1...20 {
            author.name = "\(number)"
            try other.save()
            _ = try other.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        }
        #expect(wait(upTo: 60) { held.performAndWait { same.name == "20" } })
    }
}
