import CoreData
import Foundation
import TestSupport
import Testing

// Parent/child contexts, merging, notifications, conflicts and merge policies.

/// Records the conflicts and lets a standard policy resolve them.
private final class ContextPolicy: NSMergePolicy, @unchecked Sendable {
    var locking: [NSMergeConflict] = []
    var constraints: [NSConstraintConflict] = []
    var mergeCalls = 0

    override func resolve(mergeConflicts list: [Any]) throws {
        mergeCalls += 1
        try super.resolve(mergeConflicts: list)
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        locking += list
        try super.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        constraints += list
        try super.resolve(constraintConflicts: list)
    }
}

private struct ContextRefusal: Error, Equatable {}

private final class ContextRefusingPolicy: NSMergePolicy, @unchecked Sendable {
    override func resolve(mergeConflicts list: [Any]) throws { throw ContextRefusal() }
}

private enum ContextKit: MacModelKit {
    /// Author <->> Book (cascade); Account with a uniqueness constraint on "email" when asked for.
    static func model(constraint: Bool) -> NSManagedObjectModel {
        let author = NSEntityDescription()
        author.name = "Author"
        let book = NSEntityDescription()
        book.name = "Book"
        let account = NSEntityDescription()
        account.name = "Account"
        author.properties = [
            attribute("name", .stringAttributeType, optional: false), attribute("age", .integer32AttributeType),
            attribute("city", .stringAttributeType),
        ]
        book.properties = [attribute("title", .stringAttributeType)]
        relate(author, "books", toMany: true, deleteRule: .cascadeDeleteRule, book, inverse: "author")
        account.properties = [attribute("email", .stringAttributeType), attribute("nick", .stringAttributeType)]
        if constraint { account.uniquenessConstraints = [["email"]] }
        let model = NSManagedObjectModel()
        model.entities = [author, book, account]
        return model
    }

    static func container(sqlite: Bool = false, constraint: Bool = false, history: Bool = false) throws
        -> NSPersistentContainer
    {
        let container = NSPersistentContainer(name: "Context", managedObjectModel: model(constraint: constraint))
        let description: NSPersistentStoreDescription
        if sqlite {
            description = NSPersistentStoreDescription(
                url: MacFolder.url.appendingPathComponent("MacContext-\(UUID().uuidString).sqlite"))
        } else {
            description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
        }
        if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @discardableResult
    static func author(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        return author
    }

    static func child(
        of parent: NSManagedObjectContext, _ type: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType
    )
        -> NSManagedObjectContext
    {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = parent
        return child
    }

    static func authors(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    static func names(_ context: NSManagedObjectContext) throws -> [String] {
        try authors(context).compactMap { $0.value(forKey: "name") as? String }
    }

    /// The error thrown by `body`, as NSError.
    static func error(_ body: () throws -> Void) -> NSError? {
        do { try body() } catch { return error as NSError }
        return nil
    }
}

/// Contexts, parents, merging and conflicts, as programs for a Mac use them.
@MainActor
struct MacContextTests {
    /// Changes the object with that ID in a background context and saves.
    private func change(_ id: NSManagedObjectID, _ values: [String: String], in container: NSPersistentContainer) throws
    {
        let background = container.newBackgroundContext()
        try background.performAndWait {
            let object = try background.existingObject(with: id)
            for (key, value) in values { object.setValue(value, forKey: key) }
            try background.save()
        }
    }

    private func remove(_ id: NSManagedObjectID, in container: NSPersistentContainer) throws {
        let background = container.newBackgroundContext()
        try background.performAndWait {
            background.delete(try background.existingObject(with: id))
            try background.save()
        }
    }

    // MARK: Queues and properties

    @Test func concurrencyTypesAndProperties() throws {
        let container = try ContextKit.container()
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        let background = container.newBackgroundContext()
        #expect(background.concurrencyType == .privateQueueConcurrencyType)
        #expect(background !== container.newBackgroundContext())
        #expect(background.persistentStoreCoordinator === container.persistentStoreCoordinator)
        #expect(background.parent == nil)
        #expect(!container.viewContext.automaticallyMergesChangesFromParent)
        #expect(container.viewContext.stalenessInterval < 0)
        #expect(!container.viewContext.retainsRegisteredObjects)
        #expect(container.viewContext.shouldDeleteInaccessibleFaults)
        #expect(container.viewContext.propagatesDeletesAtEndOfEvent)
        background.name = "importer"
        background.transactionAuthor = "server"
        background.userInfo["run"] = "42"
        #expect(background.name == "importer")
        #expect(background.transactionAuthor == "server")
        #expect(background.userInfo["run"] as? String == "42")
    }

    @Test func performAndWaitReturnsAndRethrows() throws {
        let container = try ContextKit.container()
        let background = container.newBackgroundContext()
        let count = try background.performAndWait { () -> Int in
            ContextKit.author("a", background)
            try background.save()
            return background.performAndWait { 41 } + 1  // reentrant
        }
        #expect(count == 42)
        #expect(throws: ContextRefusal.self) {
            try background.performAndWait { throw ContextRefusal() }
        }
    }

    @Test nonisolated func performReturnsAndRethrows() async throws {
        let container = try ContextKit.container()
        let background = container.newBackgroundContext()
        let name = try await background.perform {
            ContextKit.author("async", background)
            try background.save()
            return try ContextKit.names(background).joined()
        }
        #expect(name == "async")
        let enqueued = await background.perform(schedule: .enqueued) { background.hasChanges }
        #expect(!enqueued)
        await #expect(throws: ContextRefusal.self) {
            try await background.perform { throw ContextRefusal() }
        }
    }

    @Test nonisolated func performBackgroundTaskReturnsItsValue() async throws {
        let container = try ContextKit.container()
        let ids = try await container.performBackgroundTask { context -> [NSManagedObjectID] in
            let author = ContextKit.author("task", context)
            try context.save()
            return [author.objectID]
        }
        #expect(ids.first?.isTemporaryID == false)
        let view = container.viewContext
        let seen = try await view.perform { try ContextKit.names(view) }
        #expect(seen == ["task"])
    }

    @Test func performBackgroundTaskWithACallback() async throws {
        let container = try ContextKit.container()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            container.performBackgroundTask { @Sendable context in
                ContextKit.author("callback", context)
                try? context.save()
                continuation.resume()
            }
        }
        #expect(try ContextKit.names(container.viewContext) == ["callback"])
    }

    // MARK: Parent and child

    @Test func childSaveMovesChangesOneLevelUp() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let child = ContextKit.child(of: parent)
        #expect(child.parent === parent)
        #expect(child.persistentStoreCoordinator === container.persistentStoreCoordinator)
        ContextKit.author("a", child)
        #expect(!parent.hasChanges)
        try child.save()
        #expect(!child.hasChanges)
        #expect(parent.hasChanges)
        #expect(parent.insertedObjects.count == 1)
        let other = container.newBackgroundContext()
        #expect(try other.performAndWait { try ContextKit.names(other) } == [])
        try parent.save()
        #expect(try other.performAndWait { try ContextKit.names(other) } == ["a"])
    }

    @Test func backgroundWriterStack() throws {
        let container = try ContextKit.container()
        let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        root.persistentStoreCoordinator = container.persistentStoreCoordinator
        let main = ContextKit.child(of: root)
        let scratch = ContextKit.child(of: main)
        ContextKit.author("deep", scratch)
        try scratch.save()
        #expect(main.hasChanges)
        #expect(root.performAndWait { !root.hasChanges })
        try main.save()
        #expect(!main.hasChanges)
        #expect(root.performAndWait { root.hasChanges })
        #expect(try ContextKit.names(container.viewContext).isEmpty)
        try root.performAndWait { try root.save() }
        #expect(try ContextKit.names(container.viewContext) == ["deep"])
    }

    @Test func childSeesPendingChangesOfItsParent() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        ContextKit.author("unsaved", parent)
        let child = ContextKit.child(of: parent)
        #expect(try ContextKit.names(child) == ["unsaved"])
        ContextKit.author("local", child)
        #expect(try ContextKit.names(child) == ["local", "unsaved"])
        #expect(try ContextKit.names(parent) == ["unsaved"])
        #expect(try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == 2)
    }

    @Test func discardedScratchContextLeavesNoTrace() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let author = ContextKit.author("a", parent)
        try parent.save()
        do {
            let scratch = ContextKit.child(of: parent)
            let copy = try scratch.existingObject(with: author.objectID)
            #expect(copy !== author)
            copy.setValue("edited", forKey: "name")
            #expect(scratch.hasChanges)
            scratch.rollback()
            #expect(copy.value(forKey: "name") as? String == "a")
        }
        #expect(author.value(forKey: "name") as? String == "a")
        #expect(!parent.hasChanges)
    }

    @Test func editingInAChildUpdatesTheParentsObject() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let author = ContextKit.author("a", parent)
        try parent.save()
        let child = ContextKit.child(of: parent)
        let copy = child.object(with: author.objectID)
        copy.setValue("b", forKey: "name")
        #expect(author.value(forKey: "name") as? String == "a")
        try child.save()
        #expect(author.value(forKey: "name") as? String == "b")
        #expect(author.isUpdated)
    }

    @Test func deletingInAChildDeletesInTheParent() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let author = ContextKit.author("a", parent)
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: parent)
        book.setValue(author, forKey: "author")
        try parent.save()
        let child = ContextKit.child(of: parent)
        child.delete(child.object(with: author.objectID))
        try child.save()
        #expect(author.isDeleted)
        #expect(book.isDeleted)
        #expect(parent.deletedObjects.count == 2)
        try parent.save()
        #expect(try ContextKit.names(parent).isEmpty)
    }

    @Test func newObjectsOfAChildKeepTemporaryIDsInTheParent() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let child = ContextKit.child(of: parent)
        let author = ContextKit.author("a", child)
        #expect(author.objectID.isTemporaryID)
        try child.save()
        #expect(author.objectID.isTemporaryID)
        let twin = parent.object(with: author.objectID)
        #expect(twin.isInserted)
        #expect(twin.value(forKey: "name") as? String == "a")
        try parent.save()
        #expect(!twin.objectID.isTemporaryID)
    }

    @Test func obtainedPermanentIDsSurviveTheSaves() throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let child = ContextKit.child(of: parent)
        let author = ContextKit.author("a", child)
        try child.obtainPermanentIDs(for: [author])
        let id = author.objectID
        #expect(!id.isTemporaryID)
        #expect(author.isInserted)
        try child.obtainPermanentIDs(for: [author])
        #expect(author.objectID == id)
        try child.save()
        try parent.save()
        #expect(author.objectID == id)
        #expect(parent.object(with: id).value(forKey: "name") as? String == "a")
        let background = container.newBackgroundContext()
        #expect(
            try background.performAndWait { try background.existingObject(with: id).value(forKey: "name") as? String }
                == "a")
    }

    @Test func childSaveValidates() throws {
        let container = try ContextKit.container()
        let child = ContextKit.child(of: container.viewContext)
        NSEntityDescription.insertNewObject(forEntityName: "Author", into: child)  // name is missing
        let error = ContextKit.error { try child.save() }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(!container.viewContext.hasChanges)
        #expect(child.hasChanges)
    }

    // MARK: Identity, faults, refreshing

    @Test func lookUpsByID() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        let id = author.objectID
        let fresh = ContextKit.child(of: view)
        #expect(fresh.registeredObject(for: id) == nil)
        let fault = fresh.object(with: id)
        #expect(fault.isFault)
        #expect(fresh.registeredObject(for: id) === fault)
        #expect(fresh.object(with: id) === fault)
        #expect(try fresh.existingObject(with: id) === fault)
        #expect(fault.value(forKey: "name") as? String == "a")
        #expect(!fault.isFault)
        #expect(try ContextKit.authors(fresh).first === fault)
        #expect(fault.objectID == author.objectID)
    }

    @Test func existingObjectOfAMissingRowThrows() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        let id = author.objectID
        view.delete(author)
        try view.save()
        let background = container.newBackgroundContext()
        let error = ContextKit.error {
            _ = try background.performAndWait { try background.existingObject(with: id).objectID }
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.code == 133000)
    }

    @Test func refreshWithoutMergingDropsChanges() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        author.setValue("b", forKey: "name")
        view.refresh(author, mergeChanges: false)
        #expect(author.isFault)
        #expect(!author.hasChanges)
        #expect(author.value(forKey: "name") as? String == "a")
    }

    @Test func refreshWithMergingKeepsChangesAndLoadsTheRest() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        author.setValue("Rome", forKey: "city")
        try view.save()
        author.setValue("mine", forKey: "name")
        try change(author.objectID, ["city": "Oslo", "name": "theirs"], in: container)
        #expect(author.value(forKey: "city") as? String == "Rome")
        view.refresh(author, mergeChanges: true)
        #expect(author.value(forKey: "city") as? String == "Oslo")
        #expect(author.value(forKey: "name") as? String == "mine")
        #expect(author.hasChanges)
        try view.save()  // the refresh has taken over the new version
        #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "mine")
    }

    @Test func refreshAllObjectsKeepsPendingChanges() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let one = ContextKit.author("1", view)
        let two = ContextKit.author("2", view)
        try view.save()
        two.setValue("2 edited", forKey: "name")
        try change(one.objectID, ["name": "1 remote"], in: container)
        view.refreshAllObjects()
        #expect(one.isFault)
        #expect(one.value(forKey: "name") as? String == "1 remote")
        #expect(two.value(forKey: "name") as? String == "2 edited")
        #expect(two.hasChanges)
    }

    @Test func retainsRegisteredObjects() throws {
        // Not documented: the opposite (unreferenced objects leave registeredObjects) depends on
        // autorelease pools on a Mac.
        let container = try ContextKit.container()
        let background = container.newBackgroundContext()
        try background.performAndWait {
            for n in 0..<5 { ContextKit.author("\(n)", background) }
            try background.save()
        }
        let view = container.viewContext
        view.retainsRegisteredObjects = true
        _ = try ContextKit.authors(view).count
        #expect(view.registeredObjects.count == 5)
    }

    @Test func inaccessibleFaultsBecomeDeletedObjects() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        view.refresh(author, mergeChanges: false)
        try remove(author.objectID, in: container)
        #expect(author.isFault)
        #expect(author.value(forKey: "name") == nil)
        #expect(author.isDeleted)
    }

    @Test func insertingAFreeObject() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Author", in: view))
        let author = NSManagedObject(entity: entity, insertInto: nil)
        #expect(author.managedObjectContext == nil)
        author.setValue("free", forKey: "name")
        #expect(!view.hasChanges)
        view.insert(author)
        #expect(author.managedObjectContext === view)
        #expect(author.isInserted)
        try view.save()
        #expect(try ContextKit.names(view) == ["free"])
    }

    @Test func deletesPropagateAtTheEndOfTheEvent() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        let books = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Book", into: view) }
        books.forEach { $0.setValue(author, forKey: "author") }
        try view.save()
        view.delete(author)
        view.processPendingChanges()
        #expect(view.deletedObjects == Set(books + [author]))
        try view.save()
        #expect(view.deletedObjects.isEmpty)
        #expect(!author.isDeleted)
    }

    // MARK: Merging

    @Test func automaticMergingFromTheStore() async throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let author = ContextKit.author("a", view)
        try view.save()
        _ = author.value(forKey: "name")
        try change(author.objectID, ["name": "b"], in: container)
        let comes = await comesTrue { author.value(forKey: "name") as? String == "b" }
        #expect(comes)
        #expect(author.value(forKey: "name") as? String == "b")
        #expect(!view.hasChanges)
    }

    @Test func withoutAutomaticMergingValuesStayOld() async throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        _ = author.value(forKey: "name")
        try change(author.objectID, ["name": "b"], in: container)
        await view.perform(schedule: .enqueued) { @Sendable in }
        #expect(author.value(forKey: "name") as? String == "a")
        #expect(try ContextKit.authors(view).first === author)  // a fetch does not change it either
        #expect(author.value(forKey: "name") as? String == "a")
        view.refresh(author, mergeChanges: true)
        #expect(author.value(forKey: "name") as? String == "b")
    }

    @Test func automaticMergingFromAParentContext() async throws {
        let container = try ContextKit.container()
        let parent = container.viewContext
        let author = ContextKit.author("a", parent)
        try parent.save()
        let child = ContextKit.child(of: parent)
        child.automaticallyMergesChangesFromParent = true
        let copy = try child.existingObject(with: author.objectID)
        #expect(copy.value(forKey: "name") as? String == "a")
        author.setValue("b", forKey: "name")
        try parent.save()
        let comes = await comesTrue { copy.value(forKey: "name") as? String == "b" }
        #expect(comes)
        #expect(copy.value(forKey: "name") as? String == "b")
        #expect(!child.hasChanges)
    }

    @Test func mergeChangesFromContextDidSave() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let kept = ContextKit.author("kept", view)
        let gone = ContextKit.author("gone", view)
        try view.save()
        let keptID = kept.objectID, goneID = gone.objectID
        let background = container.newBackgroundContext()
        let saves = NotificationLog([.NSManagedObjectContextDidSave], from: background)
        try background.performAndWait {
            try background.existingObject(with: keptID).setValue("kept 2", forKey: "name")
            background.delete(try background.existingObject(with: goneID))
            ContextKit.author("new", background)
            try background.save()
        }
        let note = try #require(saves.all.first)
        let changes = NotificationLog([.NSManagedObjectContextObjectsDidChange], from: view)
        let merges = NotificationLog([.NSManagedObjectContextDidMergeChangesObjectIDs], from: view)
        view.mergeChanges(fromContextDidSave: note)
        view.processPendingChanges()
        #expect(kept.value(forKey: "name") as? String == "kept 2")
        #expect(try ContextKit.names(view) == ["kept 2", "new"])
        #expect(changes.objects(NSRefreshedObjectsKey).contains(kept))
        #expect(changes.objects(NSDeletedObjectsKey).contains(gone))
        #expect(changes.objects(NSInsertedObjectsKey).count == 1)
        #expect(merges.all.count == 1)
    }

    @Test func mergingKeepsLocalChanges() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        author.setValue("mine", forKey: "city")
        let id = author.objectID
        let background = container.newBackgroundContext()
        let saves = NotificationLog([.NSManagedObjectContextDidSave], from: background)
        try background.performAndWait {
            try background.existingObject(with: id).setValue("b", forKey: "name")
            try background.save()
        }
        view.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        #expect(author.value(forKey: "name") as? String == "b")
        #expect(author.value(forKey: "city") as? String == "mine")
        #expect(author.changedValues().keys.sorted() == ["city"])
        try view.save()
    }

    @Test func mergeChangesFromRemoteContextSave() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        try change(author.objectID, ["name": "b"], in: container)
        #expect(author.value(forKey: "name") as? String == "a")
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [author.objectID]], into: [view])
        #expect(author.value(forKey: "name") as? String == "b")
        #expect(!view.hasChanges)
        try remove(author.objectID, in: container)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectsKey: [author.objectID]], into: [view])
        view.processPendingChanges()
        #expect(try ContextKit.names(view).isEmpty)
        #expect(!view.hasChanges)
    }

    // MARK: Notifications

    @Test func saveNotificationsAndTheirUserInfo() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let old = ContextKit.author("old", view)
        let gone = ContextKit.author("gone", view)
        try view.save()
        let recorder = NotificationLog(
            [
                .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                .NSManagedObjectContextDidSaveObjectIDs,
                .NSManagedObjectContextObjectsDidChange,
            ], from: view)
        let new = ContextKit.author("new", view)
        old.setValue("older", forKey: "name")
        view.delete(gone)
        try view.save()
        let names = recorder.all.map(\.name)
        #expect(names.filter { $0 == .NSManagedObjectContextWillSave }.count == 1)
        #expect(names.filter { $0 == .NSManagedObjectContextDidSave }.count == 1)
        #expect(names.filter { $0 == .NSManagedObjectContextDidSaveObjectIDs }.count == 1)
        let will = try #require(names.firstIndex(of: .NSManagedObjectContextWillSave))
        let did = try #require(names.firstIndex(of: .NSManagedObjectContextDidSave))
        #expect(will < did)
        let info = try #require(recorder.last(.NSManagedObjectContextDidSave)?.userInfo)
        #expect(info[NSInsertedObjectsKey] as? Set<NSManagedObject> == [new])
        #expect(info[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [old])
        #expect(info[NSDeletedObjectsKey] as? Set<NSManagedObject> == [gone])
        let ids = try #require(recorder.last(.NSManagedObjectContextDidSaveObjectIDs)?.userInfo)
        #expect(ids[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [new.objectID])
        #expect(ids[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [old.objectID])
        #expect(ids[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [gone.objectID])
        #expect(!new.objectID.isTemporaryID)
        #expect(recorder.last(.NSManagedObjectContextWillSave)?.object as? NSManagedObjectContext === view)
    }

    @Test func swiftNamesOfNotificationsAndKeys() {
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.willSaveObjectsNotification == .NSManagedObjectContextWillSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
        #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(
            NSManagedObjectContext.didMergeChangesObjectIDsNotification
                == .NSManagedObjectContextDidMergeChangesObjectIDs)
        #expect(NSManagedObjectContext.NotificationKey.insertedObjects.rawValue == NSInsertedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue == NSUpdatedObjectIDsKey)
        #expect(NSInsertedObjectsKey == "inserted")
        #expect(NSUpdatedObjectsKey == "updated")
        #expect(NSDeletedObjectsKey == "deleted")
        #expect(NSRefreshedObjectsKey == "refreshed")
    }

    @Test func objectsDidChangeComesWithProcessingAndNotWithFetching() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        let author = ContextKit.author("a", view)
        try view.save()
        let recorder = NotificationLog([.NSManagedObjectContextObjectsDidChange], from: view)
        _ = try ContextKit.names(view)
        view.processPendingChanges()
        #expect(recorder.all.isEmpty)
        author.setValue("b", forKey: "name")
        author.setValue("c", forKey: "name")
        #expect(recorder.all.isEmpty)
        view.processPendingChanges()
        #expect(recorder.all.count == 1)
        #expect(recorder.objects(NSUpdatedObjectsKey) == [author])
        view.processPendingChanges()
        #expect(recorder.all.count == 1)
    }

    @Test func resetPostsInvalidatedAll() throws {
        let container = try ContextKit.container()
        let view = container.viewContext
        ContextKit.author("a", view)
        try view.save()
        let recorder = NotificationLog([.NSManagedObjectContextObjectsDidChange], from: view)
        view.reset()
        #expect(recorder.all.last?.userInfo?[NSInvalidatedAllObjectsKey] != nil)
        #expect(view.registeredObjects.isEmpty)
    }

    // MARK: Conflicts

    /// A view context with an author changed there (name, unsaved) and saved in another context
    /// (`values`).
    private func conflict(_ values: [String: String]) throws -> (NSPersistentContainer, NSManagedObject) {
        let container = try ContextKit.container(sqlite: true)
        let author = ContextKit.author("original", container.viewContext)
        author.setValue("Rome", forKey: "city")
        try container.viewContext.save()
        author.setValue("mine", forKey: "name")
        try change(author.objectID, values, in: container)
        return (container, author)
    }

    private func stored(_ author: NSManagedObject, _ container: NSPersistentContainer) throws -> [String] {
        let id = author.objectID
        let background = container.newBackgroundContext()
        return try background.performAndWait {
            let object = try background.existingObject(with: id)
            return ["name", "city"].map { object.value(forKey: $0) as? String ?? "nil" }
        }
    }

    @Test func theDefaultPolicyThrowsMergeConflicts() throws {
        let (container, author) = try conflict(["name": "theirs"])
        let error = try #require(ContextKit.error { try container.viewContext.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSManagedObjectMergeError)
        let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
        #expect(list.count == 1)
        let found = try #require(list.first)
        #expect(found.sourceObject === author)
        #expect(found.oldVersionNumber == 1)
        #expect(found.newVersionNumber == 2)
        // Not documented: "old object snapshot" in Apple's logs
        #expect(found.objectSnapshot?["name"] as? String == "original")
        #expect(found.cachedSnapshot?["name"] as? String == "theirs")
        #expect(found.persistedSnapshot == nil)
        #expect(container.viewContext.hasChanges)
        #expect(try stored(author, container) == ["theirs", "Rome"])
        container.viewContext.refresh(author, mergeChanges: true)
        try container.viewContext.save()
        #expect(try stored(author, container) == ["mine", "Rome"])
    }

    @Test func objectTrumpKeepsMineAndTakesTheOtherProperties() throws {
        let (container, author) = try conflict(["name": "theirs", "city": "Oslo"])
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try container.viewContext.save()
        #expect(try stored(author, container) == ["mine", "Oslo"])
        #expect(author.value(forKey: "city") as? String == "Oslo")
    }

    @Test func storeTrumpTakesTheirsWhereBothChanged() throws {
        let (container, author) = try conflict(["name": "theirs"])
        author.setValue("Bonn", forKey: "city")
        container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try container.viewContext.save()
        #expect(try stored(author, container) == ["theirs", "Bonn"])
        #expect(author.value(forKey: "name") as? String == "theirs")
    }

    @Test func overwriteWritesTheWholeObject() throws {
        let (container, author) = try conflict(["name": "theirs", "city": "Oslo"])
        container.viewContext.mergePolicy = NSMergePolicy.overwrite
        try container.viewContext.save()
        #expect(try stored(author, container) == ["mine", "Rome"])
    }

    @Test func rollbackPolicyDropsMyChanges() throws {
        let (container, author) = try conflict(["name": "theirs", "city": "Oslo"])
        container.viewContext.mergePolicy = NSMergePolicy.rollback
        try container.viewContext.save()
        #expect(try stored(author, container) == ["theirs", "Oslo"])
        #expect(author.value(forKey: "name") as? String == "theirs")
        #expect(!container.viewContext.hasChanges)
    }

    @Test func policySubclassesSeeTheConflicts() throws {
        let (container, author) = try conflict(["name": "theirs"])
        let policy = ContextPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
        container.viewContext.mergePolicy = policy
        try container.viewContext.save()
        #expect(policy.mergeCalls == 1)
        #expect(policy.locking.map { $0.sourceObject } == [author])
        #expect(policy.constraints.isEmpty)
        #expect(try stored(author, container) == ["mine", "Rome"])
    }

    @Test func aRefusingPolicyFailsTheSave() throws {
        let (container, author) = try conflict(["name": "theirs"])
        container.viewContext.mergePolicy = ContextRefusingPolicy(merge: .errorMergePolicyType)
        #expect(ContextKit.error { try container.viewContext.save() } != nil)
        #expect(container.viewContext.hasChanges)
        #expect(try stored(author, container) == ["theirs", "Rome"])
    }

    @Test func policyConstantsHaveTheirTypes() {
        #expect(NSMergePolicy.error.mergeType == .errorMergePolicyType)
        #expect(NSMergePolicy.rollback.mergeType == .rollbackMergePolicyType)
        #expect(NSMergePolicy.overwrite.mergeType == .overwriteMergePolicyType)
        #expect((NSErrorMergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
        #expect(
            (NSMergeByPropertyStoreTrumpMergePolicy as? NSMergePolicy)?.mergeType
                == .mergeByPropertyStoreTrumpMergePolicyType)
        #expect((NSOverwriteMergePolicy as? NSMergePolicy)?.mergeType == .overwriteMergePolicyType)
        #expect((NSRollbackMergePolicy as? NSMergePolicy)?.mergeType == .rollbackMergePolicyType)
        #expect(NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType.rawValue == 1)
    }

    @Test func detectConflictsChecksUnchangedObjects() throws {
        let container = try ContextKit.container(sqlite: true)
        let view = container.viewContext
        let watched = ContextKit.author("watched", view)
        let other = ContextKit.author("other", view)
        try view.save()
        _ = watched.value(forKey: "name")
        try change(watched.objectID, ["name": "changed"], in: container)
        view.detectConflicts(for: watched)
        other.setValue("other 2", forKey: "name")
        let error = ContextKit.error { try view.save() }
        #expect(error?.code == NSManagedObjectMergeError)
    }

    private func account(_ email: String, _ nick: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
        account.setValue(email, forKey: "email")
        account.setValue(nick, forKey: "nick")
        return account
    }

    @Test func uniquenessViolationsThrow() throws {
        let container = try ContextKit.container(sqlite: true, constraint: true)
        let view = container.viewContext
        let first = account("a@x.org", "one", view)
        try view.save()
        let second = account("a@x.org", "two", view)
        let error = try #require(ContextKit.error { try view.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSManagedObjectConstraintMergeError)
        let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
        let conflict = try #require(list.first)
        #expect(list.count == 1)
        #expect(conflict.constraint == ["email"])
        #expect(conflict.constraintValues["email"] as? String == "a@x.org")
        #expect(conflict.databaseObject?.objectID == first.objectID)
        #expect(conflict.conflictingObjects == [second])
    }

    @Test func objectTrumpUpdatesTheExistingRecord() throws {
        let container = try ContextKit.container(sqlite: true, constraint: true)
        let view = container.viewContext
        let policy = ContextPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        view.mergePolicy = policy
        _ = account("a@x.org", "one", view)
        try view.save()
        _ = account("a@x.org", "two", view)
        try view.save()
        #expect(policy.constraints.count == 1)
        #expect(policy.constraints.first?.constraint == ["email"])
        let background = container.newBackgroundContext()
        let nicks = try background.performAndWait {
            try background.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account")).map {
                $0.value(forKey: "nick") as? String
            }
        }
        #expect(nicks == ["two"])
    }

    @Test func duplicatesInsideOneContextHaveNoDatabaseObject() throws {
        let container = try ContextKit.container(sqlite: true, constraint: true)
        let view = container.viewContext
        let one = account("a@x.org", "one", view)
        let two = account("a@x.org", "two", view)
        let error = try #require(ContextKit.error { try view.save() })
        #expect(error.code == NSManagedObjectConstraintMergeError)
        let conflict = try #require(
            (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
        #expect(conflict.databaseObject == nil)
        #expect(Set(conflict.conflictingObjects) == [one, two])
    }
}
