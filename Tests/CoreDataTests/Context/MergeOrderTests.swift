import CoreData
import Synchronization
import TestSupport
import Testing

/// Contexts that merge automatically have what was saved before anything that an observer of the
/// save enqueues.
@Suite(.everyStore) struct MergeOrderTests {
    private let library: Library
    private let writer: NSManagedObjectContext

    init() throws {
        library = try Library()
        writer = library.newContext()
        try writer.performAndWait {
            writer.author("Ada")
            try writer.save()
        }
    }

    /// A context that merges, with the author in it.
    private func follower(_ context: NSManagedObjectContext) throws -> (
        context: NSManagedObjectContext, author: LibraryAuthor
    ) {
        try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            let ada = try #require(try context.authors().first)
            #expect(ada.name == "Ada")
            return (context, ada)
        }
    }

    /// The name that a follower shows in a block which is enqueued when a notification is posted.
    private func name(
        in follower: (context: NSManagedObjectContext, author: LibraryAuthor), enqueuedWith name: Notification.Name,
        of poster: NSManagedObjectContext, _ change: () throws -> Void
    ) throws -> String? {
        let context = follower.context
        nonisolated(unsafe) let author = follower.author
        let shown = ShownName()
        let isShown = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(forName: name, object: poster, queue: nil) { _ in
            context.perform {
                shown.set(author.name)
                isShown.signal()
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try change()
        #expect(isShown.wait(timeout: .now() + 30) == .success)
        return shown.name
    }

    private func rename(to name: String) throws {
        try writer.performAndWait {
            try #require(try writer.authors().first).name = name
            try writer.save()
        }
    }

    @Test func aBlockEnqueuedByAnObserverOfASaveFindsWhatWasSaved() throws {
        let follower = try follower(library.newContext())
        for (name, text) in [
            (NSManagedObjectContext.didSaveObjectsNotification, "Ida"),
            (NSManagedObjectContext.didSaveObjectIDsNotification, "Eda"),
        ] {
            #expect(try self.name(in: follower, enqueuedWith: name, of: writer) { try rename(to: text) } == text)
        }
    }

    /// As an observer with the main queue does in a program for a Mac.
    @Test @MainActor func workEnqueuedOnTheMainQueueByAnObserverOfASaveFindsWhatWasSaved() async throws {
        let main = NSManagedObjectContext(.mainQueue)
        main.persistentStoreCoordinator = library.coordinator
        let ada = try follower(main).author
        let writer = writer
        let shown = ShownName()
        nonisolated(unsafe) let author = ada
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
        ) { _ in
            DispatchQueue.main.async { shown.set(author.name) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try await writer.perform {
            try writer.authors().first?.name = "Ida"
            try writer.save()
        }
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(shown.name == "Ida")
    }

    @Test func aBlockEnqueuedByAnObserverOfAMergeFindsItInTheChildren() throws {
        let parent = try follower(library.newContext())
        let child = parent.context.newChild()
        let shown = try name(
            in: follower(child), enqueuedWith: NSManagedObjectContext.didMergeChangesObjectIDsNotification,
            of: parent.context
        ) { try rename(to: "Ida") }
        #expect(shown == "Ida")
    }
}

/// The name that an observer has seen.
private final class ShownName: Sendable {
    private let value = Mutex<String?>(nil)

    var name: String? { value.withLock { $0 } }
    func set(_ name: String?) { value.withLock { $0 = name } }
}
