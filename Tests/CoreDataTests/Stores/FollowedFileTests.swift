import CoreData
import Synchronization
import TestSupport
import Testing

/// What other coordinators write to a file, as those of other processes do.
struct FollowedFileTests {
    private static var following: [AnyHashable: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }
    private static var recorded: [AnyHashable: Any] { following.merging([NSPersistentHistoryTrackingKey: true]) { $1 } }

    /// A writer through the sqlite3 library, of which no code of this package knows.
    private func write(_ sql: String, to library: Library) throws { try library.file.run(sql) }

    private func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.authors().map { $0.name ?? "" }.sorted()
    }

    @Test("257: a write by SQL is told") func aForeignWriteIsTold() throws {
        let library = try Library(options: Self.following)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        try write("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (900, 1, 1, 'Zoe')", to: library)
        #expect(wait(upTo: 60) { log.count == 1 })
    }

    @Test func contextsThatMergeTakeForeignValues() throws {
        let library = try Library(options: Self.following)
        let author = library.context.author("Ada")
        try library.context.save()
        let context = library.coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        let held = try #require(try context.existingObject(with: author.objectID) as? LibraryAuthor)
        #expect(held.name == "Ada")
        try write("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1", to: library)
        #expect(wait(upTo: 60) { context.performAndWait { held.name == "Eve" } })
        try write("DELETE FROM ZAUTHOR", to: library)
        #expect(wait(upTo: 60) { context.performAndWait { held.managedObjectContext == nil || held.isDeleted } })
    }

    @Test func aContextThatDoesNotMergeKeepsItsValues() throws {
        let library = try Library(options: Self.following)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        let author = library.context.author("Ada")
        try library.context.save()
        #expect(wait(upTo: 60) { log.count == 1 })
        try write("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1", to: library)
        #expect(wait(upTo: 60) { log.count == 2 })
        #expect(author.name == "Ada")
        // The cached row is gone: who asks gets the present one.
        library.context.refresh(author, mergeChanges: true)
        #expect(author.name == "Eve")
    }

    @Test func ownSavesAreToldOnce() throws {
        let library = try Library(options: Self.following)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        for name in ["a", "b", "c"] {
            library.context.author(name)
            try library.context.save()
        }
        try write("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (900, 1, 1, 'Zoe')", to: library)
        #expect(wait(upTo: 60) { log.count >= 4 })
        // Whatever the system tells of the writes above, it has told by now.
        try write("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (901, 1, 1, 'Zac')", to: library)
        #expect(wait(upTo: 60) { log.count >= 5 })
        #expect(log.count == 5)
    }

    @Test func aForeignTransactionHasItsToken() throws {
        let library = try Library(options: Self.recorded)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.url,
            options: [NSPersistentHistoryTrackingKey: true])
        let other = coordinator.newContext()
        let tokens = Mutex<[NSPersistentHistoryToken]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: library.coordinator, queue: nil
        ) { notice in
            guard let token = notice.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken else { return }
            tokens.withLock { $0.append(token) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        other.author("Ada")
        try other.save()
        let expected = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        // What opened the store may be told before.
        #expect(wait(upTo: 60) { tokens.withLock { $0.last == expected } })
    }

    @Test func severalStoresOfOneFolderAreToldApart() throws {
        let (first, second) = (try Library(options: Self.following), try Library(options: Self.following))
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: first.coordinator)
        let otherLog = NotificationLog(.NSPersistentStoreRemoteChange, from: second.coordinator)
        try write("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (900, 1, 1, 'Zoe')", to: second)
        #expect(wait(upTo: 60) { otherLog.count == 1 })
        #expect(log.count == 0)
    }

    /// The pages are in the file long before the commit.
    @Test func aWriterThatTakesItsTimeIsToldAtItsEnd() throws {
        let library = try Library(options: Self.following)
        let writer = library.file
        try writer.run("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
        let insert = "INSERT INTO ZAUTHOR (Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, hex(randomblob(3000)))"
        for _ in 1...50 { try writer.run(insert) }
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        #expect(!wait(upTo: 0.3) { log.count > 0 })
        try writer.run("COMMIT")
        #expect(wait(upTo: 60) { log.count > 0 })
    }

    @Test func aMovedStoreIsFollowedAtItsNewPlace() throws {
        let library = try Library(options: Self.following)
        library.context.author("Ada")
        try library.context.save()
        let url = library.url.deletingLastPathComponent().appendingPathComponent("moved.sqlite")
        let copy = try library.coordinator.migratePersistentStore(
            library.store, to: url, options: Self.following, type: .sqlite)
        let context = library.coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        let author = try #require(try context.authors().first)
        #expect(author.name == "Ada")
        try write("UPDATE ZAUTHOR SET ZNAME = 'Old', Z_OPT = Z_OPT + 1", to: library)
        try SQLiteFile(url).run("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1")
        #expect(wait(upTo: 60) { context.performAndWait { author.name != "Ada" } })
        #expect(author.name == "Eve")
        try library.coordinator.remove(copy)
    }

    @Test func aSharedStoreInMemoryIsFollowed() throws {
        let url = URL(fileURLWithPath: "/dev/null/\(UUID().uuidString)")
        func context() throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: Self.following)
            return coordinator.newContext()
        }
        let (reader, writer) = (try context(), try context())
        reader.automaticallyMergesChangesFromParent = true
        let author = writer.author("Ada")
        try writer.save()
        let held = try #require(try reader.authors().first)
        #expect(held.name == "Ada")
        author.name = "Eve"
        try writer.save()
        #expect(wait(upTo: 60) { reader.performAndWait { held.name == "Eve" } })
    }

    @Test func storesOfOneCoordinatorAreToldApart() throws {
        let library = try Library(options: Self.following)
        let second = library.folder.file("second.sqlite")
        let other = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: second, options: Self.following)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: library.coordinator)
        try SQLiteFile(second).run("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (900, 1, 1, 'Zoe')")
        #expect(wait(upTo: 60) { log.count > 0 })
        #expect(log.all.allSatisfy { $0.userInfo?[NSStoreUUIDKey] as? String == other.identifier })
    }

    @Test func aStoreBehindALinkIsFollowed() throws {
        let library = try Library()
        library.context.author("Ada")
        try library.context.save()
        let link = library.folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: library.url)
        let reader = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        _ = try reader.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: link, options: Self.following)
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: reader)
        try write("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1", to: library)
        #expect(wait(upTo: 60) { log.count > 0 })
    }

    @Test func aStoreThatCouldNotMoveIsFollowedStill() throws {
        let library = try Library(options: Self.following)
        library.context.author("Ada")
        try library.context.save()
        let nowhere = library.folder.file("no/such/folder/library.sqlite")
        #expect(!library.coordinator.setURL(nowhere, for: library.store))
        let context = library.coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        let author = try #require(try context.authors().first)
        #expect(author.name == "Ada")
        try write("UPDATE ZAUTHOR SET ZNAME = 'Eve', Z_OPT = Z_OPT + 1", to: library)
        #expect(wait(upTo: 60) { context.performAndWait { author.name == "Eve" } })
    }

    @Test func aReadOnlyStoreFollowsAWriterThatComesLater() throws {
        let library = try Library()
        library.context.author("Ada")
        try library.context.save()
        try library.coordinator.remove(library.store)
        let reader = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        _ = try reader.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.url,
            options: Self.following.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        let context = reader.newContext()
        #expect(try names(context) == ["Ada"])
        let log = NotificationLog(.NSPersistentStoreRemoteChange, from: reader)
        let writer = try library.newStackContext()
        writer.author("Bob")
        try writer.save()
        #expect(wait(upTo: 60) { log.count >= 1 })
        #expect(try names(reader.newContext()) == ["Ada", "Bob"])
    }
}
