import CoreData
import TestSupport
import Testing

/// IDs, objects and stores of one coordinator that are given to a context of another one.
struct ForeignIDTests {
    /// Contexts of two coordinators on the same two stores, which were added in different orders
    /// and so have different numbers.
    private final class Twins {
        let folder: TemporaryFolder
        let first: NSManagedObjectContext
        let second: NSManagedObjectContext
        let ada: LibraryAuthor
        let red: LibraryTag

        init(_ kind: StoreKind = .sqlite) throws {
            folder = try TemporaryFolder()
            first = try Self.context(kind, folder, ["Writing", "Labels"])
            second = try Self.context(kind, folder, ["Labels", "Writing"])
            ada = first.author("Ada")
            red = first.tag("red")
            try first.save()
        }

        private static func context(
            _ kind: StoreKind, _ folder: TemporaryFolder, _ configurations: [String]
        ) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            for configuration in configurations {
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: configuration,
                    at: kind.url(folder.file("\(configuration).sqlite")))
            }
            return coordinator.newContext()
        }
    }

    // MARK: The same store

    @Test(arguments: StoreKind.persistent) func anotherCoordinatorsIDNamesTheSameRow(kind: StoreKind) throws {
        let twins = try Twins(kind)
        let author = try #require(twins.second.object(with: twins.ada.objectID) as? LibraryAuthor)
        #expect(author.name == "Ada")
        #expect(author.managedObjectContext === twins.second)
        #expect(author.entity === twins.second.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Author"])
        #expect(author.objectID == twins.ada.objectID)
        #expect(author.objectID.persistentStore?.persistentStoreCoordinator === twins.second.persistentStoreCoordinator)
        #expect(twins.second.registeredObject(for: twins.ada.objectID) === author)
        #expect(try twins.second.existingObject(with: twins.red.objectID).value(forKey: "label") as? String == "red")
        let child = twins.second.newChild()
        #expect(child.object(with: twins.ada.objectID).value(forKey: "name") as? String == "Ada")
        author.name = "Ida"
        try twins.second.save()
        #expect(try twins.first.authors("name == 'Ida'").map(\.objectID) == [author.objectID])
    }

    @Test(arguments: StoreKind.persistent) func predicatesCompareWithAnotherCoordinatorsIDsAndObjects(kind: StoreKind)
        throws
    {
        let twins = try Twins(kind)
        let bob = twins.first.author("Bob")
        twins.first.book("Notes", by: twins.ada)
        try twins.first.save()
        for isPending in [false, true] {
            if isPending { twins.second.author("Cid") }
            #expect(try twins.second.names("SELF == %@", [twins.ada.objectID]) == ["Ada"])
            #expect(try twins.second.names("SELF IN %@", [[twins.ada.objectID, bob.objectID]]) == ["Ada", "Bob"])
            #expect(
                try twins.second.names("SELF IN %@", [Array(repeating: twins.ada.objectID, count: 3000)]) == ["Ada"])
            #expect(try twins.second.names("SELF == %@", [bob]) == ["Bob"])
            #expect(try twins.second.titles("author == %@", [twins.ada]) == ["Notes"])
            #expect(try twins.second.titles("author == %@", [bob.objectID]) == [])
        }
    }

    @Test(arguments: StoreKind.persistent) func aSaveOfAnotherCoordinatorsContextIsMerged(kind: StoreKind) throws {
        let twins = try Twins(kind)
        let bob = twins.first.author("Bob")
        try twins.first.save()
        let mine = try twins.second.authors()
        #expect(mine.map(\.name) == ["Ada", "Bob"])
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: twins.first)
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: twins.second)
        twins.ada.name = "Ida"
        twins.first.delete(bob)
        let cid = twins.first.author("Cid")
        try twins.first.save()
        twins.second.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        #expect(mine[0].name == "Ida")
        #expect(mine[1].isDeleted)
        let inserted = changes.all.flatMap { $0.objects(NSInsertedObjectsKey) }
        #expect(inserted.map(\.objectID) == [cid.objectID])
        #expect(inserted.allSatisfy { $0.managedObjectContext === twins.second })
        #expect((inserted.first as? LibraryAuthor)?.name == "Cid")
    }

    @Test func aRemoteSaveIsMergedByAnotherCoordinatorsIDs() throws {
        let twins = try Twins()
        let mine = try twins.second.authors()
        #expect(mine.map(\.name) == ["Ada"])
        twins.ada.name = "Ida"
        try twins.first.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [twins.ada.objectID]], into: [twins.second])
        #expect(mine.map(\.name) == ["Ida"])
        twins.first.delete(twins.ada)
        try twins.first.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectsKey: [twins.ada.objectID]], into: [twins.second])
        #expect(mine[0].managedObjectContext == nil)
    }

    @Test(arguments: StoreKind.persistent) func rowsAreDeletedByAnotherCoordinatorsIDs(kind: StoreKind) throws {
        let twins = try Twins(kind)
        twins.first.author("Bob")
        try twins.first.save()
        let request = NSBatchDeleteRequest(objectIDs: [twins.ada.objectID])
        request.affectedStores = [try #require(twins.ada.objectID.persistentStore)]
        request.resultType = .resultTypeCount
        #expect((try twins.second.execute(request) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try twins.second.names() == ["Bob"])
    }

    @Test func storesOfAnotherCoordinatorStandForTheOwnOnes() throws {
        let twins = try Twins()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.affectedStores = [try #require(twins.ada.objectID.persistentStore)]
        #expect(try twins.second.fetch(request).map(\.name) == ["Ada"])
        request.affectedStores = [try Library().store]
        #expect(try twins.second.fetch(request) == [])
    }

    @Test func aStoreThatNumbersItsRowsByItselfIsAskedForThem() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NameService.self, type: NameService.storeType)
        func authors(_ options: [AnyHashable: Any]?) throws -> (
            context: NSManagedObjectContext, authors: [NSManagedObject]
        ) {
            let author = NSEntityDescription(
                "Author", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([author]))
            try coordinator.addPersistentStore(
                ofType: NameService.storeType.rawValue, configurationName: nil, at: nil, options: options)
            let context = coordinator.newContext()
            return (context, try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")))
        }
        func names(_ objects: [NSManagedObject]) -> [String?] { objects.map { $0.value(forKey: "name") as? String } }
        let (first, theirs) = try authors(nil)
        let (second, own) = try authors([NameService.isReversed: true])
        #expect(names(theirs) == ["Ada", "Bob"])
        #expect(names(own) == ["Bob", "Ada"])
        #expect(names(theirs.map { second.object(with: $0.objectID) }) == ["Ada", "Bob"])
        #expect(second.object(with: theirs[0].objectID) === own[1])
        withExtendedLifetime(first) {}
    }

    // MARK: Another store

    @Test(arguments: StoreKind.allCases) func anIDOfAnotherStoreNamesNoRow(kind: StoreKind) throws {
        let (library, other) = (try Library(kind), try Library(kind))
        let bob = other.context.author("Bob")
        try other.context.save()
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other.context)
        let context = library.context
        let ada = context.author("Ada")
        try context.save()
        #expect(context.registeredObject(for: bob.objectID) == nil)
        let error = #expect(throws: NSError.self) { try context.existingObject(with: bob.objectID) }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.localizedDescription.contains("does not have the store") == true)
        #expect(try context.names("SELF == %@", [bob.objectID]) == [])
        #expect(try context.names("SELF IN %@", [[bob.objectID]]) == [])
        #expect(throws: NSError.self) { try context.execute(NSBatchDeleteRequest(objectIDs: [bob.objectID])) }
        bob.name = "Bobby"
        other.context.author("Cid")
        try other.context.save()
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectsKey: [bob.objectID]], into: [context])
        #expect(changes.count == 0)
        #expect(ada.managedObjectContext === context)
        #expect(try context.names() == ["Ada"])
    }

    @Test func aTemporaryIDOfAnotherModelNamesNothing() throws {
        let library = try Library()
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([note]))
        let context = coordinator.newContext()
        let new = NSManagedObject(entity: note, insertInto: context)
        #expect(library.context.registeredObject(for: new.objectID) == nil)
        let error = #expect(throws: NSError.self) { try library.context.existingObject(with: new.objectID) }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.localizedDescription.contains("has no entity 'Note'") == true)
    }

    @Test func anIDWhoseStoreNobodyHasOpenNamesNoRow() throws {
        let library = try Library()
        let objectID = try {
            let other = try Library()
            let bob = other.context.author("Bob")
            try other.context.save()
            return bob.objectID
        }()
        let error = #expect(throws: NSError.self) { try library.context.existingObject(with: objectID) }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.localizedDescription.contains("does not have the store") == true)
    }

    @Test func anObjectOfAnotherStoreStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (library, other) = (try Library(), try Library())
            let bob = other.context.author("Bob")
            try other.context.save()
            library.context.author("Ada")
            try library.context.save()
            library.context.name = "reader"
            _ = library.context.object(with: bob.objectID)
        }
        let missing = Complaint(result?.standardErrorContent)
            .lacks(
                "The context \"reader\" cannot find the object", "/Author/p1", "does not have the store",
                "library.sqlite")
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func anotherContextsObjectIsNotCheckedForConflicts() throws {
        let (library, other) = (try Library(), try Library())
        let bob = other.context.author("Bob")
        try other.context.save()
        #expect(bob.name == "Bob")
        library.context.author("Ada")
        try library.context.save()
        #expect(library.file.execute("UPDATE ZAUTHOR SET Z_OPT = 7"))
        library.context.detectConflicts(for: bob)
        library.context.author("Cid")
        try library.context.save()
        #expect(try library.context.names() == ["Ada", "Cid"])
    }
}

/// Authors who are known by their names, which each coordinator asks for in an order of its own.
private final class NameService: NSIncrementalStore, @unchecked Sendable {
    // Sendable: adds no state.
    static let storeType = NSPersistentStore.StoreType(rawValue: "ForeignIDTests.NameService")
    static let isReversed = "isReversed"

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "6B7C1D9E-0F3A-4C7B-9A53-5B0C2F1E8D44"]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else {
            return [Any]()
        }
        let names = options?[Self.isReversed] == nil ? ["Ada", "Bob"] : ["Bob", "Ada"]
        return names.map { context?.object(with: newObjectID(for: entity, referenceObject: $0)) as Any }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: objectID, withValues: ["name": referenceObject(for: objectID)], version: 1)
    }
}
