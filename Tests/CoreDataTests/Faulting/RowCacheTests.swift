import CoreData
import TestSupport
import Testing

final class CachedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var owner: CachedOwner?
}

final class CachedOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<CachedItem>
}

/// Rows are changed beside Core Data after a fetch: an object that shows the earlier values has
/// them from the row cache, one that shows the new values went to the store.
struct RowCacheTests {
    let stack: TestStack
    let context: NSManagedObjectContext

    init() throws {
        let item = NSEntityDescription(
            "Item", class: "CachedItem",
            [.init("name", .stringAttributeType), .init("size", .integer32AttributeType, default: 0)])
        let owner = NSEntityDescription("Owner", class: "CachedOwner", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        let model = NSManagedObjectModel([item, owner])
        let folder = try TemporaryFolder()
        self.folder = folder
        // Written by a first stack, so that the second one's row cache is empty.
        let first = try TestStack(model, url: folder.file("store.sqlite"))
        let newItem = CachedItem(context: first.context)
        newItem.name = "old"
        let newOwner = CachedOwner(context: first.context)
        newOwner.name = "owner"
        newItem.owner = newOwner
        try first.context.save()
        stack = try TestStack(model, url: folder.file("store.sqlite"))
        context = stack.newContext()
    }

    let folder: TemporaryFolder

    func request() -> NSFetchRequest<CachedItem> { NSFetchRequest(entityName: "Item") }

    func changeRow() { stack.file.execute("UPDATE ZITEM SET ZNAME = 'new', Z_OPT = Z_OPT + 1") }

    @Test("104: a fetch gives faults that fire without the store") func faultsFireFromTheRowCache() throws {
        let item = try #require(try context.fetch(request()).first)
        #expect(item.isFault)
        changeRow()
        #expect(item.name == "old")
        #expect(!item.isFault)
    }

    @Test("105: a fetch can give objects with their values") func fetchesGiveRealizedObjects() throws {
        let request = request()
        request.returnsObjectsAsFaults = false
        let item = try #require(try context.fetch(request).first)
        #expect(!item.isFault)
        changeRow()
        #expect(item.name == "old")
    }

    @Test("106: a fetch of IDs alone leaves the row cache empty") func fetchesOfIDsFillNoCache() throws {
        let request = request()
        request.includesPropertyValues = false
        let item = try #require(try context.fetch(request).first)
        #expect(item.isFault)
        changeRow()
        #expect(item.name == "new")
    }

    @Test("107: later fetches do not alter objects that have their values") func laterFetchesAlterNothing() throws {
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        #expect(try context.fetch(request()).first === item)
        #expect(item.name == "old")
        item.size = 9
        let request = request()
        request.returnsObjectsAsFaults = false
        #expect(try context.fetch(request).first === item)
        #expect(item.name == "old")
        #expect(item.size == 9)
    }

    @Test("107: later fetches do not alter deleted and new objects") func laterFetchesKeepDeletedAndNewObjects() throws
    {
        let item = try #require(try context.fetch(request()).first)
        context.delete(item)
        let new = CachedItem(context: context)
        new.name = "unsaved"
        changeRow()
        #expect(try context.fetch(request()) == [new])
        #expect(item.isDeleted)
        #expect(new.name == "unsaved")
        #expect(new.isInserted)
    }

    @Test("108: a fetch refreshes unchanged objects when asked to") func fetchesRefreshWhenAsked() throws {
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        let request = request()
        request.shouldRefreshRefetchedObjects = true
        #expect(try context.fetch(request).first === item)
        #expect(item.name == "new")
        #expect(!item.hasChanges)
    }

    @Test("109: prefetched to-many relationships are read without the store") func prefetchingToMany() throws {
        let request = NSFetchRequest<CachedOwner>(entityName: "Owner")
        request.relationshipKeyPathsForPrefetching = ["items"]
        let owner = try #require(try context.fetch(request).first)
        changeRow()
        stack.file.execute("UPDATE ZITEM SET ZOWNER = NULL")
        #expect(owner.items.map(\.name) == ["old"])
    }

    @Test("109: prefetched to-one relationships are read without the store") func prefetchingToOne() throws {
        let request = request()
        request.relationshipKeyPathsForPrefetching = ["owner"]
        let item = try #require(try context.fetch(request).first)
        stack.file.execute("UPDATE ZOWNER SET ZNAME = 'new owner'")
        #expect(item.owner?.name == "owner")
    }

    @Test("109: without prefetching a to-many relationship is read when it is used") func withoutPrefetching() throws {
        let owner = try #require(try context.fetch(NSFetchRequest<CachedOwner>(entityName: "Owner")).first)
        stack.file.execute("UPDATE ZITEM SET ZOWNER = NULL")
        #expect(owner.items.isEmpty)
    }

    @Test("113: cached rows do not expire by default") func rowsDoNotExpire() throws {
        #expect(context.stalenessInterval < 0)
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        context.refresh(item, mergeChanges: false)
        #expect(item.name == "old")
    }

    @Test("113: with a staleness interval of 0 each fault goes to the store, and no other object changes")
    func rowsExpireAtOnce() throws {
        context.stalenessInterval = 0
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        #expect(item.name == "old")
        context.refresh(item, mergeChanges: false)
        #expect(item.name == "new")
    }

    @Test("114: an object shows a change made beside its context after the interval is set to 0")
    func changesBesideTheContextShowAfterExpiry() throws {
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        context.refresh(item, mergeChanges: true)
        #expect(item.name == "old")
        context.stalenessInterval = 0
        context.refresh(item, mergeChanges: true)
        #expect(item.name == "new")
    }

    @Test("114: an object shows a change made beside its context after its ID is merged")
    func changesBesideTheContextShowAfterMerging() throws {
        let item = try #require(try context.fetch(request()).first)
        #expect(item.name == "old")
        changeRow()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [item.objectID]], into: [context])
        #expect(item.name == "new")
    }

    @Test func anOldRowDoesNotComeBackWhenANewerOneGoes() throws {
        let item = try #require(try context.fetch(request()).first)
        // Looks for the row, and finds the one that the fetch left.
        #expect(try stack.newContext().existingObject(with: item.objectID).value(forKey: "name") as? String == "old")
        do {
            let other = stack.coordinator.newContext()
            let same = try #require(try other.existingObject(with: item.objectID) as? CachedItem)
            same.name = "new"
            try other.save()
        }
        // The other context and its row are gone, the first context's row is not.
        #expect(item.name == "old")
        #expect(try stack.newContext().existingObject(with: item.objectID).value(forKey: "name") as? String == "new")
    }

    @Test func rowsOfAFetchThatIsGoneAreReadAgain() throws {
        let identifier = try #require(try context.fetch(request()).first?.objectID)
        changeRow()
        #expect(try stack.newContext().existingObject(with: identifier).value(forKey: "name") as? String == "new")
    }
}
