import CoreData
import TestSupport
import Testing

/// The notifications of contexts and of coordinators whose stores come and go.
@Suite(.everyStore) struct ContextNotificationTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test func willSaveHasTheContextAndNoUserInfo() throws {  // 160
        let log = NotificationLog(NSManagedObjectContext.willSaveObjectsNotification, from: context)
        context.author("Ada")
        try context.save()
        #expect(log.count == 1)
        #expect(log.all.first?.object as? NSManagedObjectContext === context)
        #expect(log.all.first?.userInfo?.isEmpty ?? true)
    }

    @Test func aSaveNamesTheRowItUpdatedWhereANewObjectChangedLast() throws {
        let ada = context.author("Ada")
        try context.save()
        let new = context.book("Notes", by: ada)
        context.processPendingChanges()
        new.title = "More notes"
        // The set of the last event is remembered while somebody listens.
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        try context.save()
        #expect(changes.all.last?.objects(NSUpdatedObjectsKey) == [new])
        #expect(saves.all.first?.objects(NSInsertedObjectsKey) == [new])
        #expect(saves.all.first?.objects(NSUpdatedObjectsKey) == [ada])
    }

    @Test func didSaveHasSetsOfObjectsAndOfIDs() throws {  // 161
        let changed = context.author("Changed")
        let doomed = context.author("Doomed")
        try context.save()
        let doomedID = doomed.objectID
        let objects = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        let ids = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: context)
        let new = context.author("New")
        changed.name = "Other"
        context.delete(doomed)
        try context.save()
        let saved = try #require(objects.all.first)
        #expect(saved.object as? NSManagedObjectContext === context)
        #expect(saved.objects(NSInsertedObjectsKey) == [new])
        #expect(saved.objects(NSUpdatedObjectsKey) == [changed])
        #expect(saved.objects(NSDeletedObjectsKey) == [doomed])
        let savedIDs = try #require(ids.all.first)
        #expect(savedIDs.objectIDs(NSInsertedObjectIDsKey) == [new.objectID])
        #expect(savedIDs.objectIDs(NSUpdatedObjectIDsKey) == [changed.objectID])
        #expect(savedIDs.objectIDs(NSDeletedObjectIDsKey) == [doomedID])
    }

    @Test func notificationsNameTheContextThatPostsThem() throws {
        let other = library.newContext()
        let names = [
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
            NSManagedObjectContext.didSaveObjectIDsNotification,
            NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        ]
        let log = NotificationLog(names, from: context)
        let others = NotificationLog(names, from: other)
        let save = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        context.author("Ada")
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(save.all.first))
        let key = NSManagedObjectContext.NotificationKey.sourceContext.rawValue
        #expect(Set(log.names) == Set(names[..<3]))
        #expect(log.all.allSatisfy { $0.userInfo?[key] as? NSManagedObjectContext === context })
        #expect(Set(others.names) == [names[0], names[3]])
        #expect(others.all.allSatisfy { $0.userInfo?[key] as? NSManagedObjectContext === other })
    }

    @Test func aFetchPostsNoChange() throws {  // 162
        context.author("Ada")
        try context.save()
        let other = library.newContext()
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: other)
        #expect(try other.authors().first?.name == "Ada")
        other.processPendingChanges()
        #expect(log.count == 0)
    }

    @Test func aRefreshIsPostedAsARefresh() throws {  // 162
        let ada = context.author("Ada")
        try context.save()
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.refresh(ada, mergeChanges: false)
        context.processPendingChanges()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSRefreshedObjectsKey) == [ada])
        #expect(log.all.first?.objects(NSUpdatedObjectsKey).isEmpty == true)
    }

    @Test func aNewObjectThatIsDeletedInTheSameEventIsPostedAsDeleted() throws {  // 97, 162
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        let kept = context.author("Ada")
        let doomed = context.author("Bob")
        context.delete(doomed)
        context.processPendingChanges()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSInsertedObjectsKey) == [kept])
        #expect(log.all.first?.objects(NSDeletedObjectsKey) == [doomed])
        #expect(context.deletedObjects == [doomed])
        #expect(context.insertedObjects == [kept])
    }

    @Test func saveNotificationsComeOncePerSaveInOrder() throws {  // 163, 42
        let log = NotificationLog(
            [
                NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.willSaveObjectsNotification,
                NSManagedObjectContext.didSaveObjectsNotification,
            ], from: context)
        context.author("Ada")
        context.processPendingChanges()
        context.author("Bob")
        context.processPendingChanges()
        context.author("Cid")
        try context.save()
        let changes = log.names.filter { $0 == NSManagedObjectContext.didChangeObjectsNotification }
        #expect(changes.count == 3)
        #expect(log.names.filter { $0 == NSManagedObjectContext.willSaveObjectsNotification }.count == 1)
        #expect(log.names.filter { $0 == NSManagedObjectContext.didSaveObjectsNotification }.count == 1)
        #expect(log.names.last == NSManagedObjectContext.didSaveObjectsNotification)
    }

    @Test func aMainQueueContextProcessesItsChangesAfterTheEvent() async throws {  // 143, 163
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.persistentStoreCoordinator = library.coordinator
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: main)
        await onMainQueue {
            main.author("Ada")
            main.author("Bob")
            #expect(log.count == 0)
        }
        await onMainQueue {}
        #expect(log.all.map { $0.objects(NSInsertedObjectsKey).count } == [2])
        await onMainQueue { main.refreshAllObjects() }
        await onMainQueue {}
        #expect(log.count == 1)
        await onMainQueue { main.reset() }
    }

    private func onMainQueue(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                body()
                continuation.resume()
            }
        }
    }

    @Test func whatIsChangedAfterItsRefreshIsPostedAsUpdated() throws {
        let ada = library.context.author("Ada")
        try library.context.save()
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: library.context)
        library.context.refresh(ada, mergeChanges: false)
        ada.name = "Ida"
        library.context.processPendingChanges()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSUpdatedObjectsKey) == [ada])
        #expect(log.all.first?.objects(NSRefreshedObjectsKey).isEmpty == true)
    }

    @Test func addingAndRemovingStoresIsPosted() throws {  // 170
        let names = [
            Notification.Name.NSPersistentStoreCoordinatorStoresWillChange,
            .NSPersistentStoreCoordinatorStoresDidChange,
        ]
        let log = NotificationLog(names, from: library.coordinator)
        let kind = library.kind
        let store = try library.coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(library.folder.file("second.sqlite")))
        // That stores will change tells, on a Mac, that an account does.
        #expect(log.names == [.NSPersistentStoreCoordinatorStoresDidChange])
        let added = log.all
        #expect(added.map { $0.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore] } == [[store]])
        #expect(added.first?.userInfo?[NSRemovedPersistentStoresKey] == nil)
        log.clear()
        try library.coordinator.remove(store)
        #expect(log.names == [.NSPersistentStoreCoordinatorStoresDidChange])
        let removed = log.all
        #expect(removed.map { $0.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] } == [[store]])
        #expect(removed.first?.userInfo?[NSAddedPersistentStoresKey] == nil)
    }

    @Test func willRemoveStoreComesBeforeTheRemoval() throws {  // 171
        let log = NotificationLog(.NSPersistentStoreCoordinatorWillRemoveStore, from: library.store)
        try library.coordinator.remove(library.store)
        #expect(log.count == 1)
        #expect(log.all.first?.userInfo?.isEmpty ?? true)
        #expect(library.coordinator.persistentStores.isEmpty)
    }
}

/// Rows that another program changes.
@Suite(.stores(StoreKind.persistent)) struct RefusedSaveNotificationTests {
    @Test func aRefusedSavePostsNoDidSave() throws {  // 163
        let library = try Library()
        let context = library.context
        let ada = context.author("Ada")
        try context.save()
        #expect(library.tables.execute("UPDATE {author} SET {version} = {version} + 1"))
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        ada.name = "Ida"
        #expect(throws: (any Error).self) { try context.save() }
        #expect(log.count == 0)
    }
}
