import CoreData
import TestSupport
import Testing

/// Requests that are handed to a context or a coordinator as such.
@Suite(.everyStore) struct RequestTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.context
    }

    private func request() -> NSFetchRequest<LibraryAuthor> {
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    private final class StrangeRequest: NSPersistentStoreRequest {}

    @Test func aContextExecutesFetchRequests() throws {
        context.author("Ada")
        try context.save()
        let result = try #require(try context.execute(request()) as? NSAsynchronousFetchResult<LibraryAuthor>)
        #expect(result.finalResult?.map(\.name) == ["Ada"])
        #expect(result.operationError == nil)
    }

    @Test func aCoordinatorGivesTheFetchedObjects() throws {
        context.author("Ada")
        try context.save()
        let objects = try #require(try library.coordinator.execute(request(), with: context) as? [LibraryAuthor])
        #expect(objects.map(\.name) == ["Ada"])
        #expect(objects.first?.managedObjectContext === context)
    }

    @Test func aContextRefusesSaveRequestsAndStrangeOnes() throws {  // 244, 338
        for request in [NSSaveChangesRequest(), StrangeRequest()] {
            let error = try #require(errorThrown { try context.execute(request) })
            #expect(error.code == CocoaError.persistentStoreUnsupportedRequestType.rawValue)
        }
        let error = try #require(errorThrown { try library.coordinator.execute(StrangeRequest(), with: context) })
        #expect(error.code == CocoaError.persistentStoreUnsupportedRequestType.rawValue)
    }

    @Test func aCoordinatorWritesWhatASaveRequestNames() throws {
        let ada = context.author("Ada")
        let ben = context.author("Ben")
        let request = NSSaveChangesRequest(inserted: [ada], updated: nil, deleted: nil, locked: nil)
        let answer = try library.coordinator.execute(request, with: context)
        #expect((answer as? [Any])?.isEmpty == true)
        #expect(library.stored("name", of: "Author") == ["Ada"])
        #expect(!ada.hasChanges)
        #expect(ben.isInserted)

        ada.name = "Augusta"
        let cora = context.author("Cora")
        try context.save()
        cora.name = "Carla"
        context.delete(ben)
        let changes = NSSaveChangesRequest(inserted: nil, updated: [cora], deleted: [ben], locked: [ada])
        _ = try library.coordinator.execute(changes, with: context)
        #expect(library.stored("name", of: "Author") == ["Augusta", "Carla"])
        #expect(!context.hasChanges)
    }

    @Test func aSaveRequestMeetsConflictsAsASaveDoes() throws {
        let ada = context.author("Ada")
        try context.save()
        let other = library.newContext()
        let twin = try #require(try other.authors().first)
        ada.name = "Augusta"
        try context.save()
        twin.born = 1815
        let request = NSSaveChangesRequest(inserted: nil, updated: [twin], deleted: nil, locked: nil)
        let error = errorThrown { try library.coordinator.execute(request, with: other) }
        #expect(error?.code == NSManagedObjectMergeError)
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        _ = try library.coordinator.execute(request, with: other)
        #expect(library.stored(["name", "born"], of: "Author") == [["Augusta", "1815"]])
    }

    @Test func aSaveRequestWritesNothingForADeletionThatWasMergedFromElsewhere() throws {
        let ada = context.author("Ada")
        let ben = context.author("Ben")
        try context.save()
        let other = library.newContext()
        let twins = try other.authors()
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        context.delete(ada)
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        other.delete(twins[1])
        let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: Set(twins), locked: nil)
        _ = try library.coordinator.execute(request, with: other)
        #expect(library.stored("name", of: "Author").isEmpty)
        #expect(!other.hasChanges)
        withExtendedLifetime(ben) {}
    }

    @Test func aContextOfAnotherCoordinatorIsRefused() throws {
        let other = try Library()
        #expect(errorThrown { try library.coordinator.execute(request(), with: other.context) } != nil)
    }
}

@Suite(.stores(StoreKind.persistent)) struct MetadataRequestTests {
    @Test func anEmptySaveRequestWritesTheMetadata() throws {
        let library = try Library()
        library.coordinator.setMetadata(["purpose": "test"], for: library.store)
        _ = try library.coordinator.execute(NSSaveChangesRequest(), with: library.context)
        let url = try #require(library.store.url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: library.kind.type, at: url)
        #expect(metadata["purpose"] as? String == "test")
    }
}
