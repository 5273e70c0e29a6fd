import CoreData
import TestSupport
import Testing

/// The state of a context through changes, refreshing, rolling back and resetting.
struct ContextStateTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test func aContextHasChangesWhenAnObjectIsInsertedUpdatedOrDeleted() throws {  // 130
        #expect(!context.hasChanges)
        let author = context.author("Ada")
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)
        author.name = "Ida"
        #expect(context.hasChanges)
        try context.save()
        context.delete(author)
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test func savingWithoutChangesPostsDidSaveWithEmptySets() throws {  // 131
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: context)
        try context.save()
        #expect(log.count == 1)
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
            #expect(log.all.first?.objects(key).isEmpty == true)
        }
    }

    @Test func refreshingWithMergeTakesTheStoresValuesAndKeepsPendingChanges() throws {  // 132
        let book = context.book("Title", pages: 100)
        try context.save()
        book.title = "Mine"
        book.mark = "here"
        let other = library.newContext()
        let same = try other.books()[0]
        same.title = "Theirs"
        same.pages = 200
        try other.save()
        #expect(book.pages == 100)
        context.refresh(book, mergeChanges: true)
        #expect(book.pages == 200)
        #expect(book.title == "Mine")
        #expect(book.mark == "here")
        #expect(book.isUpdated)
        #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "Theirs")
    }

    @Test func refreshingWithMergeKeepsPendingRelationshipChanges() throws {  // 132
        let ada = context.author("Ada")
        let book = context.book("Title", by: ada)
        let red = context.tag("red")
        let blue = context.tag("blue")
        book.tags = [red]
        try context.save()
        book.tags.insert(blue)
        let other = library.newContext()
        let same = try other.books()[0]
        same.tags.insert(other.tag("green"))
        same.author = nil
        try other.save()
        context.refresh(book, mergeChanges: true)
        #expect(Set(book.tags.map(\.label)) == ["red", "blue", "green"])
        #expect(book.author == nil)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(Set(try library.newStackContext().books()[0].tags.map(\.label)) == ["red", "blue", "green"])
    }

    @Test func refreshingWithoutMergeDiscardsChangesAndLeavesAFault() throws {  // 133
        let book = context.book("Title")
        try context.save()
        book.title = "Mine"
        book.mark = "here"
        context.refresh(book, mergeChanges: false)
        #expect(book.isFault)
        #expect(!book.hasChanges)
        #expect(!context.hasChanges)
        #expect(book.title == "Title")
        #expect(book.mark == nil)
    }

    @Test func refreshingAllObjectsKeepsPendingChanges() throws {  // 134
        let clean = context.book("Clean")
        let dirty = context.book("Dirty", pages: 1)
        let doomed = context.book("Doomed")
        try context.save()
        dirty.pages = 2
        context.delete(doomed)
        let new = context.book("New")
        context.refreshAllObjects()
        #expect(clean.isFault)
        #expect(dirty.pages == 2)
        #expect(dirty.isUpdated)
        #expect(doomed.isDeleted)
        #expect(new.isInserted)
        #expect(new.title == "New")
        try context.save()
        #expect(
            library.file.rows("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY ZTITLE").map { $0[0] } == [
                "Clean", "Dirty", "New",
            ])
    }

    @Test func refreshingAllObjectsLosesTransientValuesOfThoseThatBecomeFaults() throws {  // 135
        let book = context.book("Title")
        try context.save()
        book.mark = "here"
        try context.save()
        #expect(book.mark == "here")
        context.refreshAllObjects()
        #expect(book.mark == nil)
    }

    @Test(
        "133: refreshing a new object without its changes takes its insertion back", arguments: StoreKind.allCases,
        [false, true])
    func refreshingTakesAnInsertionBack(kind: StoreKind, processes: Bool) throws {
        let library = try Library(kind)
        let context = library.context
        let (ada, stays) = (context.author("Ada"), context.author("Bob"))
        let (book, tag) = (context.book("Notes", by: ada), context.tag("old"))
        try context.save()
        let new = context.book("New", by: ada, tags: [tag, context.tag("new")])
        let author = context.author("Eve")
        book.author = author
        if processes { context.processPendingChanges() }
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.refresh(new, mergeChanges: true)
        #expect(new.isInserted)
        #expect(new.title == "New")
        for object in [new, author] as [NSManagedObject] { context.refresh(object, mergeChanges: false) }
        #expect(ada.books.isEmpty)
        #expect(tag.books.isEmpty)
        #expect(book.author == nil)
        // A fault of no row, as often as it is asked for.
        #expect(new.isFault)
        #expect(author.isFault)
        #expect(new.managedObjectContext === context)
        #expect(new.title == nil)
        #expect(new.tags.isEmpty)
        #expect(!new.isFault)
        #expect(!new.isDeleted)
        context.refresh(new, mergeChanges: false)
        #expect(new.isFault)
        new.willAccessValue(forKey: nil)
        #expect(!new.isFault)
        #expect(!context.insertedObjects.contains(new))
        #expect(!context.insertedObjects.contains(author))
        context.processPendingChanges()
        #expect(log.all.map { $0.objects(NSDeletedObjectsKey) } == [[new, author]])
        #expect(new.managedObjectContext == nil)
        #expect(!new.isInserted)
        #expect(!new.hasChanges)
        #expect(!context.registeredObjects.contains(new))
        try context.save()
        #expect(!context.hasChanges)
        let other = library.newContext()
        #expect(try other.titles() == ["Notes"])
        #expect(try other.names() == ["Ada", "Bob"])
        #expect(stays.managedObjectContext === context)
    }

    @Test(
        "133: what was taken back may be inserted again, without the values that it had", arguments: [false, true],
        [[], [false], [true]])
    func whatWasTakenBackIsInsertedAgain(processes: Bool, reads: [Bool]) throws {
        let new = context.author("Eve", born: 1971)
        // Read, and with a permanent ID or without.
        if reads == [true] { try context.obtainPermanentIDs(for: [new]) }
        context.refresh(new, mergeChanges: false)
        if processes { context.processPendingChanges() }
        if !reads.isEmpty { #expect(new.name == nil) }
        context.insert(new)
        #expect(new.isInserted)
        #expect(new.name == nil)
        #expect(!new.isFault)
        new.name = "Eva"
        try context.save()
        #expect(!new.isInserted)
        #expect(!new.objectID.isTemporaryID)
        let other = library.newContext()
        #expect(try other.authors().map(\.name) == ["Eva"])
        #expect(try other.authors().map(\.born) == [0])
    }

    @Test("133: undoing and redoing an insertion that was taken back meanwhile") func undoingWhatWasTakenBack() throws {
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
        context.undoManager?.beginUndoGrouping()
        let new = context.author("Eve", born: 1971)
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        context.refresh(new, mergeChanges: false)
        #expect(new.isFault)
        #expect(new.managedObjectContext == nil)
        context.undo()
        #expect(!context.hasChanges)
        context.redo()
        try context.save()
        #expect(try library.newContext().authors().count == (new.managedObjectContext == nil ? 0 : 1))
        #expect(!context.hasChanges)
    }

    @Test("133: a new object that is to be deleted has nothing to be read again") func refreshingADeletedNewObject()
        throws
    {
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        let ada = context.author("Ada")
        context.processPendingChanges()
        context.delete(ada)
        context.processPendingChanges()
        log.clear()
        for merges in [false, false, true] {
            context.refresh(ada, mergeChanges: merges)
            context.processPendingChanges()
        }
        #expect(log.count == 0)
        #expect(context.deletedObjects == [ada])
        try context.save()
        #expect(ada.managedObjectContext == nil)
        #expect(!context.hasChanges)
    }

    @Test("133, 140: nobody can undo it") func nobodyCanUndoIt() throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let ada = context.author("Ada")
        context.processPendingChanges()
        context.undoManager = manager
        manager.beginUndoGrouping()
        let book = context.book("Notes", by: ada)
        context.processPendingChanges()
        manager.endUndoGrouping()
        context.refresh(book, mergeChanges: false)
        #expect(ada.books.isEmpty)
        context.undo()
        context.redo()
        context.processPendingChanges()
        #expect(context.insertedObjects == [ada])
        #expect(ada.books.isEmpty)
        try context.save()
        #expect(library.file.value("SELECT count(*) FROM ZBOOK") == "0")
    }

    @Test func rollbackRestoresCommittedValuesInsertionsAndDeletions() throws {  // 136
        let ada = context.author("Ada", born: 1815)
        let doomed = context.author("Bob")
        context.book("A", by: doomed)
        try context.save()
        ada.name = "Ida"
        context.delete(doomed)
        let new = context.author("New")
        context.rollback()
        #expect(!context.hasChanges)
        #expect(ada.name == "Ada")
        #expect(!ada.isUpdated)
        #expect(!doomed.isDeleted)
        #expect(doomed.managedObjectContext === context)
        #expect(doomed.name == "Bob")
        #expect(doomed.books.map(\.title) == ["A"])
        #expect(!new.isInserted)
        #expect(new.managedObjectContext == nil)
        try context.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["Ada", "Bob"])
        #expect(library.file.value("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR IS NOT NULL") == "1")
    }

    @Test func rollbackRestoresRelationshipsOfBothSides() throws {  // 136
        let ada = context.author("Ada")
        let bob = context.author("Bob")
        let book = context.book("A", by: ada, tags: [context.tag("red")])
        try context.save()
        book.author = bob
        book.tags = []
        context.processPendingChanges()
        context.rollback()
        #expect(book.author === ada)
        #expect(ada.books == [book])
        #expect(bob.books.isEmpty)
        #expect(book.tags.map(\.label) == ["red"])
        #expect(!context.hasChanges)
    }

    @Test func rollbackDoesNotRefetch() throws {  // 136
        let ada = context.author("Ada")
        try context.save()
        ada.name = "Mine"
        #expect(library.file.execute("UPDATE ZAUTHOR SET ZNAME = 'Theirs'"))
        context.rollback()
        #expect(ada.name == "Ada")
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Theirs"])
    }

    @Test func resetForgetsEverything() throws {  // 137
        let ada = context.author("Ada")
        try context.save()
        ada.name = "Ida"
        context.author("New")
        context.processPendingChanges()
        let registered = context.registeredObjects.map(\.objectID)
        #expect(registered.count == 2)
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.reset()
        #expect(!context.hasChanges)
        #expect(context.registeredObjects.isEmpty)
        #expect(ada.managedObjectContext == nil)
        #expect(log.count == 1)
        #expect(log.all.first?.userInfo?.keys.map { $0 as? String } == [NSInvalidatedAllObjectsKey])
        let invalidated = log.all.first?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
        #expect(Set(invalidated ?? []) == Set(registered))
        #expect(try context.names() == ["Ada"])
        #expect(try context.authors().first !== ada)
    }

    @Test func objectsOfAResetContextReadAsNilAndTakeNoPartInItAnyMore() throws {  // 137
        let ada = context.author("Ada", born: 1815)
        try context.save()
        context.reset()
        #expect(ada.isFault)
        ada.willAccessValue(forKey: nil)
        #expect(!ada.isFault)
        #expect(ada.name == nil)
        #expect(ada.born == 0)
        ada.name = "Ida"
        #expect(!context.hasChanges)
        try context.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func processingPendingChangesPropagatesDeletesAndPostsOnce() throws {  // 143
        let ada = context.author("Ada")
        let book = context.book("A", by: ada)
        try context.save()
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.processPendingChanges()
        #expect(log.count == 0)
        book.pages = 1
        book.pages = 2
        context.delete(ada)
        #expect(log.count == 0)
        context.processPendingChanges()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSDeletedObjectsKey) == [ada])
        #expect(log.all.first?.objects(NSUpdatedObjectsKey) == [book])
        #expect(book.author == nil)
        context.processPendingChanges()
        #expect(log.count == 1)
    }

    @Test func aCoordinatorCannotBeTakenFromAContext() async {  // 144
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            library.context.persistentStoreCoordinator = nil
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks("A context must have a persistent store coordinator") == [])
    }

    @Test func userInfoBelongsToTheContext() {  // 145
        context.userInfo["key"] = 1
        #expect(context.userInfo["key"] as? Int == 1)
        #expect(library.newContext().userInfo.count == 0)
    }

    @Test func aFailedSaveWritesNothingAndKeepsTheChanges() throws {  // 82
        let other = library.newContext()
        let ada = context.author("Ada")
        try context.save()
        let same = try other.authors()[0]
        same.name = "Theirs"
        try other.save()
        ada.name = "Mine"
        let new = context.author("New")
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(context.hasChanges)
        #expect(ada.isUpdated)
        #expect(new.isInserted)
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Theirs"])
        context.refresh(ada, mergeChanges: true)
        try context.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["Mine", "New"])
    }

    @Test("97: an object whose deletion was saved counts as a fault, and keeps its values")
    func aDeletedObjectCountsAsAFault() throws {
        let (ada, bob) = (context.author("Ada"), context.author("Bob"))
        try context.save()
        context.delete(ada)
        #expect(!ada.isFault)
        #expect(ada.faultingState == 0)
        try context.save()
        #expect(ada.isFault)
        #expect(ada.faultingState != 0)
        #expect(!bob.isFault)
        #expect(ada.name == "Ada")
        #expect(ada.managedObjectContext == nil)
    }

    enum MergeWay: CaseIterable { case automatic, notification, remote }

    @Test("130: who is told of a deletion that was merged finds the object", arguments: MergeWay.allCases)
    func mergedDeletionsAreToldWithTheirObjects(way: MergeWay) throws {
        let ada = context.author("Ada")
        try context.save()
        let other = library.newContext()
        if way == .automatic { context.automaticallyMergesChangesFromParent = true }
        var told = 0
        // Called on this thread.
        nonisolated(unsafe) let observe = { (notification: Notification) in
            guard notification.userInfo?[NSDeletedObjectsKey] != nil else { return }
            told += 1
            #expect(notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [ada])
            #expect(ada.isDeleted)
            #expect(ada.managedObjectContext === context)
            #expect(ada.name == "Ada")
            #expect(context.registeredObject(for: ada.objectID) === ada)
            #expect((try? context.existingObject(with: ada.objectID)) === ada)
        }
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { observe($0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try other.authors().forEach(other.delete)
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        switch way {
        case .automatic: context.performAndWait {}
        case .notification: context.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        case .remote:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: [ada.objectID]], into: [context])
        }
        #expect(told == 1)
        // What is merged by hand stays until the next save.
        #expect(ada.isDeleted == (way == .notification))
        #expect((ada.managedObjectContext == nil) == (way != .notification))
        try context.save()
        #expect(told == 1)
        #expect(ada.managedObjectContext == nil)
        #expect(!context.hasChanges)
        #expect(try context.names().isEmpty)
    }
}
