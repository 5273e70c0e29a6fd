import CoreData
import TestSupport
import Testing

/// Objects in contexts after their store was removed from the coordinator (behaviour 172).
struct RemovedStoreTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.context
    }

    private func remove() throws {
        try library.coordinator.remove(library.store)
        // The context does its part on its queue.
        context.performAndWait {}
    }

    @Test func removingAStoreInvalidatesItsObjects() throws {  // 172
        let ada = context.author("Ada")
        context.book("Notes", by: ada)
        try context.save()
        try remove()
        #expect(ada.isFault)
        #expect(ada.managedObjectContext == nil)
        #expect(context.registeredObjects.isEmpty)
    }

    @Test func theContextPostsTheInvalidatedObjects() throws {  // 172
        let ada = context.author("Ada")
        let notes = context.book("Notes", by: ada)
        try context.save()
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, from: context)
        try remove()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSInvalidatedObjectsKey) == [ada, notes])
        let keys: Set<AnyHashable> = [
            NSInvalidatedObjectsKey, NSManagedObjectContext.NotificationKey.sourceContext.rawValue,
        ]
        #expect(log.all.first.map { Set(($0.userInfo ?? [:]).keys) } == keys)
    }

    @Test func aContextHearsOfTheRemovalWithinItsOwnBlock() throws {  // 172
        try context.performAndWait {
            let ada = context.author("Ada")
            try context.save()
            try library.coordinator.remove(library.store)
            #expect(ada.isFault)
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func everyContextOfTheCoordinatorHearsOfTheRemoval() throws {  // 172
        context.author("Ada")
        try context.save()
        let other = library.newContext()
        let ada = try #require(try other.authors().first)
        try remove()
        other.performAndWait {}
        #expect(ada.managedObjectContext == nil)
    }

    @Test func objectsOfOtherStoresStay() throws {  // 172
        let second = try library.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let ada = context.author("Ada")
        let ben = context.author("Ben")
        context.assign(ben, to: second)
        try context.save()
        try remove()
        #expect(ada.managedObjectContext == nil)
        #expect(ben.managedObjectContext === context)
        #expect(ben.name == "Ben")
        #expect(context.registeredObjects == [ben])
        ben.name = "Benno"
        try context.save()
    }

    @Test func readsOfAnObjectWhoseStoreWasRemovedGiveNil() throws {  // 172, 340
        let ada = context.author("Ada", born: 1815)
        let notes = context.book("Notes", by: ada)
        try context.save()
        let objectID = ada.objectID
        try remove()
        #expect(ada.name == nil)
        #expect(ada.born == 0)
        #expect(ada.books.isEmpty)
        #expect(notes.author == nil)
        #expect((notes.value(forKey: "tags") as? NSSet)?.count == 0)
        #expect(ada.objectID == objectID)
        #expect(ada.description.contains("Author"))
        #expect(ada.changedValues().isEmpty)
        #expect(ada.committedValues(forKeys: nil)["name"] is NSNull)
    }

    /// The context hears of the removal only when its queue is free; until then faults must not
    /// stop the program.
    @Test func aFaultReadBeforeTheContextHearsOfTheRemovalGivesNil() throws {  // 172, 340
        let ada = context.author("Ada")
        let notes = context.book("Notes", by: ada)
        try context.save()
        context.refreshAllObjects()
        let reader = library.newContext()
        let fault = try #require(try reader.authors().first)
        reader.refresh(fault, mergeChanges: false)
        let loaded = try #require(try reader.books().first)
        _ = loaded.title
        let started = DispatchSemaphore(value: 0)
        let removed = DispatchSemaphore(value: 0)
        for context in [reader, context] {
            context.perform {
                started.signal()
                removed.wait()
            }
            started.wait()
        }
        try library.coordinator.remove(library.store)
        #expect(fault.name == nil)
        #expect(loaded.tags.isEmpty)
        #expect(notes.title == nil)
        for context in [reader, context] {
            removed.signal()
            context.performAndWait {}
        }
        #expect(fault.name == nil)
    }

    @Test func whereErrorsCanBeThrownTheRemovedStoreIsNamed() throws {  // 172, 340
        let ada = context.author("Ada")
        try context.save()
        let objectID = ada.objectID
        try remove()
        let missing = try #require(errorThrown { _ = try context.existingObject(with: objectID) })
        #expect(missing.localizedDescription.contains("Author"), "\(missing)")
        #expect(missing.localizedDescription.contains("removed"), "\(missing)")
        ada.name = "Augusta"
        let unsaved = try #require(errorThrown { try context.save() })
        #expect(unsaved.localizedDescription.contains("removed"), "\(unsaved)")
        context.rollback()
        #expect(try context.authors().isEmpty)
    }

    @Test func pendingChangesOfARemovedStoreAreLost() throws {  // 172
        let ada = context.author("Ada")
        let ben = context.author("Ben")
        try context.save()
        ada.name = "Augusta"
        context.delete(ben)
        try remove()
        #expect(!context.hasChanges)
        try library.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: library.url)
        try context.save()
        #expect(try context.names() == ["Ada", "Ben"])
    }

    @Test func theIDsOfInvalidObjectsOutliveCoordinatorAndContext() throws {  // 172
        var objects: [NSManagedObject] = []
        do {
            let library = try Library()
            objects.append(library.context.author("Ada"))
            try library.context.save()
            try library.coordinator.remove(library.store)
            library.context.performAndWait {}
        }
        #expect(objects[0].objectID.uriRepresentation().absoluteString.contains("/Author/p1"))
    }
}
