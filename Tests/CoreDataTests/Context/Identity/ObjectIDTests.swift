import CoreData
import TestSupport
import Testing

/// Object IDs: temporary and permanent ones, their URIs, and what they may stand for.
struct ObjectIDTests {
    @Test(arguments: StoreKind.allCases)
    func savingReplacesATemporaryIDWithAPermanentOne(kind: StoreKind) throws {  // 121
        let library = try Library(kind)
        let author = library.context.author("Ada")
        let temporary = author.objectID
        #expect(temporary.isTemporaryID)
        #expect(temporary.entity.name == "Author")
        try library.context.save()
        #expect(!author.objectID.isTemporaryID)
        #expect(author.objectID != temporary)
        #expect(temporary.isTemporaryID)
        #expect(author.objectID.entity === author.entity)
    }

    @Test func registeredObjectsAreFoundWithoutTheStore() throws {  // 119
        let library = try Library()
        let author = library.context.author("Ada")
        try library.context.save()
        let other = library.newContext()
        #expect(other.registeredObject(for: author.objectID) == nil)
        let twin = try #require(try other.authors().first)
        // With its row gone, only the context can give the object.
        library.file.execute("DELETE FROM ZAUTHOR")
        #expect(other.registeredObject(for: author.objectID) === twin)
        let fault = other.object(with: author.objectID)
        #expect(fault === twin)
        withExtendedLifetime(author) {}
    }

    @Test func obtainedIDsAreKeptByTheLaterSave() throws {  // 122, 46
        let library = try Library()
        let author = library.context.author("Ada")
        try library.context.obtainPermanentIDs(for: [author])
        let permanent = author.objectID
        #expect(!permanent.isTemporaryID)
        #expect(author.isInserted)
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "0")
        try library.context.obtainPermanentIDs(for: [author])
        #expect(author.objectID == permanent)
        try library.context.save()
        #expect(author.objectID == permanent)
        #expect(
            try library.newStackContext().existingObject(matching: permanent).value(forKey: "name") as? String == "Ada")
    }

    @Test func anObjectWithAnObtainedIDIsFoundByIt() throws {  // 122
        let library = try Library()
        let author = library.context.author("Ada")
        try library.context.obtainPermanentIDs(for: [author])
        #expect(library.context.object(with: author.objectID) === author)
        #expect(library.context.registeredObject(for: author.objectID) === author)
        #expect(try library.context.authors("name == 'Ada'").first === author)
    }

    @Test func anUnsavedObjectsIDHasNoStore() throws {  // 123
        let library = try Library()
        let author = library.context.author("Ada")
        #expect(author.objectID.persistentStore == nil)
        try library.context.save()
        #expect(author.objectID.persistentStore === library.store)
    }

    @Test func aPermanentURINamesTheStoreAndSurvivesARelaunch() throws {  // 124
        let library = try Library()
        let author = library.context.author("Ada")
        let before = author.objectID.uriRepresentation()
        try library.context.save()
        let uri = author.objectID.uriRepresentation()
        #expect(uri != before)
        #expect(uri.scheme == "x-coredata")
        let identifier: String? = library.store.identifier
        #expect(uri.absoluteString.contains(try #require(identifier)))
        let relaunched = try library.newStackContext()
        let coordinator = try #require(relaunched.persistentStoreCoordinator)
        let found = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(found.uriRepresentation() == uri)
        #expect(try relaunched.existingObject(with: found).value(forKey: "name") as? String == "Ada")
    }

    @Test func aURIOfAnUnknownStoreHasNoID() throws {  // 125
        let library = try Library()
        let author = library.context.author("Ada")
        try library.context.save()
        let uri = author.objectID.uriRepresentation()
        let other = try Library()
        #expect(other.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        let noURI = try #require(URL(string: "https://example.org/Author/p1"))
        #expect(library.coordinator.managedObjectID(forURIRepresentation: noURI) == nil)
    }

    @Test func didSaveCarriesPermanentIDs() throws {  // 126
        let library = try Library()
        let log = NotificationLog(
            [
                NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
            ], from: library.context)
        /// Whether the IDs were temporary when they were posted.
        final class Seen: @unchecked Sendable {
            // Sendable: the notification is posted on the thread that saves.
            var temporary: [Bool] = []
        }
        let seen = Seen()
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: library.context, queue: nil
        ) { notification in
            let objects = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            seen.temporary = (objects ?? []).map(\.objectID.isTemporaryID)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let author = library.context.author("Ada")
        #expect(author.objectID.isTemporaryID)
        try library.context.save()
        #expect(seen.temporary == [false])
        #expect(log.count == 2)
        #expect(
            log.all.first { $0.name == NSManagedObjectContext.didSaveObjectsNotification }?.objects(
                NSInsertedObjectsKey) == [author])
        #expect(
            log.all.first { $0.name == NSManagedObjectContext.didSaveObjectIDsNotification }?.objectIDs(
                NSInsertedObjectIDsKey)
                == [author.objectID])
    }

    @Test(arguments: StoreKind.allCases)
    func predicatesTakeObjectsAndTheirIDs(kind: StoreKind) throws {  // 127
        let library = try Library(kind)
        let context = library.context
        let ada = context.author("Ada")
        let bob = context.author("Bob")
        context.book("A", by: ada)
        context.book("B", by: bob)
        try context.save()
        #expect(try context.titles("author == %@", [ada]) == ["A"])
        #expect(try context.titles("author == %@", [ada.objectID]) == ["A"])
        #expect(try context.titles("author IN %@", [[ada, bob]]) == ["A", "B"])
        #expect(try context.titles("author IN %@", [NSSet(array: [bob])]) == ["B"])
        #expect(try context.titles("author.objectID == %@", [bob.objectID]) == ["B"])
        #expect(try context.authors("self == %@", [ada]) == [ada])
        #expect(try context.authors("SELF == %@", [ada.objectID]) == [ada])
        #expect(try context.authors("self IN %@", [[ada.objectID, bob.objectID]]) == [ada, bob])
        #expect(try context.authors("objectID == %@", [bob.objectID]) == [bob])
        #expect(try context.authors("ANY books == %@", [try context.books("title == 'B'")[0]]) == [bob])
        #expect(try context.authors("NOT self IN %@", [[ada]]) == [bob])
    }

    @Test func predicatesOfPendingObjectsTakeUnsavedObjects() throws {  // 127, 174
        let library = try Library()
        let ada = library.context.author("Ada")
        library.context.book("A", by: ada)
        #expect(try library.context.titles("author == %@", [ada]) == ["A"])
        #expect(try library.context.titles("author == %@", [ada.objectID]) == ["A"])
    }

    @Test func idsAreEqualAcrossContextsAndThreads() async throws {  // 128
        let library = try Library()
        library.context.author("Ada")
        try library.context.save()
        let id = try library.newContext().authors()[0].objectID
        let (other, hash) = try await Task.detached { [coordinator = library.coordinator] in
            let id = try coordinator.newContext().authors()[0].objectID
            return (id, id.hash)
        }.value
        #expect(id == other)
        #expect(id.hash == hash)
        #expect(Set([id, other]).count == 1)
        #expect(NSDictionary(object: 1, forKey: id).object(forKey: other) as? Int == 1)
        #expect(id.copy() as? NSManagedObjectID == id)
    }

    @Test func assignChoosesTheStore() throws {  // 129
        let library = try Library()
        let second = library.folder.file("second.sqlite")
        let store = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: second)
        let first = library.context.author("First")
        let assigned = library.context.author("Second")
        library.context.assign(assigned, to: store)
        try library.context.save()
        #expect(first.objectID.persistentStore === library.store)
        #expect(assigned.objectID.persistentStore === store)
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["First"])
        #expect(SQLiteFile(second).column("SELECT ZNAME FROM ZAUTHOR") == ["Second"])
    }

    @Test func anObjectGoesToTheFirstWritableStoreWithItsEntity() throws {  // 129, 308
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let labels = folder.file("labels.sqlite")
        let writing = folder.file("writing.sqlite")
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Labels", at: labels)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Writing", at: writing)
        let context = coordinator.newContext()
        let author = context.author("Ada")
        let tag = context.tag("red")
        try context.save()
        #expect(author.objectID.persistentStore?.url == writing)
        #expect(tag.objectID.persistentStore?.url == labels)
        #expect(SQLiteFile(labels).column("SELECT ZLABEL FROM ZTAG") == ["red"])
        #expect(SQLiteFile(writing).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
        #expect(SQLiteFile(writing).rows("SELECT 1 FROM sqlite_master WHERE name = 'ZTAG'").isEmpty)
    }
}

extension NSManagedObjectContext {
    /// The object that another coordinator knows by this ID.
    func existingObject(matching id: NSManagedObjectID) throws -> NSManagedObject {
        let own = try #require(
            persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        return try existingObject(with: own)
    }
}
