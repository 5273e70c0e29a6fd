import CoreData
import TestSupport
import Testing

/// Stores that are removed, and coordinators that go, while other threads look up object IDs, read
/// objects and save.
struct RemovalDuringLookUpTests {
    /// Does something in threads of its own, again and again for as long as something else is done
    /// here.
    private func repeating(_ body: @escaping @Sendable () -> Void, during change: () throws -> Void) rethrows {
        let (isOver, rounds, group) = (Counter(), Counter(), DispatchGroup())
        for _ in 0..<3 {
            group.detach {
                while isOver.value == 0 {
                    body()
                    rounds.increase()
                }
            }
        }
        defer {
            isOver.increase()
            group.wait()
        }
        #expect(wait { rounds.value > 0 })
        try change()
    }

    /// Removes the store of a library and adds it again, some times.
    private func removeAndAdd(_ library: Library, times: Int = 30) throws {
        var store = library.store
        for _ in 0..<times {
            try library.coordinator.remove(store)
            store = try library.coordinator.addPersistentStore(
                ofType: library.kind.type, configurationName: nil, at: library.kind.url(library.url), options: nil)
        }
    }

    /// A library with one author, who has two books.
    private func filledLibrary(_ kind: StoreKind) throws -> (Library, NSManagedObjectID) {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        for title in ["One", "Two"] { library.context.book(title, by: ada) }
        try library.context.save()
        return (library, ada.objectID)
    }

    @Test(arguments: StoreKind.allCases) func anIDIsFoundOrNotWhileItsStoreComesAndGoes(kind: StoreKind) throws {
        let (library, objectID) = try filledLibrary(kind)
        let coordinator = library.coordinator
        let uri = objectID.uriRepresentation()
        let (wrong, text) = (Counter(), uri.absoluteString)
        try repeating {
            if let found = coordinator.managedObjectID(forURIRepresentation: uri) {
                if found != objectID || found.entity.name != "Author" { wrong.increase() }
                if found.uriRepresentation() != uri { wrong.increase() }
                _ = found.persistentStore
            }
            if let found = coordinator.managedObjectID(for: text), found.isTemporaryID { wrong.increase() }
            // An ID that was there before outlasts its store.
            if objectID.uriRepresentation() != uri { wrong.increase() }
            _ = objectID.persistentStore
        } during: {
            try removeAndAdd(library)
        }
        #expect(wrong.value == 0)
        let found = coordinator.managedObjectID(forURIRepresentation: uri)
        // Another store in memory is another store.
        #expect(found == (kind == .inMemory ? nil : objectID))
    }

    @Test(arguments: StoreKind.allCases) func objectsAreReadOrNotWhileTheirStoreComesAndGoes(kind: StoreKind) throws {
        let (library, objectID) = try filledLibrary(kind)
        let coordinator = library.coordinator
        let wrong = Counter()
        try repeating {
            let context = coordinator.newContext()
            context.performAndWait {
                do {
                    let found = try context.existingObject(with: objectID) as? LibraryAuthor
                    if let name = found?.name, name != "Ada" { wrong.increase() }
                    for author in try context.authors() {
                        // A fault, and a relationship that nobody has read.
                        context.refresh(author, mergeChanges: false)
                        if let name = author.name, name != "Ada" { wrong.increase() }
                        if ![0, 2].contains(author.books.count) { wrong.increase() }
                        for book in author.books {
                            if let title = book.title, !["One", "Two"].contains(title) { wrong.increase() }
                        }
                    }
                    if try context.count(for: NSFetchRequest<LibraryBook>(entityName: "Book")) > 2 { wrong.increase() }
                } catch {
                    if (error as NSError).domain != NSCocoaErrorDomain { wrong.increase() }
                }
            }
        } during: {
            try removeAndAdd(library)
        }
        #expect(wrong.value == 0)
        let names = try library.newContext().names()
        #expect(names == (kind == .inMemory ? [] : ["Ada"]))
    }

    @Test func aContextMayChangeItsCoordinatorWhileAStoreComesAndGoes() throws {
        let (library, objectID) = try filledLibrary(.sqlite)
        let other = try Library(.inMemory)
        let coordinators = [library.coordinator, other.coordinator, library.coordinator]
        let wrong = Counter()
        try repeating {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.performAndWait {
                for coordinator in coordinators { context.persistentStoreCoordinator = coordinator }
                let author = try? context.existingObject(with: objectID) as? LibraryAuthor
                if let name = author?.name, name != "Ada" { wrong.increase() }
            }
        } during: {
            try removeAndAdd(library, times: 100)
        }
        #expect(wrong.value == 0)
    }

    /// A save that was reported as done is in the store, once, and one that was reported as failed
    /// is not.
    @Test(arguments: StoreKind.persistent) func aSaveIsMadeOrNotWhileItsStoreComesAndGoes(kind: StoreKind) throws {
        let (library, _) = try filledLibrary(kind)
        let coordinator = library.coordinator
        let (numbers, saved, wrong) = (Counter(), Counter(), Counter())
        try repeating {
            let context = coordinator.newContext()
            context.performAndWait {
                let author = context.author("author \(numbers.increase())")
                context.book("book", by: author)
                do {
                    try context.save()
                    saved.increase()
                } catch {
                    if (error as NSError).domain != NSCocoaErrorDomain { wrong.increase() }
                }
            }
        } during: {
            try removeAndAdd(library)
        }
        #expect(wrong.value == 0)
        #expect(library.storedCount(of: "Author") == saved.value + 1)
        #expect(library.storedCount(of: "Book") == saved.value + 2)
        #expect(Set(library.stored("name", of: "Author")).count == saved.value + 1)
    }

    /// A coordinator that other threads may find, which does not keep it alive.
    private final class Found: @unchecked Sendable {
        // Sendable: set once, and read as weak references may be by many threads.
        private(set) weak var coordinator: NSPersistentStoreCoordinator?
        init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }
    }

    @Test(arguments: StoreKind.allCases) func aCoordinatorMayGoWhileOtherThreadsLookThingsUp(kind: StoreKind) throws {
        for _ in 0..<8 {
            var owner: Library?
            func open() throws -> NSManagedObjectID {
                let (library, objectID) = try filledLibrary(kind)
                owner = library
                return objectID
            }
            let known = try open()
            let found = Found(try #require(owner?.coordinator))
            let folder = owner?.folder
            let uri = known.uriRepresentation()
            let wrong = Counter()
            repeating {
                if let coordinator = found.coordinator {
                    if let other = coordinator.managedObjectID(forURIRepresentation: uri), other != known {
                        wrong.increase()
                    }
                    let context = coordinator.newContext()
                    context.performAndWait {
                        do {
                            let author = try context.existingObject(with: known) as? LibraryAuthor
                            if let name = author?.name, name != "Ada" { wrong.increase() }
                        } catch {
                            if (error as NSError).domain != NSCocoaErrorDomain { wrong.increase() }
                        }
                    }
                }
                if known.uriRepresentation() != uri { wrong.increase() }
                _ = known.persistentStore?.url
            } during: {
                owner = nil
            }
            #expect(wrong.value == 0)
            #expect(known.uriRepresentation() == uri)
            withExtendedLifetime(folder) {}
        }
    }
}
