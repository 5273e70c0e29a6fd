import CoreData
import TestSupport
import Testing

/// The codes of situations that have one of their own.
struct ErrorCodeTests {
    private func code(_ body: () throws -> Void) -> Int? { errorThrown(by: body)?.code }

    // MARK: Contexts

    @Test func aContextWithoutACoordinatorCannotOperate() {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        #expect(
            code { _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
                == NSPersistentStoreOperationError)
        #expect(
            code { try context.execute(NSBatchUpdateRequest(entityName: "Book")) } == NSPersistentStoreOperationError)
    }

    @Test func aSaveWithinASaveIsRefusedWithItsCode() throws {
        let library = try Library(.inMemory)
        let context = library.context
        _ = LibraryTag(context: context)
        let inner = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
        ) { notification in
            guard let context = notification.object as? NSManagedObjectContext else { return }
            let failure = errorThrown { try context.save() }
            if failure?.code == 132001 { inner.increase() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.save()
        #expect(inner.value == 1)
        #expect(!context.hasChanges)
    }

    @Test func anObjectThatNoStoreTakesCannotBeSaved() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let context = coordinator.newContext()
        _ = LibraryTag(context: context)
        #expect(code { try context.save() } == NSPersistentStoreSaveError)
        #expect(context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func changesOfARemovedStoreAreNotAnInvalidRequest(kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let tag = LibraryTag(context: context)
        try context.obtainPermanentIDs(for: [tag])
        // On the context's queue, where it lets go of the objects at once.
        try context.performAndWait { try library.coordinator.remove(library.store) }
        // They went with the store, which gave the object its identity: there is nothing to save.
        #expect(!context.hasChanges)
        #expect(code { try context.save() } == nil)
    }

    @Test func anObjectOfAnAbstractEntityCannotBeSaved() throws {
        let folder = try TemporaryFolder()
        let entity = NSEntityDescription(
            "Shape", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        entity.isAbstract = true
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try TestStack(model, url: folder.file("shapes.sqlite"))
        let shape = NSManagedObject(entity: entity, insertInto: stack.context)
        let error = errorThrown { try stack.context.save() }
        #expect(error?.code == NSPersistentStoreSaveError)
        #expect((error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]) == [shape])
    }

    // MARK: Stores

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func aStoreOfAConfigurationThatIsNotThereIsNotOpened(type: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("library.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = errorThrown {
            _ = try coordinator.addPersistentStore(ofType: type, configurationName: "Cloud", at: file)
        }
        #expect(error?.code == NSPersistentStoreOpenError)
        #expect(error?.localizedDescription.contains("'Cloud'") == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func anEntityOutsideOfTheAssignedStoresConfigurationDoesNotFitItsSchema() throws {
        let folder = try TemporaryFolder()
        let model = Library.model()
        let tags = try #require(model.entitiesByName["Tag"])
        let books = model.entities.filter { $0.name != "Tag" }
        model.setEntities(books, forConfigurationName: "Books")
        model.setEntities([tags], forConfigurationName: "Tags")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Books", at: folder.file("books.sqlite"))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Tags", at: folder.file("tags.sqlite"))
        let context = coordinator.newContext()
        context.assign(LibraryTag(context: context), to: store)
        #expect(code { try context.save() } == NSPersistentStoreIncompatibleSchemaError)
    }

    @Test func metadataThatAreNoPropertyListMakeTheSaveFail() throws {
        let library = try Library()
        _ = LibraryTag(context: library.context)
        library.coordinator.setMetadata(["model": NSObject()], for: library.store)
        let error = errorThrown { try library.context.save() }
        #expect(error?.code == NSPersistentStoreSaveError)
        #expect(error?.localizedDescription.contains("model") == true)
        #expect(error?.userInfo[NSUnderlyingErrorKey] != nil)
    }

    @Test func stagesThatAreNoManagerAreRefusedAsAMigration() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = errorThrown {
            _ = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                options: [NSPersistentStoreStagedMigrationManagerOptionKey: NSObject()])
        }
        #expect(error?.code == NSMigrationError)
    }

    @Test func metadataThatNoTypeCanReadComeWithTheReasonOfEach() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("text.sqlite")
        try Data("no database, but a text of some length".utf8).write(to: file)
        let error = errorThrown { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(with: file) }
        #expect(error?.code == NSPersistentStoreInvalidTypeError)
        #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.isEmpty == false)
    }

    @Test func aContainerWithoutItsModelMissesAFile() {
        let error = errorThrown { _ = try NSPersistentContainer(findingModelNamed: "NoSuchModelAnywhere") }
        #expect(error?.code == CocoaError.fileReadNoSuchFile.rawValue)
    }

    // MARK: Requests

    /// Requests that raise an exception on a Mac fail with the general code here, and with an
    /// advice.
    @Test(arguments: StoreKind.allCases)
    func aRequestThatMakesNoSenseHasTheGeneralCodeAndAnAdvice(kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        _ = LibraryBook(context: context)
        try context.save()
        func book(_ change: (NSFetchRequest<NSManagedObject>) -> Void) -> NSFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            change(request)
            return request
        }
        let requests = [
            NSFetchRequest<NSManagedObject>(), NSFetchRequest<NSManagedObject>(entityName: "Leaflet"),
            book { $0.predicate = NSPredicate(format: "weight > 3") },
            book { $0.sortDescriptors = [NSSortDescriptor(key: "tags", ascending: true)] },
            book { $0.relationshipKeyPathsForPrefetching = ["title"] }, book { $0.propertiesToGroupBy = ["title"] },
        ]
        for (place, request) in requests.enumerated() {
            let error = errorThrown { _ = try context.fetch(request) }
            #expect(error?.code == NSCoreDataError, "\(place): \(String(describing: error))")
            #expect(error?.localizedRecoverySuggestion?.isEmpty == false, "\(place)")
        }
    }
}
