import CoreData
import TestSupport
import Testing

/// Files of SQLite stores: creating, metadata, moving, copying, destroying.
struct StoreFileTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
    }

    private func open(
        _ url: URL? = nil, configuration: String? = nil, options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: url ?? self.url, options: options)
        return (coordinator, store)
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator, _ name: String) throws {
        let context = coordinator.newContext()
        context.book("Notes", by: context.author(name))
        try context.save()
    }

    @Test func addingAStoreCreatesItsFile() throws {  // 298
        #expect(!FileManager.default.fileExists(atPath: url.path))
        let (coordinator, store) = try open()
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(store.url == url)
        #expect(store.type == NSSQLiteStoreType)
        #expect(coordinator.persistentStore(for: url) === store)
        #expect(coordinator.url(for: store) == url)
        #expect(coordinator.persistentStores == [store])
    }

    @Test func theJournalIsWrittenAheadUnlessAPragmaSaysOtherwise() throws {  // 299
        let (coordinator, _) = try open()
        try fill(coordinator, "Ada")
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "wal")
        let other = folder.file("delete.sqlite")
        let (second, _) = try open(other, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        try fill(second, "Ada")
        #expect(SQLiteFile(other).value("PRAGMA journal_mode") == "delete")
    }

    @Test func aReadOnlyStoreRefusesASave() throws {  // 300
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        try coordinator.remove(store)
        let (reader, _) = try open(options: [NSReadOnlyPersistentStoreOption: true])
        let context = reader.newContext()
        let ada = try context.authors()[0]
        #expect(ada.name == "Ada")
        ada.name = "Ida"
        #expect(throws: (any Error).self) { try context.save() }
        #expect(ada.isUpdated)
        context.rollback()
        context.author("New")
        #expect(throws: (any Error).self) { try context.save() }
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func aReadOnlyStoreIsNotCreated() throws {  // 300
        #expect(throws: (any Error).self) { try open(options: [NSReadOnlyPersistentStoreOption: true]) }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func metadataHaveTypeIdentifierAndHashes() throws {  // 301, 303
        let (coordinator, store) = try open()
        let metadata = coordinator.metadata(for: store)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(hashes == coordinator.managedObjectModel.entityVersionHashesByName)
        #expect(metadata[NSStoreModelVersionIdentifiersKey] != nil)
        try coordinator.remove(store)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(read[NSStoreUUIDKey] as? String == store.identifier)
        #expect(coordinator.managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    }

    @Test func metadataOfAStoreAreWrittenByTheNextSave() throws {  // 302, 314
        let (coordinator, store) = try open()
        var metadata = coordinator.metadata(for: store)
        metadata["city"] = "Rome"
        coordinator.setMetadata(metadata, for: store)
        #expect(coordinator.metadata(for: store)["city"] as? String == "Rome")
        let early = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(early["city"] == nil)
        try fill(coordinator, "Ada")
        let late = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(late["city"] as? String == "Rome")
    }

    @Test func aSaveWithoutChangesWritesTheMetadata() throws {  // 302, 314
        let (coordinator, store) = try open()
        var metadata = coordinator.metadata(for: store)
        metadata["city"] = "Rome"
        coordinator.setMetadata(metadata, for: store)
        try coordinator.newContext().save()
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(read["city"] as? String == "Rome")
    }

    @Test func metadataOfAClosedStoreAreWrittenAtOnce() throws {  // 302
        let (coordinator, store) = try open()
        try coordinator.remove(store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        metadata["city"] = "Rome"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(read["city"] as? String == "Rome")
        let (again, same) = try open()
        #expect(again.metadata(for: same)["city"] as? String == "Rome")
    }

    @Test func aStoreReconnectsToAnotherFile() throws {  // 304
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let moved = folder.file("moved.sqlite")
        try coordinator.replacePersistentStore(
            at: moved, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(coordinator.setURL(moved, for: store))
        #expect(store.url == moved)
        try fill(coordinator, "Bob")
        #expect(SQLiteFile(moved).column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["Ada", "Bob"])
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test("304: where there is no store, none is made", arguments: [false, true]) func aStoreStaysWhereItWas(
        isThere: Bool
    ) throws {
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let nowhere = folder.file("nowhere.sqlite")
        if isThere { try Data().write(to: nowhere) }
        #expect(!coordinator.setURL(nowhere, for: store))
        #expect(store.url == url)
        #expect(FileManager.default.fileExists(atPath: nowhere.path) == isThere)
        try fill(coordinator, "Bob")
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["Ada", "Bob"])
    }

    @Test func migratingCopiesAStoreAndRemovesTheOldOne() throws {  // 305
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let copy = folder.file("copy.sqlite")
        let new = try coordinator.migratePersistentStore(store, to: copy, options: nil, withType: NSSQLiteStoreType)
        #expect(coordinator.persistentStores == [new])
        #expect(new.url == copy)
        #expect(SQLiteFile(copy).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
        #expect(try coordinator.newContext().titles("author.name == 'Ada'") == ["Notes"])
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func migratingTellsWhichObjectsGotWhichIDs() throws {  // 170, 305
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let context = coordinator.newContext()
        let old = try context.authors()[0].objectID
        let log = NotificationLog(.NSPersistentStoreCoordinatorStoresDidChange, from: coordinator)
        let copy = try coordinator.migratePersistentStore(
            store, to: folder.file("copy.sqlite"), options: nil, withType: NSSQLiteStoreType)
        let changes = log.all.compactMap { $0.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] }
        #expect(changes.count == 1)
        let change = try #require(changes.first)
        #expect(change.count == 3)
        #expect(change[0] as? NSPersistentStore === store)
        #expect(change[1] as? NSPersistentStore === copy)
        let ids = try #require(change[2] as? [NSManagedObjectID])
        #expect(ids.count == 4)
        let place = try #require(ids.firstIndex(of: old))
        #expect(place.isMultiple(of: 2))
        #expect(try context.existingObject(with: ids[place + 1]).value(forKey: "name") as? String == "Ada")
    }

    @Test func migratingToMemoryAndBackKeepsTheObjects() throws {  // 305, 309
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let memory = try coordinator.migratePersistentStore(
            store, to: folder.file("memory"), options: nil, withType: NSInMemoryStoreType)
        #expect(memory.type == NSInMemoryStoreType)
        #expect(try coordinator.newContext().titles("author.name == 'Ada'") == ["Notes"])
        let back = folder.file("back.sqlite")
        try coordinator.migratePersistentStore(memory, to: back, options: nil, withType: NSSQLiteStoreType)
        #expect(
            SQLiteFile(back).rows("SELECT a.ZNAME, b.ZTITLE FROM ZAUTHOR a JOIN ZBOOK b ON b.ZAUTHOR = a.Z_PK") == [
                ["Ada", "Notes"]
            ])
    }

    @Test func destroyingAStoreEmptiesIt() throws {  // 306
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        #expect(SQLiteFile(url).rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z%'").isEmpty)
        let (again, _) = try open()
        #expect(try again.newContext().authors().isEmpty)
    }

    @Test func destroyingWhatIsNotThereLeavesAnEmptyDatabase() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        for _ in 0..<2 {
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
            try FileManager.default.removeItem(at: url)
        }
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(SQLiteFile(url).integer("SELECT count(*) FROM sqlite_master") == 0)
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let nowhere = folder.file("missing").appendingPathComponent("none.sqlite")
        let error = errorThrown {
            try coordinator.destroyPersistentStore(at: nowhere, ofType: NSSQLiteStoreType, options: nil)
        }
        #expect(error?.code == NSPersistentStoreOperationError)
        #expect(error?.userInfo[NSFilePathErrorKey] as? String == nowhere.path)
        #expect(!FileManager.default.fileExists(atPath: nowhere.deletingLastPathComponent().path))
    }

    @Test func destroyingAStoreThatTheCoordinatorHasMakesRoomForANewOne() throws {  // 306
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        let context = coordinator.newContext()
        let ada = try #require(try context.authors().first)
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(store.persistentStoreCoordinator == nil)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        // The context hears of it on its queue.
        context.performAndWait {}
        #expect(ada.name == nil)
        #expect(try coordinator.newContext().authors().isEmpty)
        try fill(coordinator, "Bob")
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Bob"])
    }

    @Test func replacingCopiesAWholeStoreWithItsJournal() throws {  // 307
        let (source, _) = try open()
        try fill(source, "Ada")
        let target = folder.file("target.sqlite")
        let (destination, old) = try open(target)
        try fill(destination, "Bob")
        try destination.remove(old)
        try destination.replacePersistentStore(
            at: target, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(SQLiteFile(target).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func storesOfConfigurationsAreFetchedTogether() throws {  // 308
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let (one, two) = (folder.file("one.sqlite"), folder.file("two.sqlite"))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Writing", at: one)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Labels", at: two)
        let context = coordinator.newContext()
        context.author("Ada")
        context.tag("red")
        try context.save()
        let fresh = coordinator.newContext()
        #expect(try fresh.names() == ["Ada"])
        #expect(try fresh.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).map(\.label) == ["red"])
    }

    @Test func aRelationshipAcrossStoresIsRefused() throws {  // 98
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let (one, two) = (folder.file("one.sqlite"), folder.file("two.sqlite"))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: one)
        let second = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: two)
        let context = coordinator.newContext()
        let ada = context.author("Ada")
        context.assign(ada, to: second)
        context.book("Notes", by: ada)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code.rawValue == 133010)
        #expect(SQLiteFile(one).value("SELECT count(*) FROM ZBOOK") == "0")
        #expect(SQLiteFile(two).value("SELECT count(*) FROM ZAUTHOR") == "0")
    }

    @Test func aStoreInMemoryLosesItsDataWhenRemoved() throws {  // 309
        let library = try Library(.inMemory)
        library.context.author("Ada")
        try library.context.save()
        try library.coordinator.remove(library.store)
        try library.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(try library.newContext().authors().isEmpty)
    }

    @Test func aSQLiteStoreAtTheNullDeviceLivesInMemory() throws {  // 309
        let (coordinator, _) = try open(URL(fileURLWithPath: "/dev/null"))
        try fill(coordinator, "Ada")
        #expect(try coordinator.newContext().names() == ["Ada"])
        let (other, _) = try open(URL(fileURLWithPath: "/dev/null"))
        #expect(try other.newContext().authors().isEmpty)
    }

    @Test func storesOfOneNameBelowTheNullDeviceShareTheirDatabase() throws {
        let place = URL(fileURLWithPath: "/dev/null").appendingPathComponent(UUID().uuidString)
        let (coordinator, store) = try open(place)
        try fill(coordinator, "Ada")
        let (other, otherStore) = try open(place)
        let context = other.newContext()
        #expect(try context.names() == ["Ada"])
        try fill(other, "Bea")
        #expect(try Set(coordinator.newContext().names()) == ["Ada", "Bea"])
        let (third, _) = try open(place.appendingPathExtension("other"))
        #expect(try third.newContext().authors().isEmpty)
        try coordinator.remove(store)
        #expect(try context.authors().count == 2)
        try other.remove(otherStore)
        let (fresh, _) = try open(place)
        #expect(try fresh.newContext().authors().isEmpty)
    }

    @Test func aContainerOpensAStoreBelowTheNullDevice() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let place = URL(fileURLWithPath: "/dev/null").appendingPathComponent(UUID().uuidString)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        try fill(container.persistentStoreCoordinator, "Ada")
        let (other, _) = try open(place)
        #expect(try other.newContext().names() == ["Ada"])
    }

    @Test func aDerivationThatIsNotSupportedIsRefused() throws {  // 315
        let derived = NSDerivedAttributeDescription(
            "wild", .integer64AttributeType, from: "SUBQUERY(self, $x, $x == 1).@count")
        let entity = NSEntityDescription("Wild", class: "NSManagedObject", [derived])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        }
        #expect((error as NSError?)?.localizedDescription.contains("wild") == true)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func analyzingActsWhenTheStoreIsAdded() throws {  // 316
        let (coordinator, store) = try open()
        try fill(coordinator, "Ada")
        try coordinator.remove(store)
        // Pages that nothing uses any more.
        let file = SQLiteFile(url)
        #expect(file.execute("CREATE TABLE bulk(a); INSERT INTO bulk VALUES(zeroblob(400000)); DROP TABLE bulk"))
        #expect(file.integer("PRAGMA freelist_count") ?? 0 > 50)
        #expect(SQLiteFile(url).rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").isEmpty)
        let options: [AnyHashable: Any] = [NSSQLiteAnalyzeOption: true, NSSQLiteManualVacuumOption: true]
        _ = try open(options: options)
        #expect(SQLiteFile(url).rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").count == 1)
        #expect(SQLiteFile(url).integer("PRAGMA freelist_count") == 0)
        let memory = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
    }

    @Test func theCoordinatorsQueueIsSerialAndReentrant() async throws {  // 317
        let (coordinator, _) = try open()
        let inner = coordinator.performAndWait { coordinator.performAndWait { 7 } }
        #expect(inner == 7)
        let asynchronous = await coordinator.perform { coordinator.performAndWait { 8 } }
        #expect(asynchronous == 8)
        /// A record of the blocks, in order; only the coordinator's queue keeps them apart.
        final class Log: @unchecked Sendable { var entries: [Int] = [] }
        let log = Log()
        func enqueue(_ number: Int) { coordinator.perform { log.entries.append(number) } }
        for number in 0..<500 { enqueue(number) }
        let entries = coordinator.performAndWait { log.entries }
        #expect(entries == Array(0..<500))
    }

    @Test(arguments: ["sqlite", "SQLITE"]) func aStoreIsDestroyedByItsTypeInAnyCase(type: String) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("a.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        context.author("Ada")
        try context.save()
        try coordinator.destroyPersistentStore(at: url, ofType: type, options: nil)
        #expect(coordinator.persistentStores.isEmpty)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentStoreFileProtectionKey: FileProtectionType.complete])
        #expect(try coordinator.newContext().names().isEmpty)
        #expect(
            errorThrown { try coordinator.destroyPersistentStore(at: url, ofType: "sql", options: nil) }?.code == 134000
        )
        #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: "sqlite", configurationName: nil, at: folder.file("b.sqlite"))
        }
    }
}
