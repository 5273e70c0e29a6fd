import CoreData
import TestSupport
import Testing

/// A context that notes what it is asked for.
private final class NotingContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: used on one thread.
    var calls: [String] = []

    override func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        calls.append("fetch")
        return try super.fetch(request)
    }

    override func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        calls.append("count")
        return try super.count(for: request)
    }

    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        calls.append("execute")
        return try super.execute(request)
    }

    override func save() throws {
        calls.append("save")
        try super.save()
    }

    override func perform(_ block: @escaping () -> Void) {
        calls.append("perform")
        super.perform(block)
    }

    override func performAndWait(_ block: () -> Void) {
        calls.append("performAndWait")
        super.performAndWait(block)
    }

    override func processPendingChanges() {
        calls.append("processPendingChanges")
        super.processPendingChanges()
    }

    override func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        calls.append("refresh")
        super.refresh(object, mergeChanges: mergeChanges)
    }

    override func refreshAllObjects() {
        calls.append("refreshAllObjects")
        super.refreshAllObjects()
    }

    override func rollback() {
        calls.append("rollback")
        super.rollback()
    }

    override func undo() {
        calls.append("undo")
        super.undo()
    }

    override func redo() {
        calls.append("redo")
        super.redo()
    }

    override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        calls.append("obtainPermanentIDs")
        try super.obtainPermanentIDs(for: objects)
    }

    override func mergeChanges(fromContextDidSave notification: Notification) {
        calls.append("mergeChanges")
        super.mergeChanges(fromContextDidSave: notification)
    }

    override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        calls.append("object")
        return super.object(with: objectID)
    }

    override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        calls.append("existingObject")
        return try super.existingObject(with: objectID)
    }
}

/// Contexts whose class is the program's own. A context as tests of programs have it: on a Mac the
/// untyped methods are the ones that can be overridden.
private final class AnsweringContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: used on one thread.
    var answer: [Any] = []
    var asked: [String] = []

    override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        asked.append("\(request.entityName ?? "") \(request.fetchLimit)")
        return answer
    }
}

struct ContextSubclassTests {
    @Test func aSubclassIsAskedForEverything() throws {
        let library = try Library()
        let context = NotingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        func calls(_ body: () throws -> Void) rethrows -> [String] {
            context.calls = []
            try body()
            return context.calls
        }
        let ada = context.author("Ada")
        #expect(try calls { try context.obtainPermanentIDs(for: [ada]) }.contains("obtainPermanentIDs"))
        #expect(try calls { try context.save() }.first == "save")
        #expect(context.calls.contains("processPendingChanges"))
        #expect(try calls { _ = try context.fetch(request) } == ["fetch"])
        #expect(try calls { _ = try context.count(for: request) } == ["count"])
        #expect(try calls { _ = try context.execute(request) }.first == "execute")
        #expect(calls { context.refresh(ada, mergeChanges: true) }.first == "refresh")
        #expect(calls { context.refreshAllObjects() }.first == "refreshAllObjects")
        #expect(calls { context.rollback() }.first == "rollback")
        #expect(calls { context.undo() }.first == "undo")
        #expect(calls { context.redo() }.first == "redo")
        #expect(calls { _ = context.object(with: ada.objectID) } == ["object"])
        #expect(try calls { _ = try context.existingObject(with: ada.objectID) }.first == "existingObject")
        #expect(calls { context.perform({ () -> Void in }) }.first == "perform")
        // What the block does at its end is over.
        context.performAndWait {}
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: library.context)
        library.context.author("Bob")
        try library.context.save()
        let notification = try #require(saves.all.last)
        #expect(calls { context.mergeChanges(fromContextDidSave: notification) }.first == "mergeChanges")
        withExtendedLifetime(library) {}
    }

    @Test func anOverrideSeesEveryBlockThatIsWaitedFor() throws {
        let context = NotingContext(concurrencyType: .privateQueueConcurrencyType)
        var count = 0
        context.performAndWait {
            count += 1
            count += 1
        }
        #expect(context.calls == ["performAndWait"])
        #expect(context.performAndWait { count } == 2)
        #expect(context.calls == ["performAndWait", "performAndWait"])
        let error = #expect(throws: CocoaError.self) {
            try context.performAndWait { () throws -> Int in throw CocoaError(.managedObjectMerge) }
        }
        #expect(error?.code == .managedObjectMerge)
        #expect(context.calls.count == 3)
    }

    @Test func typedRequestsAreAskedOfTheUntypedMethods() throws {
        let context = AnsweringContext(concurrencyType: .mainQueueConcurrencyType)
        let request = NSFetchRequest<NSDictionary>(entityName: "Author")
        request.fetchLimit = 3
        context.answer = [["name": "Ada"], NSDictionary(dictionary: ["name": "Bob"])]
        #expect(try context.fetch(request).map { $0["name"] as? String } == ["Ada", "Bob"])
        #expect(context.asked == ["Author 3"])
        let library = try Library()
        let ada = library.context.author("Ada")
        context.answer = [ada]
        #expect(try context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author")) == [ada])
        context.answer = [1]
        #expect(errorThrown { _ = try context.fetch(request) } != nil)
    }

    @Test(arguments: StoreKind.allCases) func aSubclassThatOverridesNothingFetchesTheSame(kind: StoreKind) throws {
        final class PlainContext: NSManagedObjectContext, @unchecked Sendable {}
        let library = try Library(kind)
        library.context.book("Notes", by: library.context.author("Ada"))
        library.context.book("Songs")
        try library.context.save()
        let context = PlainContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        context.author("Bob")
        #expect(Set(try context.names()) == ["Ada", "Bob"])
        #expect(try context.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) == 2)
        let books = NSFetchRequest<LibraryBook>(entityName: "Book")
        books.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        books.fetchBatchSize = 1
        #expect(try context.fetch(books).map(\.title) == ["Notes", "Songs"])
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(try context.fetch(dictionaries).count == 2)
        let numbers = NSFetchRequest<NSNumber>(entityName: "Book")
        numbers.resultType = .countResultType
        #expect(try context.fetch(numbers) == [2])
        let wrong = NSFetchRequest<LibraryAuthor>(entityName: "Book")
        let error = errorThrown { _ = try context.fetch(wrong) }
        #expect(error?.localizedDescription.contains("LibraryAuthor") == true)
    }
}
