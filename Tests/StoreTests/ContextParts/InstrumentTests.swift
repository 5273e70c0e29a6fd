import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// What an instrument of the program is told. Other tests may run meanwhile, so only events with
/// the names of a test's own contexts and store count.
@Suite(.serialized) struct InstrumentTests {
    private final class Recorder: CoreDataInstrument {
        private let recorded = Mutex<[CoreDataEvent]>([])
        var events: [CoreDataEvent] { recorded.withLock { $0 } }
        func record(_ event: CoreDataEvent) { recorded.withLock { $0.append(event) } }
    }

    private let recorder = Recorder()
    private let library: Library
    private let name = UUID().uuidString

    init() throws {
        NSPersistentStoreCoordinator.instrument = recorder
        library = try Library(.sqlite, uniqueNames: true)
        library.context.name = name
    }

    /// Runs a test's body, and removes the instrument.
    private func events(_ body: () throws -> Void) rethrows -> [CoreDataEvent] {
        defer { NSPersistentStoreCoordinator.instrument = nil }
        try body()
        return recorder.events
    }

    private func saveAuthors(_ names: [String]) throws {
        for name in names { library.context.author(name) }
        try library.context.save()
    }

    @Test func aSaveHasItsNumbersOfObjects() throws {
        let events = try events {
            try saveAuthors(["Ada", "Bob", "Eve"])
            let authors = try library.context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author"))
            authors[0].born = 1815
            library.context.delete(authors[1])
            try library.context.save()
        }
        let saves = events.compactMap { event in
            if case .save(let save) = event, save.context == name { save } else { nil }
        }
        #expect(saves.map(\.inserted) == [3, 0])
        #expect(saves.map(\.updated) == [0, 1])
        #expect(saves.map(\.deleted) == [0, 1])
        #expect(saves.allSatisfy { $0.nanoseconds > 0 })
    }

    @Test func aStatementHasNoValuesButItsRowsAndStore() throws {
        let events = try events {
            try saveAuthors(["Ada", "Bob", "Eve"])
            let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
            request.predicate = NSPredicate(format: "name != %@", "Eve")
            _ = try library.newContext().fetch(request)
        }
        let selects = events.compactMap { event in
            if case .statement(let statement) = event, statement.store.hasSuffix(library.url.path),
                statement.sql.hasPrefix("SELECT"), statement.sql.contains("FROM ZAUTHOR")
            {
                statement
            } else {
                nil
            }
        }
        let select = try #require(selects.last)
        #expect(select.rows == 2)
        #expect(select.sql.contains("?"))
        #expect(!select.sql.contains("Eve"))
        #expect(select.nanoseconds > 0)
    }

    @Test func theRowOfAFaultAndMembersOfARelationshipAreFaults() throws {
        let events = try events {
            let author = library.context.author("Ada")
            for _ in 0..<2 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: library.context)
                book.setValue(author, forKey: "author")
            }
            try library.context.save()
            let context = try library.newStackContext()
            context.name = name
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            request.resultType = .managedObjectIDResultType
            let objectID = try #require(try context.fetch(request).first)
            let found = context.object(with: objectID) as? LibraryAuthor
            #expect(found?.name == "Ada")
            #expect(found?.books.count == 2)
        }
        let faults = events.compactMap { event in
            if case .fault(name, let entity, let relationship, let count) = event {
                "\(entity).\(relationship ?? "") \(count)"
            } else {
                nil
            }
        }
        #expect(faults == ["Author. 1", "Author.books 2"])
    }

    /// The events of fetches of contexts with the test's name.
    private func fetches(_ events: [CoreDataEvent]) -> [String] {
        events.compactMap { event in
            if case .fetch(let fetch) = event, fetch.context == name { "\(fetch.entity) \(fetch.count)" } else { nil }
        }
    }

    @Test func anAsynchronousFetchIsAFetch() async throws {
        try saveAuthors(["Ada", "Bob"])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        context.name = name
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            context.perform {
                let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { _ in done.resume() }
                #expect(throws: Never.self) { try context.execute(asynchronous) }
            }
        }
        #expect(fetches(events {}) == ["Author 2"])
    }

    /// The parent answers the child's fetch and its faults, without a fetch and faults of its own.
    @Test func aChildsFetchIsOneFetch() throws {
        let events = try events {
            try saveAuthors(["Ada", "Bob"])
            library.context.author("Eve")
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = library.context
            child.name = name
            try child.performAndWait {
                let authors = try child.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author"))
                child.refreshAllObjects()
                #expect(Set(authors.map(\.name)) == ["Ada", "Bob", "Eve"])
            }
        }
        #expect(fetches(events) == ["Author 3"])
        #expect(!events.contains { if case .fault(name, _, _, _) = $0 { true } else { false } })
    }

    @Test func conflictsAndMergesAreCounted() throws {
        let events = try events {
            try saveAuthors(["Ada"])
            let other = library.newContext()
            other.name = name
            other.automaticallyMergesChangesFromParent = true
            let authors = try other.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author"))
            #expect(authors.count == 1)
            library.context.author("Ada")
            library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try library.context.save()
            other.performAndWait {}
        }
        let conflicts = events.compactMap { event in
            if case .conflicts(name, let count) = event { count } else { nil }
        }
        #expect(conflicts == [1])
        let merges = events.compactMap { event in if case .merge(name, let count) = event { count } else { nil } }
        #expect(merges == [1])
    }

    @Test func anEventIsALine() {
        let save = CoreDataEvent.merge(context: "main", count: 2)
        #expect("\(save)" == "merged 2 changed objects into main")
    }

    @Test func withoutAnInstrumentNothingIsRecorded() throws {
        NSPersistentStoreCoordinator.instrument = nil
        let count = recorder.events.count
        try saveAuthors(["Ada"])
        #expect(recorder.events.count == count)
    }
}
