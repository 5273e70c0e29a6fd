import CoreData
import TestSupport
import Testing

/// The values of `changedValuesForCurrentEvent()` for observers of an event.
struct EventValueTests {
    /// Runs a block whenever a context tells what has changed.
    private final class Observer {
        private var token: (any NSObjectProtocol)?

        init(_ context: NSManagedObjectContext, _ told: @escaping (Notification) -> Void) {
            // Called on the thread that posts, which is the test's.
            nonisolated(unsafe) let told = told
            token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil,
                using: { told($0) })
        }

        deinit { if let token { NotificationCenter.default.removeObserver(token) } }
    }

    @Test("56: observers are told what it was", arguments: StoreKind.allCases) func observersAreToldWhatItWas(
        kind: StoreKind
    ) throws {
        let library = try Library(kind)
        let context = library.context
        let (ada, bob) = (context.author("Ada"), context.author("Bob"))
        let book = context.book("Notes", pages: 1, by: ada)
        try context.save()
        var told: [[String: Any]] = []
        var former: [[String: Any]] = []
        let observer = Observer(context) { _ in
            told.append(book.changedValuesForCurrentEvent())
            former.append(ada.changedValuesForCurrentEvent())
        }
        book.title = "Letters"
        book.title = "Diary"
        book.author = bob
        #expect(book.changedValuesForCurrentEvent()["title"] as? String == "Notes")
        context.processPendingChanges()
        #expect(Set(told[0].keys) == ["title", "author"])
        #expect(told[0]["title"] as? String == "Notes")
        #expect(told[0]["author"] as? NSManagedObject === ada)
        #expect(former[0]["books"] as? Set<NSManagedObject> == [book])
        #expect(book.changedValuesForCurrentEvent().isEmpty)
        // The next event begins with unsaved values.
        book.title = nil
        book.author = nil
        context.processPendingChanges()
        #expect(told[1]["title"] as? String == "Diary")
        #expect(told[1]["author"] as? NSManagedObject === bob)
        book.title = "Songs"
        try context.save()
        #expect(told[2].count == 1)
        #expect(told[2]["title"] is NSNull)
        book.title = "Plays"
        context.processPendingChanges()
        #expect(told[3].count == 1)
        #expect(told[3]["title"] as? String == "Songs")
        withExtendedLifetime(observer) {}
    }

    /// An observer that sets an attribute of changed objects, as many programs have it.
    @Test("56: what an observer changes is told in the next event", arguments: [false, true], [false, true])
    func observersMayChangeWhatTheyAreToldOf(isChild: Bool, undoes: Bool) throws {
        let library = try Library()
        let context =
            isChild ? NSManagedObjectContext(concurrencyType: library.context.concurrencyType) : library.context
        if isChild { context.parent = library.context }
        if undoes { context.undoManager = UndoManager() }
        let book = context.book("Notes", pages: 1)
        try context.save()
        var told: [[String: Any]] = []
        let stamper = Observer(context) { _ in if book.pages == 1 { book.pages = 2 } }
        let observer = Observer(context) { _ in told.append(book.changedValuesForCurrentEvent()) }
        book.title = "Letters"
        context.processPendingChanges()
        try #require(told.count == 1)
        #expect(told[0].count == 1)
        #expect(told[0]["title"] as? String == "Notes")
        context.processPendingChanges()
        try #require(told.count == 2)
        #expect(told[1].count == 1)
        #expect(told[1]["pages"] as? Int == 1)
        book.title = "Songs"
        context.processPendingChanges()
        try #require(told.count == 3)
        #expect(told[2].count == 1)
        #expect(told[2]["title"] as? String == "Letters")
        withExtendedLifetime([stamper, observer]) {}
    }

    @Test("56: each event has its own values, also where an observer saves", arguments: StoreKind.allCases)
    func eventsWithinEvents(kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let (book, other) = (context.book("Notes", pages: 1), context.book("Songs"))
        try context.save()
        var told: [[String: Any]] = []
        var toldOfOther: [[String: Any]] = []
        var hasSaved = false
        // Whichever is called first saves; the order of observers is nobody's promise.
        let observers = (0..<2).map { _ in
            Observer(context) { _ in
                if hasSaved {
                    told.append(book.changedValuesForCurrentEvent())
                    toldOfOther.append(other.changedValuesForCurrentEvent())
                    return
                }
                hasSaved = true
                book.pages = 2
                #expect(throws: Never.self) { try context.save() }
                other.pages = 3
            }
        }
        book.title = "Letters"
        context.processPendingChanges()
        // The save is told to both before the second observer hears of the outer event, whose
        // values are saved by then.
        #expect(told.count == 3)
        #expect(told.dropLast().map { $0.count == 1 ? $0["pages"] as? Int : nil } == [1, 1])
        #expect(told.last?.isEmpty == true)
        // One that is in neither tells what has changed since.
        #expect(toldOfOther.map { $0.count } == [0, 0, 1])
        withExtendedLifetime(observers) {}
    }

    @Test("56: a deleted object tells what was unsaved, too", arguments: [false, true])
    func deletedObjectsTellWhatWasUnsaved(isNew: Bool) throws {
        let library = try Library()
        let context = library.context
        let (ada, bob) = (context.author("Ada"), context.author("Bob"))
        if !isNew { try context.save() }
        let book = context.book("Notes", by: ada)
        if !isNew { try context.save() }
        context.processPendingChanges()
        book.author = bob
        context.processPendingChanges()
        var told: [String: Any] = [:]
        let observer = Observer(context) { _ in told = book.changedValuesForCurrentEvent() }
        context.delete(book)
        context.processPendingChanges()
        #expect(told["author"] as? NSManagedObject === bob)
        withExtendedLifetime(observer) {}
    }

    @Test("56: a deleted object tells what its delete rules have nullified") func deletedObjectsTellWhatTheyHad() throws
    {
        let library = try Library()
        let context = library.context
        let ada = context.author("Ada")
        let book = context.book("Notes", by: ada)
        try context.save()
        var told: [String: Any] = [:]
        let observer = Observer(context) { _ in told = book.changedValuesForCurrentEvent() }
        context.delete(book)
        context.processPendingChanges()
        #expect(told["author"] as? NSManagedObject === ada)
        try context.save()
        withExtendedLifetime(observer) {}
    }

    @Test("56: a new object had the model's defaults") func newObjectsHadTheDefaults() throws {
        let size = NSAttributeDescription("size", .integer32AttributeType, default: 7)
        let stack = try TestStack([
            NSEntityDescription("Box", class: "NSManagedObject", [size, .init("name", .stringAttributeType)])
        ])
        var told: [String: Any] = [:]
        let observer = Observer(stack.context) { notification in
            let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            told = inserted?.first?.changedValuesForCurrentEvent() ?? [:]
        }
        _ = stack.context.new("Box", ["size": 9, "name": "box"])
        stack.context.processPendingChanges()
        #expect(told.count == 2)
        #expect(told["size"] as? Int == 7)
        #expect(told["name"] is NSNull)
        withExtendedLifetime(observer) {}
    }

    /// The second path remembers all values of all objects after each event.
    @Test("56: random changes", arguments: 0..<(LongTests.areEnabled ? 400 : 8), [false, true])
    func randomChanges(seed: Int, undoes: Bool) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let library = try Library()
        let context = library.context
        if undoes { context.undoManager = UndoManager() }
        for name in ["Ada", "Bob"] { context.author(name) }
        for title in ["A", "B", "C"] { context.book(title, tags: [context.tag(title)]) }
        try context.save()
        let (authors, books, tags) = (
            try context.authors(), try context.books(), try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag"))
        )
        let objects: [NSManagedObject] = authors + books + tags
        func values(_ object: NSManagedObject) -> [String: NSObject] {
            let names =
                object.entity.attributesByName.keys.map { $0 } + object.entity.relationshipsByName.keys.map { $0 }
            return Dictionary(
                uniqueKeysWithValues: names.filter { object.entity.propertiesByName[$0]?.isTransient == false }.map {
                    ($0, object.value(forKey: $0) as? NSObject ?? NSNull())
                })
        }
        var known = Dictionary(uniqueKeysWithValues: objects.map { ($0, values($0)) })
        var events = 0
        let observer = Observer(context) { notification in
            events += 1
            let changed = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
            for object in objects where changed.contains(object) {
                let former = object.changedValuesForCurrentEvent()
                for (name, value) in values(object) {
                    let before = known[object]?[name]
                    if let told = former[name] {
                        #expect(
                            told as? NSObject == before,
                            "seed \(seed), \(name): \(told), not \(String(describing: before))")
                    } else {
                        #expect(value == before, "seed \(seed), \(name) is not told")
                    }
                }
            }
            for object in objects { known[object] = values(object) }
        }
        for _ in 0..<30 {
            let book = books[Int.random(in: 0..<books.count, using: &random)]
            let author = authors[Int.random(in: 0..<authors.count, using: &random)]
            let tag = tags[Int.random(in: 0..<tags.count, using: &random)]
            switch Int.random(in: 0..<9, using: &random) {
            case 0: book.title = Bool.random(using: &random) ? nil : "title \(Int.random(in: 0..<3, using: &random))"
            case 1: book.pages = Int32.random(in: 0..<3, using: &random)
            case 2: book.author = Bool.random(using: &random) ? nil : author
            case 3: author.books = Bool.random(using: &random) ? [] : [book]
            case 4: book.mutableSetValue(forKey: "tags").add(tag)
            case 5: book.mutableSetValue(forKey: "tags").remove(tag)
            case 6: try context.save()
            case 7 where undoes && context.undoManager?.canUndo == true: context.undo()
            default: context.processPendingChanges()
            }
        }
        try context.save()
        #expect(events > 0)
        withExtendedLifetime(observer) {}
    }
}
