import CoreData
import TestSupport
import Testing

/// Which objects a fetch returns: entities, pending changes, limits, stores.
struct FetchScopeTests {
    private func titles(_ request: NSFetchRequest<LibraryBook>, in context: NSManagedObjectContext) throws -> [String?]
    {
        try context.fetch(request).map(\.title)
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<LibraryBook> {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func theEntityThatWasSetLastIsFetched(kind: StoreKind) throws {  // 180
        let library = try Library(kind)
        library.context.book("Book")
        library.context.author("Ada")
        try library.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.entity = NSEntityDescription.entity(forEntityName: "Author", in: library.context)
        #expect(request.entityName == "Author")
        #expect(try library.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
    }

    @Test(arguments: StoreKind.allCases)
    func subentitiesAreIncludedUnlessRefused(kind: StoreKind) throws {  // 173
        let library = try Library(kind)
        library.context.book("Book")
        library.context.novel("Novel")
        for saved in [false, true] {
            if saved { try library.context.save() }
            let all = request()
            #expect(try titles(all, in: library.context) == ["Book", "Novel"])
            #expect(try library.context.count(for: all) == 2)
            all.includesSubentities = false
            #expect(try titles(all, in: library.context) == ["Book"])
            #expect(try library.context.count(for: all) == 1)
            let novels = try library.context.fetch(NSFetchRequest<LibraryNovel>(entityName: "Novel"))
            #expect(novels.map(\.title) == ["Novel"])
        }
    }

    @Test func countingNeedsNoResultType() throws {
        let library = try Library()
        library.context.book("Book")
        #expect(try library.context.count(for: NSFetchRequest(entityName: "Book")) == 1)
        #expect(try library.context.count(for: .init(entityName: "Author")) == 0)
    }

    @Test func aRequestByNameKnowsItsEntityOnceItWasExecuted() throws {
        let library = try Library()
        let byName = NSFetchRequest<LibraryBook>(entityName: "Book")
        #expect(byName.entity == nil)
        #expect(try library.context.fetch(byName).isEmpty)
        #expect(byName.entity === library.coordinator.managedObjectModel.entitiesByName["Book"])
        #expect(byName.entityName == "Book")
        let other = try Library()
        #expect(try other.context.count(for: byName) == 0)
        #expect(byName.entity === other.coordinator.managedObjectModel.entitiesByName["Book"])
    }

    @Test func anEntityThatIsSetReplacesTheName() throws {
        let library = try Library()
        library.context.author("Ann")
        let request = NSFetchRequest<NSManagedObject>(entityName: "LibraryAuthor")
        request.entity = library.coordinator.managedObjectModel.entitiesByName["Author"]
        #expect(request.entityName == "Author")
        #expect(try library.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ann"])
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(try library.context.count(for: copy) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func pendingChangesAreJudgedByTheirValuesInMemory(kind: StoreKind) throws {  // 174
        let library = try Library(kind)
        let context = library.context
        let leaves = context.book("Leaves", pages: 10)
        let joins = context.book("Joins", pages: 1)
        let doomed = context.book("Doomed", pages: 10)
        context.book("Stays", pages: 10)
        try context.save()
        leaves.pages = 1
        joins.pages = 10
        context.delete(doomed)
        context.book("New", pages: 10)
        context.book("Small", pages: 1)
        #expect(try titles(request("pages == 10"), in: context) == ["Joins", "New", "Stays"])
        #expect(try context.count(for: request("pages == 10")) == 3)
    }

    @Test func pendingChangesKeepTheOrderOfTheSortDescriptors() throws {  // 174, 183
        let library = try Library()
        let context = library.context
        for (title, pages) in [("A", 1), ("C", 3), ("E", 5)] { context.book(title, pages: Int32(pages)) }
        try context.save()
        context.book("D", pages: 4)
        try #require(try context.books("title == 'A'").first).pages = 9
        let request = request()
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        #expect(try titles(request, in: context) == ["A", "E", "D", "C"])
        request.fetchLimit = 2
        #expect(try titles(request, in: context) == ["A", "E"])
        request.fetchOffset = 1
        #expect(try titles(request, in: context) == ["E", "D"])
    }

    @Test func pendingChangesOfDestinationsAreJudgedInMemory() throws {  // 174
        let library = try Library()
        let context = library.context
        let ada = context.author("Ada")
        let bob = context.author("Bob")
        let book = context.book("A", by: ada)
        try context.save()
        book.author = bob
        #expect(try context.titles("author.name == 'Bob'") == ["A"])
        #expect(try context.titles("author.name == 'Ada'") == [])
        #expect(try context.names("ANY books.title == 'A'") == ["Bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func withoutPendingChangesTheStoreAloneDecides(kind: StoreKind) throws {  // 175
        let library = try Library(kind)
        let context = library.context
        let changed = context.book("Changed", pages: 10)
        let doomed = context.book("Doomed", pages: 10)
        try context.save()
        changed.pages = 1
        context.delete(doomed)
        context.book("New", pages: 10)
        let request = request("pages == 10")
        request.includesPendingChanges = false
        #expect(Set(try context.fetch(request).map(\.objectID)) == [changed.objectID, doomed.objectID])
        #expect(try context.count(for: request) == 2)
        #expect(changed.pages == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func dictionariesNeverSeePendingChanges(kind: StoreKind) throws {  // 176
        let library = try Library(kind)
        let context = library.context
        let book = context.book("Saved", pages: 10)
        try context.save()
        book.title = "Changed"
        context.book("New")
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        #expect(try context.fetch(request).map { $0["title"] as? String } == ["Saved"])
    }

    @Test func aFetchAlwaysAsksTheStore() throws {  // 177
        let library = try Library()
        let book = library.context.book("A", pages: 1)
        try library.context.save()
        library.file.execute("UPDATE ZBOOK SET ZPAGES = 2")
        #expect(try library.context.books("pages == 2") == [book])
        #expect(book.pages == 1)
        #expect(try library.context.books("pages == 1").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func limitsAndOffsets(kind: StoreKind) throws {  // 178
        let library = try Library(kind)
        for title in ["A", "B", "C", "D"] { library.context.book(title) }
        try library.context.save()
        let request = request()
        request.fetchLimit = 0
        #expect(try titles(request, in: library.context).count == 4)
        request.fetchLimit = 2
        #expect(try titles(request, in: library.context) == ["A", "B"])
        request.fetchOffset = 1
        #expect(try titles(request, in: library.context) == ["B", "C"])
        request.fetchOffset = 3
        #expect(try titles(request, in: library.context) == ["D"])
        request.fetchOffset = 9
        #expect(try titles(request, in: library.context) == [])
        request.fetchLimit = 0
        request.fetchOffset = 2
        #expect(try titles(request, in: library.context) == ["C", "D"])
    }

    @Test(arguments: StoreKind.allCases)
    func theCountEqualsTheNumberOfObjects(kind: StoreKind) throws {  // 179
        let library = try Library(kind)
        let context = library.context
        for title in ["A", "B", "C", "D"] { context.book(title, pages: 10) }
        try context.save()
        context.book("E", pages: 10)
        context.delete(try context.books("title == 'A'")[0])
        for (limit, offset) in [(0, 0), (2, 0), (0, 1), (2, 3), (3, 9)] {
            let request = request("pages == 10")
            request.fetchLimit = limit
            request.fetchOffset = offset
            let count = try context.count(for: request)
            #expect(count == (try context.fetch(request).count), "limit \(limit), offset \(offset)")
        }
        let distinct = request("pages == 10")
        distinct.resultType = .managedObjectIDResultType
        #expect(try context.count(for: distinct) == 4)
    }

    @Test func aNameIsResolvedOnlyWhenTheRequestIsExecuted() throws {  // 180
        let library = try Library()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Nothing")
        #expect(request.entityName == "Nothing")
        let error = #expect(throws: (any Error).self) { try library.context.fetch(request) }
        #expect((error as NSError?)?.localizedDescription.contains("Nothing") == true)
        #expect(throws: (any Error).self) { try library.context.fetch(NSFetchRequest<NSManagedObject>()) }
        #expect(throws: (any Error).self) { try library.context.count(for: NSFetchRequest<NSManagedObject>()) }
    }

    @Test(arguments: StoreKind.allCases)
    func anEmptyConjunctionIsNoPredicate(kind: StoreKind) throws {  // 181
        let library = try Library(kind)
        library.context.book("A")
        try library.context.save()
        let request = request()
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [])
        #expect(try titles(request, in: library.context) == ["A"])
        #expect(try library.context.count(for: request) == 1)
        request.predicate = NSPredicate(value: true)
        #expect(try titles(request, in: library.context) == ["A"])
        request.predicate = NSPredicate(value: false)
        #expect(try titles(request, in: library.context) == [])
    }

    @Test func batchesFixTheListAtFetchTime() throws {  // 182
        let library = try Library()
        for number in 10..<60 { library.context.book("\(number)", pages: Int32(number)) }
        try library.context.save()
        let reader = library.newContext()
        let request = request()
        request.fetchBatchSize = 10
        let found = try reader.fetch(request)
        #expect(found.count == 50)
        let other = library.newContext()
        other.book("00")
        try other.save()
        #expect(found.count == 50)
        #expect(found.map(\.title) == (10..<60).map { "\($0)" })
    }

    @Test(arguments: StoreKind.allCases)
    func sortDescriptorsApplyInOrder(kind: StoreKind) throws {  // 183
        let library = try Library(kind)
        for (title, pages) in [("B", 1), ("A", 2), ("A", 1), ("C", 0)] {
            library.context.book(title, pages: Int32(pages))
        }
        try library.context.save()
        let request = request()
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "pages", ascending: false),
        ]
        #expect(try library.context.fetch(request).map { "\($0.title ?? "")\($0.pages)" } == ["A2", "A1", "B1", "C0"])
        request.sortDescriptors = [
            NSSortDescriptor(key: "pages", ascending: true), NSSortDescriptor(key: "title", ascending: false),
        ]
        #expect(try library.context.fetch(request).map { "\($0.title ?? "")\($0.pages)" } == ["C0", "B1", "A1", "A2"])
    }

    @Test func affectedStoresRestrictTheSearch() throws {  // 192, 308
        let library = try Library()
        let second = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.folder.file("second.sqlite"))
        library.context.book("B")
        let other = library.context.book("A")
        library.context.assign(other, to: second)
        library.context.book("C")
        try library.context.save()
        let context = library.newContext()
        let request = request()
        #expect(try titles(request, in: context) == ["A", "B", "C"])
        #expect(try context.count(for: request) == 3)
        request.fetchLimit = 2
        #expect(try titles(request, in: context) == ["A", "B"])
        request.fetchOffset = 1
        #expect(try titles(request, in: context) == ["B", "C"])
        request.fetchLimit = 0
        request.fetchOffset = 0
        request.affectedStores = [second]
        #expect(try titles(request, in: context) == ["A"])
        #expect(try context.count(for: request) == 1)
        request.affectedStores = [library.store]
        #expect(try titles(request, in: context) == ["B", "C"])
    }
}
