import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Saves and events whose observers wait for other contexts.
struct ReservedContextTests {
    private static let told: [Notification.Name] = [
        .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange,
    ]

    /// The state that the threads of a test share. Contexts are used in their blocks only.
    private final class Contexts: @unchecked Sendable {
        // Sendable: constants, and the contexts are used in their blocks only.
        let library: Library
        let writer: NSManagedObjectContext
        let view: NSManagedObjectContext
        private var tokens: [any NSObjectProtocol] = []

        init(_ kind: StoreKind, viewIsMain: Bool = false, writerHasParent: Bool = false) throws {
            library = try Library(kind)
            if writerHasParent {
                writer = library.context.newChild()
            } else {
                writer = library.newContext()
            }
            view = NSManagedObjectContext(viewIsMain ? .mainQueue : .privateQueue)
            view.persistentStoreCoordinator = library.coordinator
        }

        func observe(
            _ name: Notification.Name, of context: NSManagedObjectContext,
            _ body: @escaping @Sendable (Notification) -> Void
        ) {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil, using: body))
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    }

    /// A queue's blocks run one after the other, whatever they wait for.
    @Test(arguments: Self.told, [false, true])
    func nobodyGetsIntoASaveWhoseObserverWaits(name: Notification.Name, hasParent: Bool) throws {  // 146
        let contexts = try Contexts(.inMemory, writerHasParent: hasParent)
        let (writer, view) = (contexts.writer, contexts.view)
        contexts.observe(name, of: writer) { _ in view.performAndWait {} }
        let steps = Mutex<[String]>([])
        let viewIsBusy = DispatchSemaphore(value: 0)
        let viewMayEnd = DispatchSemaphore(value: 0)
        view.perform {
            viewIsBusy.signal()
            viewMayEnd.wait()
        }
        viewIsBusy.wait()
        let group = DispatchGroup()
        let firstHasBegun = DispatchSemaphore(value: 0)
        for number in 1...2 {
            group.detach {
                writer.performAndWait {
                    steps.withLock { $0.append("begin") }
                    firstHasBegun.signal()
                    writer.author("\(number)")
                    do { try writer.save() } catch { steps.withLock { $0.append("\(error)") } }
                    steps.withLock { $0.append("end") }
                }
            }
            firstHasBegun.wait(timeout: .now() + (number == 1 ? 10 : 0.2)) == .success ? () : ()
        }
        viewMayEnd.signal()
        #expect(group.wait(timeout: .now() + 60) == .success)
        #expect(steps.withLock { $0 } == ["begin", "end", "begin", "end"])
        let names = try writer.performAndWait { try writer.names() }
        #expect(names == ["1", "2"])
    }

    /// Observers of several contexts wait for each other's: all saves end, also where children need
    /// what is reserved.
    @Test func observersThatWaitInARingAllEnd() throws {
        let library = try Library(.inMemory)
        let contexts = (0..<3).map { _ in library.newContext() }
        let child = contexts[0].newChild()
        let all = contexts + [child]
        let ends = try runInRings(all, library, mainThread: false)
        #expect(ends)
    }

    /// As above, with a context of the main queue.
    @Test @MainActor func observersThatWaitForTheMainThreadAllEnd() async throws {
        let library = try Library(.inMemory)
        let main = NSManagedObjectContext(.mainQueue)
        main.persistentStoreCoordinator = library.coordinator
        let child = main.newChild()
        let tokens = Self.connect([main, library.context, child])
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let count = LongTests.areEnabled ? 3000 : 100
        let other = library.context
        let saved = Mutex(0)
        let working = Mutex(3)
        for (number, context) in [other, child, main].enumerated() {
            Thread.detachNewThread {
                for round in 0..<count {
                    context.performAndWait {
                        context.author("\(number) \(round)")
                        if (try? context.save()) != nil { saved.withLock { $0 += 1 } }
                    }
                }
                working.withLock { $0 -= 1 }
            }
        }
        let end = Date() + 1800
        var round = 0
        while working.withLock({ $0 }) > 0, Date() < end {
            if round < count { main.author("here") }
            round += 1
            try? main.save()
            await Task.yield()
        }
        #expect(working.withLock { $0 } == 0, "Observers wait for each other for ever.")
        #expect(saved.withLock { $0 } > 0)
    }

    /// Has each context's saves told to the next one, which waits.
    private static func connect(_ contexts: [NSManagedObjectContext]) -> [any NSObjectProtocol] {
        contexts.indices.map { index in
            let next = contexts[(index + 1) % contexts.count]
            return NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: contexts[index], queue: nil
            ) {
                _ in
                next.performAndWait { _ = try? next.names("name == 'none'") }
            }
        }
    }

    private func runInRings(_ contexts: [NSManagedObjectContext], _ library: Library, mainThread: Bool) throws -> Bool {
        let tokens = Self.connect(contexts)
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let group = DispatchGroup()
        for thread in 0..<4 {
            group.detach {
                var random = SeededGenerator(seed: UInt64(thread))
                for round in 0..<(LongTests.areEnabled ? 5000 : 150) {
                    let context = contexts[Int.random(in: contexts.indices, using: &random)]
                    let outer = contexts[Int.random(in: contexts.indices, using: &random)]
                    func save() {
                        context.performAndWait {
                            context.author("\(thread) \(round)")
                            try? context.save()
                            context.reset()
                        }
                    }
                    if Bool.random(using: &random) { outer.performAndWait { save() } } else { save() }
                }
            }
        }
        return group.wait(timeout: .now() + 1800) == .success
    }

    /// The main queue of an asynchronous program runs on any thread; what it does on the
    /// coordinator's queue is still its own.
    @Test @MainActor func theMainQueueWaitsOnTheCoordinatorsForItself() async throws {
        let contexts = try Contexts(.inMemory, viewIsMain: true)
        await Task.yield()
        let view = contexts.view
        let count = try contexts.library.coordinator.performAndWait {
            view.author("Ada")
            return try view.performAndWait { try view.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) }
        }
        #expect(count == 1)
    }

    /// An observer may wait for another thread that needs the coordinator.
    @Test func storesAreRemovedWhileObserversWaitForOtherThreads() throws {
        let contexts = try Contexts(.inMemory)
        let (library, coordinator) = (contexts.library, contexts.library.coordinator)
        let isAdded = Mutex(false)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: library.store, queue: nil
        ) { _ in
            let group = DispatchGroup()
            group.detach {
                let url = URL(fileURLWithPath: "/dev/null/other")
                let added = try? coordinator.addPersistentStore(
                    ofType: NSInMemoryStoreType, configurationName: nil, at: url)
                isAdded.withLock { $0 = added != nil }
            }
            _ = group.wait(timeout: .now() + 600)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try coordinator.remove(library.store)
        #expect(isAdded.withLock { $0 })
        #expect(coordinator.persistentStores.count == 1)
    }

    // MARK: Saves in observers

    /// The delete rules of objects that an observer deletes are applied when the observer saves.
    @Test(arguments: StoreKind.allCases)
    func aSaveInAnObserverAppliesDeleteRules(_ kind: StoreKind) throws {
        let contexts = try Contexts(kind)
        let (writer, library) = (contexts.writer, contexts.library)
        try writer.performAndWait {
            let ada = writer.author("Ada")
            writer.book("Notes", by: ada)
            writer.book("Sketches", by: ada)
            try writer.save()
        }
        let failure = Mutex<String?>(nil)
        contexts.observe(.NSManagedObjectContextObjectsDidChange, of: writer) { _ in
            guard let ada = try? writer.authors("name == 'Ada'").first, !ada.isDeleted else { return }
            writer.delete(ada)
            do { try writer.save() } catch { failure.withLock { $0 = "\(error)" } }
        }
        let authors = try writer.performAndWait {
            writer.book("Letters")
            writer.processPendingChanges()
            #expect(failure.withLock { $0 } == nil)
            #expect(!writer.hasChanges)
            return try writer.books().map { $0.author == nil }
        }
        #expect(authors == [true, true, true])
        let reader = try library.newStackContextOrSame()
        let found = try reader.performAndWait {
            (names: try reader.names(), titles: try reader.titles("author == nil"))
        }
        #expect(found.names.isEmpty)
        #expect(found.titles == ["Letters", "Notes", "Sketches"])
    }

    /// An observer's own changes are told as an event of their own, once.
    @Test func changesOfAnObserverThatSavesAreToldOnce() throws {
        let contexts = try Contexts(.inMemory)
        let writer = contexts.writer
        let told = Mutex<[[String]]>([])
        contexts.observe(.NSManagedObjectContextObjectsDidChange, of: writer) { notification in
            let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
            let names = inserted.compactMap { ($0 as? LibraryAuthor)?.name }.sorted()
            told.withLock { $0.append(names) }
            if names == ["Ada"] {
                writer.author("Bob")
                try? writer.save()
            }
        }
        let names = try writer.performAndWait {
            writer.author("Ada")
            writer.processPendingChanges()
            #expect(!writer.hasChanges)
            return try writer.names()
        }
        #expect(names == ["Ada", "Bob"])
        #expect(told.withLock { $0 } == [["Ada"], ["Bob"]])
    }

    // MARK: Fetches that read meanwhile

    /// Rows that were read before a save are no objects of the context after it.
    @Test(arguments: StoreKind.allCases)
    func anAsynchronousFetchDoesNotBringBackWhatWasDeletedMeanwhile(_ kind: StoreKind) async throws {  // 193
        let contexts = try Contexts(kind)
        let writer = contexts.writer
        try writer.performAndWait {
            for name in ["Ada", "Bob", "Cy"] { writer.author(name) }
            try writer.save()
            writer.reset()
        }
        let names: [String?] = try await withCheckedThrowingContinuation { continuation in
            writer.perform {
                do {
                    let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
                    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                    _ = try writer.execute(
                        NSAsynchronousFetchRequest(fetchRequest: request) { result in
                            continuation.resume(returning: result.finalResult?.map(\.name) ?? [])
                        })
                    // Until the rows have been read.
                    Thread.sleep(forTimeInterval: 0.2)
                    for author in try writer.authors("name == 'Bob'") { writer.delete(author) }
                    try writer.save()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(names == ["Ada", "Cy"])
    }
}

extension Library {
    /// A context that has read nothing: on a coordinator of its own, but for stores that only one
    /// coordinator has or writes.
    fileprivate func newStackContextOrSame() throws -> NSManagedObjectContext {
        kind.isDatabase ? try newStackContext() : newContext()
    }
}
