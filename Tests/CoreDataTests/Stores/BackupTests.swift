import CoreData
import TestSupport
import Testing

/// Backups of stores: made as files of their own, and brought back.
struct BackupTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
    }

    private func open(
        _ url: URL? = nil, options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        return (coordinator, try coordinator.addPersistentStore(type: .sqlite, at: url ?? self.url, options: options))
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator, _ name: String) throws {
        let context = coordinator.newContext()
        context.author(name)
        try context.save()
    }

    /// A closed store of one author.
    private func make(_ name: String, at url: URL) throws {
        let (coordinator, store) = try open(url)
        try fill(coordinator, name)
        try coordinator.remove(store)
    }

    private func names(_ url: URL) -> [String?] { SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") }

    // MARK: - Copies of all objects

    @Test func aReadOnlyCopyIsFilledAndThenRefusesSaves() throws {  // 300, 305
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let copy = folder.file("copy.sqlite")
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSSQLitePragmasOption: ["journal_mode": "DELETE"],
            NSSQLiteManualVacuumOption: true,
        ]
        let new = try coordinator.migratePersistentStore(store, to: copy, options: options, type: .sqlite)
        #expect(coordinator.persistentStores == [new])
        #expect(new.isReadOnly)
        #expect(new.options?[NSReadOnlyPersistentStoreOption] as? Bool == true)
        #expect(names(copy) == ["Ada"])
        #expect(SQLiteFile(copy).value("PRAGMA journal_mode") == "delete")
        let context = coordinator.newContext()
        try context.authors().first?.name = "Ida"
        #expect(throws: CocoaError.self) { try context.save() }
        context.rollback()
        context.author("New")
        #expect(throws: CocoaError.self) { try context.save() }
        context.rollback()
        coordinator.setMetadata(["city": "Rome"], for: new)
        try? context.save()
        try coordinator.remove(new)
        #expect(names(copy) == ["Ada"])
        #expect(try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: copy)["city"] == nil)
        #expect(!FileManager.default.fileExists(atPath: copy.path + "-wal"))
    }

    /// Values in files go along, and the files of the store that is copied stay.
    @Test func aReadOnlyCopyHasFilesOfItsOwn() throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let store = try #require(coordinator.persistentStores.first)
        let copy = folder.file("copy.sqlite")
        let new = try coordinator.migratePersistentStore(
            store, to: copy, options: [NSReadOnlyPersistentStoreOption: true], type: .sqlite)
        #expect(try Gallery.wrongPhotos(coordinator.newContext()) == [])
        let context = coordinator.newContext()
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first?.setValue(
            Data(), forKey: "photo")
        #expect(throws: CocoaError.self) { try context.save() }
        try coordinator.remove(new)
        for url in [url, copy] {
            let files = try Gallery.files(of: url)
            #expect(files.count == Gallery.names.count + 2)
            #expect(Set(files) == Set(Gallery.filesNamed(SQLiteFile(url))))
        }
        #expect(try Gallery.problems(url) == [])
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .sqlite }) func aReadOnlyCopyOfAnotherKindIsFilledToo(
        kind: StoreKind
    ) throws {
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let target = try MigratedStore(kind)
        let new = try coordinator.migratePersistentStore(
            store, to: target.url, options: [NSReadOnlyPersistentStoreOption: true], withType: kind.type)
        let context = coordinator.newContext()
        #expect(try context.names() == ["Ada"])
        try context.authors().first?.name = "Ida"
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(try coordinator.newContext().names() == ["Ada"])
        try coordinator.remove(new)
    }

    @Test(arguments: StoreKind.persistent, [true, false]) func metadataOfACopyAreWrittenWithIt(
        kind: StoreKind, hasRows: Bool
    ) throws {
        let (coordinator, store) = try open()
        if hasRows { try fill(coordinator, "Ada") }
        coordinator.setMetadata(["city": "Rome"], for: store)
        let target = try MigratedStore(kind)
        let new = try coordinator.migratePersistentStore(store, to: target.url, options: nil, withType: kind.type)
        try coordinator.remove(new)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: target.url)
        #expect(read["city"] as? String == "Rome")
        #expect(read[NSStoreUUIDKey] as? String == new.identifier)
        #expect(read[NSStoreTypeKey] as? String == kind.type)
    }

    // MARK: - Copies of files

    @Test func replacingAStoreThatTheCoordinatorHasRemovesItFirst() throws {  // 307
        let backup = folder.file("backup.sqlite")
        try make("Ada", at: backup)
        let (coordinator, store) = try open()
        try fill(coordinator, "Bob")
        let context = coordinator.newContext()
        let bob = try #require(try context.authors().first)
        let log = NotificationLog(.NSPersistentStoreCoordinatorStoresDidChange, from: coordinator)
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: .sqlite)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(store.persistentStoreCoordinator == nil)
        #expect(log.all.compactMap { $0.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] } == [[store]])
        // The context hears of it on its queue.
        context.performAndWait {}
        #expect(bob.name == nil)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(try coordinator.newContext().names() == ["Ada"])
        try fill(coordinator, "Cid")
        #expect(names(url) == ["Ada", "Cid"])
    }

    @Test func aReplacementThatFailsSaysThatTheStoreWasRemoved() throws {
        let (coordinator, _) = try open()
        try fill(coordinator, "Bob")
        let error = try #require(
            errorThrown {
                try coordinator.replacePersistentStore(
                    at: url, withPersistentStoreFrom: folder.file("nothing"), type: .sqlite)
            })
        #expect(error.code == CocoaError.fileReadNoSuchFile.rawValue)
        #expect(error.localizedDescription.contains("nothing"))
        #expect(
            error.localizedDescription.contains("was removed from the coordinator"), "\(error.localizedDescription)")
        #expect(coordinator.persistentStores.isEmpty)
        #expect(names(url) == ["Bob"])
    }

    @Test(arguments: [nil, "WAL", "DELETE"]) func theJournalModeOfTheDestinationsOptionsHolds(former: String?) throws
    {  // 299, 307
        let source = folder.file("source.sqlite")
        try make("Ada", at: source)
        if let former {
            let (coordinator, store) = try open(options: [NSSQLitePragmasOption: ["journal_mode": former]])
            try fill(coordinator, "Bob")
            try coordinator.remove(store)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.replacePersistentStore(
            at: url, destinationOptions: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]],
            withPersistentStoreFrom: source,
            type: .sqlite)
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "delete")
        #expect(names(url) == ["Ada"])
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source, type: .sqlite)
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "wal")
    }

    @Test func aStoreWithPagesOfAnotherSizeIsReplaced() throws {  // 307
        let source = folder.file("source.sqlite")
        try make("Ada", at: source)
        #expect(
            SQLiteFile(source).execute(
                "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL"))
        try make("Bob", at: url)
        let other = SQLiteFile(url)
        #expect(other.value("PRAGMA page_size") != "8192")
        #expect(other.value("SELECT count(*) FROM ZAUTHOR") == "1")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        func replace() throws {
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: [NSPersistentStoreTimeoutOption: 0.05], withPersistentStoreFrom: source,
                type: .sqlite)
        }
        // Others have it open, for whom pages cannot change their size.
        #expect(throws: CocoaError.self) { try replace() }
        #expect(names(url) == ["Bob"])
        withExtendedLifetime(other) {}
    }

    @Test func aClosedStoreWithPagesOfAnotherSizeIsReplaced() throws {  // 307
        let source = folder.file("source.sqlite")
        try make("Ada", at: source)
        #expect(
            SQLiteFile(source).execute(
                "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL"))
        try make("Bob", at: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source, type: .sqlite)
        #expect(names(url) == ["Ada"])
        #expect(SQLiteFile(url).value("PRAGMA page_size") == "8192")
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "wal")
        #expect(SQLiteFile(url).value("PRAGMA integrity_check") == "ok")
    }

    // MARK: - Removal

    @Test func aCoordinatorWithoutAModelReplacesAndDestroys() throws {  // 306, 307
        let source = folder.file("source.sqlite")
        try make("Ada", at: source)
        let coordinator = NSPersistentStoreCoordinator()
        #expect(coordinator.managedObjectModel.entities.isEmpty)
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source, type: .sqlite)
        #expect(names(url) == ["Ada"])
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(SQLiteFile(url).rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z%'").isEmpty)
    }

    @Test(arguments: ["WAL", "DELETE"]) func aStoreThatOthersHaveLockedIsDestroyedByForceOnly(journal: String) throws
    {  // 306
        let (coordinator, store) = try open(options: [NSSQLitePragmasOption: ["journal_mode": journal]])
        try fill(coordinator, "Ada")
        try coordinator.remove(store)
        let other = SQLiteFile(url)
        #expect(other.execute("BEGIN EXCLUSIVE; UPDATE ZAUTHOR SET ZNAME = 'Ida'"))
        var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.05]
        #expect(throws: CocoaError.self) {
            try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: options)
        }
        options[NSPersistentStoreForceDestroyOption] = true
        try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: options)
        #expect(SQLiteFile(url).rows("SELECT name FROM sqlite_master").isEmpty)
        try make("Bob", at: url)
        // What the other writes now is gone, and does no harm to the new store.
        other.execute("COMMIT")
        other.execute("UPDATE ZAUTHOR SET ZNAME = 'Eve'")
        #expect(names(url) == ["Bob"])
        #expect(SQLiteFile(url).value("PRAGMA integrity_check") == "ok")
    }
}
