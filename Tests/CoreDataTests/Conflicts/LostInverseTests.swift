import CoreData
import TestSupport
import Testing

/// Changed relationships whose other side was taken back before the save: they must not lead to
/// rows that are gone.
struct LostInverseTests {
    private static let winning = [
        NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    private func deleteAuthor(_ library: Library) throws {
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.authors().first))
        try deleting.save()
    }

    /// The authors of all books: as a context without objects reads them, and as the file has them.
    private func authors(_ library: Library, _ kind: StoreKind) throws -> [String?] {
        let read = try library.newContext().books().map { $0.author?.name }
        if kind == .sqlite {
            let stored = library.file.column("SELECT a.ZNAME FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR")
            #expect(Set(stored) == Set(read))
            let lost = library.file.column(
                "SELECT ZAUTHOR FROM ZBOOK WHERE ZAUTHOR NOT NULL AND ZAUTHOR NOT IN (SELECT Z_PK FROM ZAUTHOR)")
            #expect(lost == [])
        }
        return read
    }

    @Test(arguments: StoreKind.allCases)
    func aDestinationThatWasRefreshedAndHasNoRowIsNone(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        let book = library.context.book("Book", by: author)
        library.context.refresh(author, mergeChanges: false)
        try deleteAuthor(library)
        try library.context.save()
        #expect(book.author == nil)
        #expect(!library.context.hasChanges)
        #expect(try authors(library, kind) == [nil])
    }

    @Test(arguments: StoreKind.allCases)
    func theErrorPolicyReportsADestinationWhoseRowIsGone(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        library.context.book("Book", by: author)
        library.context.refresh(author, mergeChanges: false)
        #expect(author.name == "Author")
        try deleteAuthor(library)
        let error = #expect(throws: CocoaError.self) { try library.context.save() }
        #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [author])
        library.context.refresh(author, mergeChanges: false)
        try library.context.save()
        #expect(try authors(library, kind) == [nil])
    }

    @Test(arguments: StoreKind.allCases, winning)
    func otherPoliciesEndTheRelationshipOrSaveTheDestinationAgain(kind: StoreKind, policy: NSMergePolicy) throws {
        let library = try Library(kind)
        library.context.mergePolicy = policy
        let author = library.context.author("Author")
        let old = library.context.book("Old")
        try library.context.save()
        library.context.book("Book", by: author)
        old.author = author
        library.context.refresh(author, mergeChanges: false)
        #expect(author.name == "Author")
        try deleteAuthor(library)
        try library.context.save()
        #expect(!library.context.hasChanges)
        let wins = [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType].contains(policy.mergeType)
        #expect(try authors(library, kind) == (wins ? ["Author", "Author"] : [nil, nil]))
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func whoDeletesADestinationThatWasRefreshedMeetsAConflict(kind: StoreKind, onlyTheBook: Bool) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        let deleting = library.newContext()
        let same = try #require(try deleting.authors().first)
        #expect(same.books.isEmpty)
        let book = library.context.book("Book", by: author)
        library.context.refresh(author, mergeChanges: false)
        if onlyTheBook {
            let request = NSSaveChangesRequest(inserted: [book], updated: nil, deleted: nil, locked: nil)
            _ = try library.coordinator.execute(request, with: library.context)
        } else {
            try library.context.save()
        }
        #expect(!library.context.hasChanges)
        #expect(author.books == [book])
        #expect(try authors(library, kind) == ["Author"])
        deleting.delete(same)
        #expect(throws: CocoaError.self) { try deleting.save() }
        deleting.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try deleting.save()
        #expect(try authors(library, kind) == [nil])
    }

    @Test(arguments: StoreKind.allCases, winning)
    func aDestinationWhoseChangesAPolicyTookBackIsNotForgotten(kind: StoreKind, type: NSMergePolicy) throws {
        let library = try Library(kind)
        let policy = InterruptedPolicy(merge: type.mergeType)
        library.context.mergePolicy = policy
        let author = library.context.author("Author")
        try library.context.save()
        let naming = library.newContext()
        try naming.authors().first?.name = "Other"
        try naming.save()
        library.context.book("Book", by: author)
        author.born = 3
        policy.interruption = { try deleteAuthor(library) }
        try library.context.save()
        #expect(!library.context.hasChanges)
        let found = try authors(library, kind)
        let isRecreated = try !library.newContext().authors().isEmpty
        #expect(found.count == 1)
        #expect((found == [nil]) == !isRecreated)
    }

    @Test(arguments: StoreKind.allCases)
    func aDestinationWhoseDeletionWasMergedIsNone(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        let book = library.context.book("Book", by: author)
        try deleteAuthor(library)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: [author.objectID]], into: [library.context])
        try library.context.save()
        #expect(book.author == nil)
        #expect(try authors(library, kind) == [nil])
    }

    @Test(arguments: StoreKind.allCases)
    func aDestinationWhoseDeletionWasSavedIsNone(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        library.context.delete(author)
        try library.context.save()
        let book = library.context.book("Book")
        book.setPrimitiveValue(author, forKey: "author")
        try library.context.save()
        #expect(try authors(library, kind) == [nil])
    }

    @Test(arguments: StoreKind.allCases)
    func pairsOfManyToManyRelationshipsLeadToRows(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (gone, stays) = (library.context.tag("gone"), library.context.tag("stays"))
        try library.context.save()
        library.context.book("Book", tags: [gone, stays])
        for tag in [gone, stays] { library.context.refresh(tag, mergeChanges: false) }
        #expect(gone.label == "gone")
        let deleting = library.newContext()
        let tags = try deleting.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag"))
        for tag in tags where tag.label == "gone" { deleting.delete(tag) }
        try deleting.save()
        try library.context.save()
        #expect(try library.newContext().books().map { $0.tags.map(\.label) } == [["stays"]])
        if kind == .sqlite,
            let join = library.file.value(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        {
            #expect(library.file.value("SELECT count(*) FROM \(join)") == "1")
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func bothSidesOfAOneToOneRelationshipAreWritten(kind: StoreKind, isNew: Bool) throws {
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let pass = NSEntityDescription(
            "Pass", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(person, "pass", pass, inverse: "person")
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([person, pass]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        let context = coordinator.newContext()
        let (first, held) = (context.insert("Person", ["name": "first"]), context.insert("Pass", ["name": "held"]))
        first.setValue(held, forKey: "pass")
        let second = isNew ? nil : context.insert("Person", ["name": "second"])
        try context.save()
        let taking = second ?? context.insert("Person", ["name": "second"])
        taking.setValue(held, forKey: "pass")
        context.refresh(held, mergeChanges: false)
        try context.save()
        let reading = coordinator.newContext()
        try withExtendedLifetime(reading) {
            let people = try reading.objects("Person")
            let owners = people.filter { $0.value(forKey: "pass") != nil }.map { $0.value(forKey: "name") as? String }
            let back = try reading.objects("Pass").map { $0.value(forKeyPath: "person.name") as? String }
            #expect(owners == ["second"])
            #expect(back == ["second"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aMemberOfAnOrderedRelationshipGetsItsPlace(kind: StoreKind) throws {
        let list = NSEntityDescription(
            "List", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let entry = NSEntityDescription(
            "Entry", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(list, "entries", toMany: true, ordered: true, entry, inverse: "list")
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([list, entry]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(url))
        let context = coordinator.newContext()
        let owner = context.insert("List", ["name": "list"])
        for name in ["a", "b"] { context.insert("Entry", ["name": name]).setValue(owner, forKey: "list") }
        try context.save()
        let last = context.insert("Entry", ["name": "c"])
        last.setValue(owner, forKey: "list")
        context.refresh(owner, mergeChanges: false)
        try context.save()
        let reading = coordinator.newContext()
        try withExtendedLifetime(reading) {
            let read = try #require(try reading.objects("List").first)
            let entries = read.mutableOrderedSetValue(forKey: "entries").compactMap { $0 as? NSManagedObject }
            let names = entries.map { $0.value(forKey: "name") as? String }
            #expect(names == ["a", "b", "c"])
        }
        if kind == .sqlite { #expect(SQLiteFile(url).value("SELECT count(DISTINCT Z_FOK_LIST) FROM ZENTRY") == "3") }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func aDestinationIsSavedAgainThoughItWasReadWithTheSameChangeOfOthers(kind: StoreKind, isReadBefore: Bool) throws {
        let library = try Library(kind)
        let (mine, theirs) = (library.context, library.newContext())
        mine.author("Author")
        mine.book("Book")
        try mine.save()
        mine.reset()
        let author = try #require(try mine.authors().first)
        let book = try #require(try mine.books().first)
        #expect(book.title == "Book")
        book.author = author
        let same = try #require(try theirs.books().first)
        same.author = try theirs.authors().first
        same.title = "Theirs"
        try theirs.save()
        if isReadBefore { #expect(author.books == [book]) }
        let policy = InterruptedPolicy(merge: .overwriteMergePolicyType)
        policy.interruption = {
            #expect(author.books == [book])
            try deleteAuthor(library)
        }
        mine.mergePolicy = policy
        try mine.save()
        #expect(book.author === author)
        #expect(author.books == [book])
        #expect(!mine.hasChanges)
        #expect(try authors(library, kind) == ["Author"])
        #expect(try library.newContext().titles() == ["Book"])
    }
}
