import CoreData
import TestSupport
import Testing

/// Random operations on a library, compared with plain dictionaries after each save.
@Suite(.enabled(if: LongTests.areEnabled)) struct RandomOperationTests {
    @Test(arguments: StoreKind.allCases, 1...8)
    func aLibraryDoesWhatDictionariesDo(_ kind: StoreKind, _ seed: Int) throws {
        var run = try RandomRun(kind, seed: UInt64(seed))
        for step in 0..<1500 {
            try run.doSomething()
            if let difference = try run.difference() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }
}

/// A library under random operations, and what it should hold.
private struct RandomRun {
    private var generator: SeededGenerator
    private let kind: StoreKind
    private let library: Library
    private var coordinator: NSPersistentStoreCoordinator
    private var context: NSManagedObjectContext
    private var saved = LibraryModel()
    private var pending = LibraryModel()
    private var serial = 0
    private var last = ""
    /// The operations since the last save, rollback or reopening.
    private var operations: [String] = []

    init(_ kind: StoreKind, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        self.kind = kind
        library = try Library(kind)
        coordinator = library.coordinator
        context = coordinator.newContext()
    }

    private mutating func pick<Element>(_ elements: some Collection<Element>) -> Element? {
        elements.randomElement(using: &generator)
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < share }

    private mutating func newName(_ prefix: String) -> String {
        serial += 1
        return "\(prefix)\(serial)"
    }

    // Names in ascending order, so that a seed always picks the same.
    private mutating func anyAuthor() -> String? { pick(pending.authors.keys.sorted()) }
    private mutating func anyBook() -> String? { pick(pending.books.keys.sorted()) }
    private mutating func anyTag() -> String? { pick(pending.tags.sorted()) }

    private func author(_ name: String) throws -> LibraryAuthor {
        try #require(try context.authors("name == %@", [name]).first, "author \(name)")
    }
    private func book(_ title: String) throws -> LibraryBook {
        try #require(try context.books("title == %@", [title]).first, "book \(title)")
    }
    private func tag(_ label: String) throws -> LibraryTag {
        let request = NSFetchRequest<LibraryTag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label == %@", label)
        return try #require(try context.fetch(request).first, "tag \(label)")
    }

    mutating func doSomething() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<8:
            last = "insert an author"
            let name = newName("A")
            operations.append("insert \(name)")
            let born = Int16.random(in: -100...2000, using: &generator)
            context.author(name, born: born)
            pending.authors[name] = .init(born: born)
        case 8..<26: try insertBook()
        case 26..<30:
            last = "insert a tag"
            let label = newName("T")
            operations.append("insert \(label)")
            context.tag(label)
            pending.tags.insert(label)
        case 30..<45: try changeBook()
        case 45..<50:
            last = "change an author"
            guard let name = anyAuthor() else { return }
            operations.append("change \(name)")
            let born = Int16.random(in: -100...2000, using: &generator)
            try author(name).born = born
            pending.authors[name]?.born = born
        case 50..<60: try moveBook()
        case 60..<70: try changeTags()
        case 70..<74:
            last = "delete a book"
            guard let title = anyBook() else { return }
            operations.append("delete \(title)")
            context.delete(try book(title))
            context.processPendingChanges()
            pending.books[title] = nil
        case 74..<76:
            last = "delete an author"
            guard let name = anyAuthor() else { return }
            operations.append("delete \(name)")
            context.delete(try author(name))
            context.processPendingChanges()
            pending.removeAuthor(name)
        case 76..<77:
            last = "delete a tag"
            guard let label = anyTag() else { return }
            operations.append("delete \(label)")
            context.delete(try tag(label))
            context.processPendingChanges()
            pending.removeTag(label)
        case 77..<79:
            last = "roll back"
            context.rollback()
            pending = saved
            operations.append("roll back")
        case 79..<82:
            last = "refresh all"
            context.refreshAllObjects()
            operations.append("refresh all")
        case 82..<84: try reopen()
        case 84..<90: try compareFetches()
        default:
            last = "save"
            try context.save()
            saved = pending
            operations.append("save")
        }
    }

    private mutating func insertBook() throws {
        last = "insert a book"
        let title = newName("B")
        var expected = LibraryModel.Book()
        expected.pages = Int32.random(in: 0..<1000, using: &generator)
        expected.isNovel = chance(0.3)
        if chance(0.7) { expected.author = anyAuthor() }
        operations.append("insert \(title) by \(expected.author ?? "nobody")")
        let writer = try expected.author.map { try author($0) }
        if expected.isNovel {
            expected.genre = pick(["crime", "horror", nil]) ?? nil
            context.novel(title, pages: expected.pages, genre: expected.genre, by: writer)
        } else {
            expected.rating = Double(Int.random(in: 0...10, using: &generator)) / 2
            context.book(title, pages: expected.pages, rating: expected.rating, by: writer)
        }
        pending.books[title] = expected
    }

    private mutating func changeBook() throws {
        last = "change a book"
        guard let title = anyBook() else { return }
        operations.append("change \(title)")
        let object = try book(title)
        let pages = Int32.random(in: 0..<1000, using: &generator)
        object.pages = pages
        pending.books[title]?.pages = pages
        if chance(0.5) {
            let rating = Double(Int.random(in: 0...10, using: &generator)) / 2
            object.rating = rating
            pending.books[title]?.rating = rating
        }
    }

    private mutating func moveBook() throws {
        last = "move a book"
        guard let title = anyBook() else { return }
        let name = chance(0.2) ? nil : anyAuthor()
        let object = try book(title)
        let writer = try name.map { try author($0) }
        operations.append("move \(title) to \(name ?? "nobody")")
        if chance(0.5) {
            object.author = writer
        } else if let writer {
            writer.mutableSetValue(forKey: "books").add(object)
        } else {
            object.author?.mutableSetValue(forKey: "books").remove(object)
        }
        pending.books[title]?.author = name
    }

    private mutating func changeTags() throws {
        last = "change tags"
        guard let title = anyBook(), let label = anyTag() else { return }
        let object = try book(title)
        let tag = try tag(label)
        operations.append("toggle \(label) of \(title)")
        if pending.books[title]?.tags.contains(label) == true {
            if chance(0.5) { object.tags.remove(tag) } else { tag.books.remove(object) }
            pending.books[title]?.tags.remove(label)
        } else {
            if chance(0.5) { object.tags.insert(tag) } else { tag.books.insert(object) }
            pending.books[title]?.tags.insert(label)
        }
    }

    /// Closes the store and opens it anew, without what was not saved. A store in memory only gets
    /// a new context.
    private mutating func reopen() throws {
        last = "reopen"
        if kind == .sqlite {
            if let store = coordinator.persistentStores.first { try coordinator.remove(store) }
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: library.url)
        }
        context = coordinator.newContext()
        pending = saved
        operations.append("reopen")
    }

    /// Fetches with predicates over unsaved changes, against the dictionaries.
    private mutating func compareFetches() throws {
        last = "fetch"
        let pages = Int32.random(in: 0..<1000, using: &generator)
        let batch = chance(0.5) ? 7 : 0
        func titles(_ format: String, _ arguments: [Any]) throws -> [String] {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.fetchBatchSize = batch
            return try context.fetch(request).map { $0.title ?? "nil" }
        }
        let many = pending.books.filter { $0.value.pages >= pages }.keys.sorted()
        #expect(try titles("pages >= %@", [pages]) == many, "\(last)")
        if let name = anyAuthor() {
            let mine = pending.books.filter { $0.value.author == name }.keys.sorted()
            #expect(try titles("author == %@", [try author(name)]) == mine, "by author")
            #expect(try Set(author(name).books.map { $0.title ?? "nil" }) == Set(mine), "books of an author")
        }
        if let label = anyTag() {
            let tagged = pending.books.filter { $0.value.tags.contains(label) }.keys.sorted()
            #expect(try titles("ANY tags.label == %@", [label]) == tagged, "by tag")
        }
    }

    /// How the library differs from the dictionaries; nil when it does not. Looked at after saves
    /// and at times between.
    mutating func difference() throws -> String? {
        guard last == "save" || last == "reopen" || chance(0.02) else { return nil }
        let reader = coordinator.newContext()
        for (place, found, wanted) in [
            ("context", try LibraryModel(context), pending), ("store", try LibraryModel(reader), saved),
        ] where found != wanted {
            return "after \(last) the \(place) differs: \(wanted.difference(from: found)). Operations: "
                + operations.suffix(400).joined(separator: ", ")
        }
        return nil
    }
}
