import CoreData
import TestSupport
import Testing

/// How a context takes over what another one saved.
@Suite(.everyStore) struct MergingTests {
    let library: Library
    /// Saves changes.
    let sender: NSManagedObjectContext
    /// Takes them over.
    let receiver: NSManagedObjectContext
    let saves: NotificationLog

    init() throws {
        library = try Library()
        sender = library.context
        receiver = library.newContext()
        saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: sender)
    }

    /// Saves the sender and gives the receiver the notification.
    private func saveAndMerge() throws {
        try sender.save()
        receiver.mergeChanges(fromContextDidSave: try #require(saves.all.last))
    }

    @Test func mergingUpdatesRegisteredObjectsAndDeletesDeletedOnes() throws {  // 164
        let ada = sender.author("Ada")
        let bob = sender.author("Bob")
        try sender.save()
        let mine = try receiver.authors()
        #expect(mine.map(\.name) == ["Ada", "Bob"])
        ada.name = "Ida"
        sender.delete(bob)
        sender.author("Cid")
        try saveAndMerge()
        #expect(mine[0].name == "Ida")
        #expect(try receiver.names() == ["Cid", "Ida"])
        #expect(mine[1].isDeleted || mine[1].managedObjectContext == nil)
        #expect(ada.managedObjectContext === sender)
        #expect(ada.name == "Ida")
    }

    @Test func aMergeIsPostedAsRefreshedAndInsertedAndLeavesNothingToSave() throws {  // 165
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.authors()
        #expect(mine.first?.name == "Ada")
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: receiver)
        ada.name = "Ida"
        let new = sender.author("Bob")
        try saveAndMerge()
        receiver.processPendingChanges()
        let refreshed = log.all.reduce(into: Set<NSManagedObject>()) { $0.formUnion($1.objects(NSRefreshedObjectsKey)) }
        let inserted = log.all.reduce(into: Set<NSManagedObject>()) { $0.formUnion($1.objects(NSInsertedObjectsKey)) }
        #expect(refreshed.map(\.objectID) == [ada.objectID])
        #expect(refreshed.first === mine.first)
        #expect(inserted.map(\.objectID) == [new.objectID])
        #expect(inserted.first?.managedObjectContext === receiver)
        #expect(!receiver.hasChanges)
    }

    @Test func newObjectsAndMergedOnesArePostedTogether() throws {  // 165
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: receiver)
        sender.author("Theirs")
        try sender.save()
        receiver.performAndWait {
            let own = receiver.author("Own")
            receiver.mergeChanges(fromContextDidSave: saves.all[0])
            receiver.processPendingChanges()
            own.name = "Renamed"
            receiver.processPendingChanges()
        }
        let inserted = log.all.reduce(into: Set<NSManagedObject>()) { $0.formUnion($1.objects(NSInsertedObjectsKey)) }
        #expect(Set(inserted.compactMap { ($0 as? LibraryAuthor)?.name }) == ["Renamed", "Theirs"])
        #expect(log.all.last?.objects(NSUpdatedObjectsKey).count == 1)
    }

    @Test func pendingChangesSurviveAMerge() throws {  // 166
        let book = sender.book("Title", pages: 1)
        try sender.save()
        let mine = try receiver.books()[0]
        mine.title = "Mine"
        book.pages = 2
        book.title = "Theirs"
        try saveAndMerge()
        #expect(mine.title == "Mine")
        #expect(mine.pages == 2)
        #expect(mine.isUpdated)
        try receiver.save()
        #expect(library.stored(["title", "pages"], of: "Book") == [["Mine", "2"]])
    }

    @Test func mergedUpdatesOfFaultsAndStrangersArePostedNowhere() throws {  // 167
        let registered = sender.author("Registered")
        let stranger = sender.author("Stranger")
        try sender.save()
        let fault = receiver.object(with: registered.objectID)
        #expect(fault.isFault)
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: receiver)
        registered.name = "A"
        stranger.name = "B"
        try saveAndMerge()
        receiver.processPendingChanges()
        for notification in log.all { #expect(notification.objects(NSRefreshedObjectsKey).isEmpty) }
        #expect(fault.value(forKey: "name") as? String == "A")
    }

    @Test func mergedDeletesOfObjectsInUseArePosted() throws {  // 167
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.authors()[0]
        #expect(mine.name == "Ada")
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: receiver)
        sender.delete(ada)
        try saveAndMerge()
        receiver.processPendingChanges()
        #expect(log.all.contains { $0.objects(NSDeletedObjectsKey).contains(mine) })
    }

    @Test func mergedDeletesArePendingUntilTheSaveWhichWritesNothingForThem() throws {  // 164
        let ada = sender.author("Ada")
        sender.author("Bob")
        try sender.save()
        let mine = try receiver.authors()
        #expect(mine[0].name == "Ada")
        sender.delete(ada)
        try saveAndMerge()
        #expect(receiver.deletedObjects == [mine[0]])
        #expect(mine[0].isDeleted)
        #expect(mine[0].name == "Ada")
        mine[1].born = 7
        try receiver.save()
        #expect(!receiver.hasChanges)
        #expect(mine[0].managedObjectContext == nil)
        #expect(library.stored(["name", "born"], of: "Author") == [["Bob", "7"]])
    }

    @Test func rollbackDoesNotBringBackWhatAnotherContextDeleted() throws {  // 164
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.authors()[0]
        sender.delete(ada)
        try saveAndMerge()
        receiver.rollback()
        #expect(!receiver.hasChanges)
        #expect(mine.managedObjectContext == nil)
        #expect(try receiver.authors().isEmpty)
    }

    @Test func mergedInsertsAreNotKeptAlive() throws {  // 164
        sender.author("Ada")
        try saveAndMerge()
        #expect(receiver.registeredObjects.isEmpty)
    }

    @Test func eachMergePostsTheMergedIDs() throws {  // 168
        let ada = sender.author("Ada")
        let bob = sender.author("Bob")
        try sender.save()
        let mine = try receiver.authors()
        #expect(mine.map(\.name) == ["Ada", "Bob"])
        let log = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: receiver)
        let bobID = bob.objectID
        ada.name = "Ida"
        sender.delete(bob)
        let cid = sender.author("Cid")
        try saveAndMerge()
        #expect(log.count == 1)
        let merged = try #require(log.all.first)
        #expect(merged.objectIDs(NSInsertedObjectIDsKey) == [cid.objectID])
        #expect(merged.objectIDs(NSDeletedObjectIDsKey) == [bobID])
        let changed = merged.objectIDs(NSUpdatedObjectIDsKey).union(merged.objectIDs(NSRefreshedObjectIDsKey))
        #expect(changed == [ada.objectID])
    }

    @Test func aLargeMergeIsPostedToThoseWhoAskedForItsNotifications() throws {  // 168
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: receiver)
        let log = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: receiver)
        for number in 0..<1500 { sender.author("\(number)") }
        try saveAndMerge()
        #expect(log.all.map { $0.objectIDs(NSInsertedObjectIDsKey).count } == [1500])
        #expect(changes.all.map { ($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count } == [1500])
    }

    @Test func remoteChangesAreMergedIntoSeveralContexts() throws {  // 169
        let ada = sender.author("Ada")
        let bob = sender.author("Bob")
        try sender.save()
        let second = library.newContext()
        let mine = try receiver.authors()
        let others = try second.authors()
        #expect(mine.map(\.name) == others.map(\.name))
        let changes: [AnyHashable: Any] = [
            NSUpdatedObjectsKey: [ada.objectID], NSDeletedObjectsKey: [bob.objectID.uriRepresentation()],
        ]
        ada.name = "Ida"
        sender.delete(bob)
        try sender.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [receiver, second])
        #expect(mine[0].name == "Ida")
        #expect(others[0].name == "Ida")
        #expect(try receiver.names() == ["Ida"])
        #expect(!receiver.hasChanges)
    }

    @Test func automaticMergingDropsChangesOfWhatIsDeleted() throws {  // 157
        receiver.automaticallyMergesChangesFromParent = true
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.performAndWait {
            let mine = try receiver.authors()[0]
            mine.name = "Mine"
            return mine
        }
        sender.delete(ada)
        try sender.save()
        try receiver.performAndWait {
            #expect(!receiver.hasChanges)
            #expect(receiver.updatedObjects.isEmpty)
            #expect(!receiver.registeredObjects.contains(mine))
            try receiver.save()
        }
        #expect(library.storedCount(of: "Author") == 0)
    }

    @Test func automaticMergingTakesOverWhatSiblingsSave() async throws {  // 157
        let ada = sender.author("Ada", born: 1)
        try sender.save()
        receiver.automaticallyMergesChangesFromParent = true
        let still = library.newContext()
        let mine = try receiver.authors()[0]
        let unmoved = try still.authors()[0]
        #expect(mine.born == 1)
        #expect(unmoved.born == 1)
        ada.born = 2
        try sender.save()
        await receiver.perform {}
        #expect(mine.born == 2)
        #expect(unmoved.born == 1)
        #expect(!receiver.hasChanges)
    }

    @Test func mergingChangesRelationships() throws {  // 164
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.authors()[0]
        #expect(mine.books.isEmpty)
        sender.book("New", by: ada)
        try saveAndMerge()
        #expect(mine.books.map(\.title) == ["New"])
    }
}

/// Merging beside contexts of other coordinators, and other programs, that change the same store.
@Suite(.stores(StoreKind.persistent)) struct MergingBesideOthersTests {
    private let library: Library
    /// Saves changes.
    private let sender: NSManagedObjectContext
    /// Takes changes over.
    private let receiver: NSManagedObjectContext

    init() throws {
        library = try Library()
        sender = library.context
        receiver = library.newContext()
    }

    @Test func remoteChangesOfRowsChangedInTheDatabaseAreReadAgain() throws {  // 169
        let ada = sender.author("Ada")
        try sender.save()
        let mine = try receiver.authors()[0]
        #expect(mine.name == "Ada")
        #expect(library.tables.execute("UPDATE {author} SET {name} = 'Ida', {version} = {version} + 1"))
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [ada.objectID]], into: [receiver])
        #expect(mine.name == "Ida")
        mine.name = "Eda"
        try receiver.save()
        #expect(library.stored("name", of: "Author") == ["Eda"])
    }

    @Test func pendingChangesSurviveTheMergeOfARowChangedInTheDatabase() throws {  // 166, 169
        sender.author("Ada", born: 1)
        try sender.save()
        let mine = try receiver.authors()[0]
        mine.name = "Mine"
        #expect(library.tables.execute("UPDATE {author} SET {name} = 'Theirs', {born} = 2, {version} = {version} + 1"))
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [mine.objectID]], into: [receiver])
        #expect(mine.name == "Mine")
        #expect(mine.born == 2)
        #expect(mine.isUpdated)
        try receiver.save()
        #expect(library.stored(["name", "born"], of: "Author") == [["Mine", "2"]])
    }

    @Test func automaticMergingLeavesContextsOfOtherCoordinatorsAlone() throws {  // 157
        let other = try library.newStackContext()
        other.automaticallyMergesChangesFromParent = true
        receiver.automaticallyMergesChangesFromParent = true
        let log = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: other)
        let own = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: receiver)
        sender.author("Ada")
        try sender.save()
        // What a save has merged comes before this, on the contexts' queues.
        for context in [other, receiver] { context.performAndWait {} }
        #expect(own.count == 1)
        #expect(log.count == 0)
    }
}
