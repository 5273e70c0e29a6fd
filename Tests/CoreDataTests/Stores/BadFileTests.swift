import CSQLite
import CoreData
import TestSupport
import Testing

/// Files that cannot be opened: what is said about them, and that they are left as they were.
struct BadFileTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
    }

    /// The error of adding a store, which must name the file.
    private func refusal(
        _ model: NSManagedObjectModel = Library.model(), at url: URL? = nil, options: [AnyHashable: Any]? = nil,
        location: SourceLocation = #_sourceLocation
    ) throws -> NSError {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let place = url ?? self.url
        do {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: place, options: options)
            throw NothingRefused()
        } catch let error as NothingRefused {
            throw error
        } catch {
            let error = error as NSError
            #expect(coordinator.persistentStores.isEmpty, sourceLocation: location)
            #expect(text(error).contains(place.lastPathComponent), "\(text(error))", sourceLocation: location)
            return error
        }
    }

    private struct NothingRefused: Error {}

    /// Everything that a person reads of an error.
    private func text(_ error: NSError) -> String {
        [error.localizedDescription, error.localizedFailureReason, error.localizedRecoverySuggestion]
            .compactMap { $0 }.joined(separator: " ") + " \(error.userInfo)"
    }

    private func createStore(_ count: Int = 1) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        for number in 0..<count { context.book("Book \(number)", by: context.author("Author \(number)")) }
        try context.save()
        try coordinator.remove(store)
    }

    @Test func aFileThatIsNoDatabaseIsRefusedAndKept() throws {  // 298, 339
        let content = Data(String(repeating: "Not a database. ", count: 200).utf8)
        try content.write(to: url)
        let error = try refusal()
        #expect(error.domain == NSCocoaErrorDomain, "\(error)")
        #expect(error.code == CocoaError.fileReadCorruptFile.rawValue, "\(error)")
        #expect(try Data(contentsOf: url) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.sqlite"])
    }

    @Test func anEmptyFileBecomesAStore() throws {  // 298
        try Data().write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        #expect(coordinator.persistentStores.count == 1)
        let context = coordinator.newContext()
        context.author("Ada")
        try context.save()
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func aDatabaseOfSomethingElseIsRefusedAndKept() throws {  // 298
        SQLiteFile(url).execute("CREATE TABLE mine(a); INSERT INTO mine VALUES(7)")
        #expect(try refusal().code == CocoaError.fileReadCorruptFile.rawValue)
        #expect(SQLiteFile(url).value("SELECT a FROM mine") == "7")
        #expect(SQLiteFile(url).column("SELECT name FROM sqlite_master") == ["mine"])
    }

    @Test(arguments: [100, 512, 4096, 5000, 9000])
    func aTruncatedStoreGivesErrorsAndNoCrash(length: Int) throws {  // 298, 339
        try createStore(200)
        let whole = try Data(contentsOf: url)
        try #require(whole.count > length)
        try whole.prefix(length).write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = try #require(
            errorThrown {
                try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
                _ = try coordinator.newContext().names()
            })
        #expect([NSCocoaErrorDomain, NSSQLiteErrorDomain].contains(error.domain))
        #expect(text(error).contains("store.sqlite"), "\(text(error))")
        #expect(try Data(contentsOf: url).count >= length)
    }

    @Test func aStoreOfAnotherModelNamesTheEntitiesThatDiffer() throws {  // 275
        try createStore()
        let model = Library.model()
        let author = try #require(model.entitiesByName["Author"])
        author.properties += [NSAttributeDescription("email", .stringAttributeType)]
        let extra = NSEntityDescription("Extra", class: "NSManagedObject", [])
        model.entities += [extra]
        let error = try refusal(model, options: [NSMigratePersistentStoresAutomaticallyOption: false])
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        let text = text(error)
        #expect(text.contains("Author"), "\(text)")
        #expect(text.contains("Extra"), "\(text)")
        #expect(text.contains("email"), "says how the entity differs: \(text)")
        #expect(!error.localizedDescription.contains("Tag"), "\(error.localizedDescription)")
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Author 0"])
    }

    @Test func theIgnoreOptionOpensAStoreOfAnotherModel() throws {  // 276
        try createStore()
        let model = Library.model()
        try #require(model.entitiesByName["Author"]).versionHashModifier = "2"
        _ = try refusal(model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try coordinator.newContext().names() == ["Author 0"])
    }

    @Test(.enabled(if: getuid() != 0, "The superuser writes everywhere."))
    func aReadOnlyFolderIsNamed() throws {  // 339
        let closed = folder.file("closed")
        try FileManager.default.createDirectory(at: closed, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: closed.path) }
        let error = try refusal(at: closed.appendingPathComponent("store.sqlite"))
        #expect(text(error).contains("closed"))
    }

    @Test func aMissingFolderIsNamed() throws {  // 339
        let error = try refusal(at: folder.file("missing/store.sqlite"))
        #expect(error.code == NSPersistentStoreOpenError)
        #expect(text(error).contains("missing"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing").path))
    }

    @Test func aFolderIsNoStore() throws {  // 339
        let place = folder.file("folder.sqlite")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        #expect(try refusal(at: place).code == NSPersistentStoreOpenError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    @Test func anUnknownTypeIsRefused() throws {  // 339
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: "Clay", configurationName: nil, at: url)
        }
        #expect(error?.code.rawValue == 134000)
        #expect((error as NSError?)?.localizedDescription.contains("Clay") == true)
    }

    @Test func aStoreThatSaysItIsOfAnotherTypeIsRefused() throws {  // 339
        try createStore()
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        metadata[NSStoreTypeKey] = NSBinaryStoreType
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url)
        let error = try refusal()
        #expect(error.domain == NSCocoaErrorDomain, "\(error)")
        #expect(error.code == 134010, "\(error)")
        #expect(text(error).contains("'Binary'"), "\(text(error))")
        #expect(text(error).contains("'SQLite'"), "\(text(error))")
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Author 0"])
    }

    @Test func aStoreLockedByAnotherConnectionIsWaitedForAndThenRefused() throws {  // 339
        try createStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentStoreTimeoutOption: 0.05 as NSNumber])
        let context = coordinator.newContext()
        let lock = SQLiteFile(url)
        #expect(lock.execute("BEGIN IMMEDIATE"))
        context.author("New")
        #expect(try context.authors("name BEGINSWITH 'Author'").count == 1)
        let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
        #expect(error.map(text)?.contains("store.sqlite") == true)
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == 134090)
        #expect(context.hasChanges)
        #expect(lock.execute("COMMIT"))
        try context.save()
        #expect(SQLiteFile(url).value("SELECT count(*) FROM ZAUTHOR") == "2")
    }

    @Test func aSaveWaitsForAnotherWriter() async throws {  // 339
        try createStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let other = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stack in [coordinator, other] {
                group.addTask {
                    for number in 0..<20 {
                        let context = stack.newContext()
                        try await context.perform {
                            context.author("\(number)")
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(SQLiteFile(url).value("SELECT count(*) FROM ZAUTHOR") == "41")
        #expect(SQLiteFile(url).value("SELECT count(DISTINCT Z_PK) FROM ZAUTHOR") == "41")
        #expect(SQLiteFile(url).value("PRAGMA integrity_check") == "ok")
    }

    @Test func aRowThatVanishedIsReportedByItsID() throws {  // 117
        try createStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let id = try coordinator.newContext().authors()[0].objectID
        let context = coordinator.newContext()
        context.stalenessInterval = 0
        SQLiteFile(url).execute("DELETE FROM ZAUTHOR")
        let error = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
        #expect(error?.code == .managedObjectReferentialIntegrity)
        #expect((error as NSError?).map(text)?.contains("Author") == true)
    }

    @Test func aStoreIsNotAddedTwice() throws {  // 298
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let error = errorThrown {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        }
        #expect(error?.code == 134081)
        #expect(coordinator.persistentStores.count == 1)
    }
}
