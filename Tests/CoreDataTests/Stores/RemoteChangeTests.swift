import CoreData
import TestSupport
import Testing

/// `NSPersistentStoreRemoteChange` (behaviour 257).
struct RemoteChangeTests {
    private static var option: [AnyHashable: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }

    /// The first notification that an observer was given.
    private final class First: @unchecked Sendable {
        // Sendable: the notification is guarded by the lock.
        private let lock = NSLock()
        private var noted: Notification?
        var notification: Notification? { lock.withLock { noted } }
        func note(_ notification: Notification) { lock.withLock { noted = noted ?? notification } }
    }

    /// The next notification of a coordinator after `body`, as its store's UUID and URL.
    private func notice(
        _ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> Void
    ) throws -> (uuid: String?, url: URL?) {
        let posted = DispatchSemaphore(value: 0)
        let first = First()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) {
            first.note($0)
            posted.signal()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        // Without an end the tests would hang where they should fail.
        try #require(posted.wait(timeout: .now() + 60) == .success, "nothing was posted")
        let notice = try #require(first.notification)
        return (notice.userInfo?[NSStoreUUIDKey] as? String, notice.userInfo?[NSPersistentStoreURLKey] as? URL)
    }

    @Test func aSavePostsTheStoresUUIDAndURL() throws {  // 257
        let library = try Library(options: Self.option)
        let notice = try notice(library.coordinator) {
            library.context.author("Ada")
            try library.context.save()
        }
        #expect(notice.uuid == library.store.identifier)
        #expect(notice.url == library.url)
    }

    @Test func everySaveIsPosted() throws {  // 257
        let library = try Library(options: Self.option)
        for name in ["Ada", "Bob"] {
            let notice = try notice(library.coordinator) {
                library.context.author(name)
                try library.context.save()
            }
            #expect(notice.uuid == library.store.identifier)
        }
    }

    @Test func aSaveThroughAnotherCoordinatorIsPostedToo() throws {  // 257
        let library = try Library(options: Self.option)
        let other = try library.newStackContext()
        let notice = try notice(library.coordinator) {
            other.author("Ada")
            try other.save()
        }
        #expect(notice.uuid == library.store.identifier)
        #expect(notice.url == library.url)
    }

    /// Posts come in order, so that the second save's would come after one of the first.
    @Test func withoutTheOptionNothingIsPosted() throws {  // 257
        let silent = try Library()
        let loud = try Library(options: Self.option)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: silent.coordinator)
        silent.context.author("Ada")
        try silent.context.save()
        _ = try notice(loud.coordinator) {
            loud.context.author("Ada")
            try loud.context.save()
        }
        #expect(log.count == 0)
    }

    @Test("97, 257: a save that writes nothing is in no history, and told to nobody")
    func whatWritesNothingIsNotPosted() throws {
        let library = try Library(options: Self.option.merging([NSPersistentHistoryTrackingKey: true]) { $1 })
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        library.context.delete(library.context.author("Ada"))
        try library.context.save()
        #expect(!library.context.hasChanges)
        library.context.author("Bob")
        try library.context.save()
        // Once another store's save is told, all observers of those before it have been called.
        let loud = try Library(options: Self.option)
        _ = try notice(loud.coordinator) {
            loud.context.author("Ada")
            try loud.context.save()
        }
        #expect(log.count == 1)
        #expect(library.file.value("SELECT count(*) FROM ATRANSACTION") == "1")
    }

    @Test func anObserverMayUseTheContextThatSaves() throws {  // 257
        let library = try Library(options: Self.option)
        let context = library.context
        let done = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: library.coordinator, queue: nil
        ) { _ in context.performAndWait { _ = done.signal() } }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.performAndWait {
            context.author("Ada")
            try context.save()
        }
        #expect(done.wait(timeout: .now() + 60) == .success, "the observer was not called, or waits for the context")
    }

    @Test func aRemovedStorePostsNothingMore() throws {  // 257
        let library = try Library(options: Self.option)
        let other = try library.newStackContext()
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        try library.coordinator.remove(library.store)
        other.author("Ada")
        try other.save()
        let loud = try Library(options: Self.option)
        _ = try notice(loud.coordinator) {
            loud.context.author("Ada")
            try loud.context.save()
        }
        #expect(log.count == 0)
    }
}
