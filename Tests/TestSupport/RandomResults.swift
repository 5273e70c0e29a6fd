import CoreData

/// A controller over a library under random changes, here and by others, beside two other ways to
/// know what it must show: a fresh fetch, and plain Swift over all objects.
public struct RandomResults {
    public struct Setup: Sendable {
        public var kind = StoreKind.sqlite
        public var hasSections = true
        public var limit = 0
        public var offset = 0
        /// How many contexts lie between the controller's and the store.
        public var parents = 0
        public init() {}
        public init(
            _ kind: StoreKind = .sqlite, hasSections: Bool = true, limit: Int = 0, offset: Int = 0, parents: Int = 0
        ) {
            (self.kind, self.hasSections, self.limit, self.offset, self.parents) = (
                kind, hasSections, limit, offset, parents
            )
        }
    }

    private static let longest: Int32 = 500
    private let setup: Setup
    private let library: Library
    /// From the context that saves to the store to that of the controller.
    private let levels: [NSManagedObjectContext]
    private let context: NSManagedObjectContext
    private let others: [NSManagedObjectContext]
    private let controller: NSFetchedResultsController<LibraryBook>
    private let listener = ResultsListener()
    private var generator: SeededGenerator
    /// All objects of the context that were not deleted, those that are no results among them. A
    /// fresh fetch forgets none.
    private var all: [LibraryBook]
    /// The values of each object that a reader saw when it was last told of it.
    private var shown: [ObjectIdentifier: String] = [:]
    private var operations: [String] = []
    private var steps = 0

    public init(_ setup: Setup, count: Int, seed: UInt64) throws {
        self.setup = setup
        generator = SeededGenerator(seed: seed)
        library = try Library(setup.kind)
        var levels = [library.context]
        for _ in 0..<setup.parents { levels.append(levels[levels.count - 1].newChild()) }
        self.levels = levels
        context = levels[levels.count - 1]
        others = [library.newContext()] + (setup.kind.isDatabase ? [try library.newStackContext()] : [])
        let writer = library.newContext()
        for _ in 0..<count { Self.makeBook(writer, &generator) }
        try writer.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages < %d", Self.longest)
        request.sortDescriptors = ["rating", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        request.fetchLimit = setup.limit
        request.fetchOffset = setup.offset
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context,
            sectionNameKeyPath: setup.hasSections ? "rating" : nil, cacheName: nil)
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
        // Half of the objects are known to the context, the others only to the store.
        all = try context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book"))
        noteShown()
    }

    @discardableResult
    private static func makeBook(_ context: NSManagedObjectContext, _ generator: inout SeededGenerator) -> LibraryBook {
        let book =
            Int.random(in: 0..<4, using: &generator) == 0
            ? LibraryNovel(context: context) : LibraryBook(context: context)
        book.title = title(&generator)
        book.pages = pages(&generator)
        book.rating = rating(&generator)
        return book
    }

    // Unique, so that there is one right order.
    private static func title(_ generator: inout SeededGenerator) -> String {
        String(UInt64.random(in: 0...UInt64.max, using: &generator), radix: 36)
    }
    private static func pages(_ generator: inout SeededGenerator) -> Int32 {
        Int32.random(in: 0..<longest * 2, using: &generator)
    }
    private static func rating(_ generator: inout SeededGenerator) -> Double {
        Double(Int.random(in: 0..<12, using: &generator))
    }

    /// Changes something, and says what is wrong then.
    public mutating func step() throws -> String? {
        operations = []
        listener.forgetCalls()
        for _ in 0..<Int.random(in: 1...4, using: &generator) { try change() }
        context.processPendingChanges()
        return try difference()
    }

    private mutating func anyBook() -> LibraryBook? { all.randomElement(using: &generator) }

    private mutating func change() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<15:
            note("insert")
            all.append(Self.makeBook(context, &generator))
        case 15..<25:
            note("delete")
            if let book = anyBook() { context.delete(book) }
        case 25..<70:
            if let book = anyBook() { edit(book) }
        case 70..<78:
            let count = Int.random(in: 1...levels.count, using: &generator)
            note("save \(count)")
            try save(count)
        case 78..<82:
            note("roll back")
            context.rollback()
        case 82..<87:
            note("refresh")
            if let book = anyBook() { context.refresh(book, mergeChanges: Bool.random(using: &generator)) }
        case 87:
            note("refresh all")
            if all.count < 1000 || Int.random(in: 0..<20, using: &generator) == 0 { context.refreshAllObjects() }
        case 88: undetectable()
        default: try changeElsewhere()
        }
        all.removeAll { $0.managedObjectContext == nil }
    }

    private mutating func note(_ operation: String) { operations.append(operation) }

    private mutating func edit(_ book: LibraryBook) {
        if book.isDeleted { return }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            note("edit pages")
            book.pages = Self.pages(&generator)
        case 1:
            note("edit title")
            book.title = Self.title(&generator)
        case 2:
            note("edit rating")
            book.rating = Self.rating(&generator)
        case 3:
            note("edit date")
            book.published = Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<1000, using: &generator)))
        default:
            note("edit all")
            (book.pages, book.title, book.rating) = (
                Self.pages(&generator), Self.title(&generator), Self.rating(&generator)
            )
        }
    }

    /// A change on which no result depends.
    private mutating func undetectable() {
        note("edit author")
        context.author("Author \(operations.count)")
    }

    /// Saves some levels, from the lowest upward.
    private func save(_ count: Int) throws { for level in levels.reversed().prefix(count) { try level.save() } }

    /// Others change and save, and the context takes it over.
    private mutating func changeElsewhere() throws {
        note("merge")
        guard let other = others.randomElement(using: &generator) else { return }
        let isRemote = other.persistentStoreCoordinator !== context.persistentStoreCoordinator
        // Saved first: a conflict is not what is asked here.
        try save(levels.count)
        all.removeAll { $0.managedObjectContext == nil }
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard let mine = anyBook(), let book = other.object(with: try objectID(of: mine, in: other)) as? LibraryBook
            else { continue }
            if isRemote || book.isFault { other.refresh(book, mergeChanges: true) }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: Self.makeBook(other, &generator)
            case 1: if !book.isDeleted { other.delete(book) }
            default: edit(book)
            }
        }
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: other)
        try other.save()
        guard let saved = log.all.last else { return }
        if isRemote {
            var uris: [AnyHashable: Any] = [:]
            for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
                uris[key] = (saved.userInfo?[key] as? Set<NSManagedObjectID>)?.map { $0.uriRepresentation() }
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: uris, into: levels)
        } else {
            for level in levels { level.mergeChanges(fromContextDidSave: saved) }
        }
        other.reset()
        let known = Set(all.map(ObjectIdentifier.init))
        for objectID in saved.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? [] {
            guard
                let mine = context.persistentStoreCoordinator?.managedObjectID(
                    forURIRepresentation: objectID.uriRepresentation()),
                let book = context.object(with: mine) as? LibraryBook, !known.contains(ObjectIdentifier(book))
            else { continue }
            all.append(book)
        }
        all.removeAll { $0.managedObjectContext == nil }
    }

    private func objectID(of book: LibraryBook, in other: NSManagedObjectContext) throws -> NSManagedObjectID {
        other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: book.objectID.uriRepresentation())
            ?? book.objectID
    }

    // MARK: What must be

    private func text(_ book: LibraryBook) -> String {
        "\(book.title ?? "") \(book.pages) \(book.rating) \(book.published?.timeIntervalSinceReferenceDate ?? -1)"
    }

    private mutating func noteShown() {
        shown = [:]
        for section in listener.sections {
            for case let book as LibraryBook in section.objects { shown[ObjectIdentifier(book)] = text(book) }
        }
    }

    /// The difference between the listener's view and the context; nil if there is none.
    private mutating func difference() throws -> String? {
        func complaint(_ text: String) -> String { "\(text) after \(operations.joined(separator: ", "))" }
        if let first = listener.complaints.first { return complaint(first) }
        if listener.sections != ResultsListener.sections(of: controller) {
            return complaint("the calls and the controller differ")
        }
        for case let book as LibraryBook in listener.told { shown[ObjectIdentifier(book)] = text(book) }
        steps += 1
        let results = listener.sections.flatMap(\.objects)
        let fetched = try context.fetch(controller.fetchRequest)
        if results != fetched { return complaint("the calls and a fetch differ") }
        // What reads all objects one by one is asked now and then where there are many.
        if all.count > 1000, steps % 50 != 0 { return nil }
        var expected = all.filter { $0.pages < Self.longest && !$0.isDeleted && $0.managedObjectContext != nil }
            .map { (book: $0, rating: $0.rating, title: $0.title ?? "") }
            .sorted { ($0.rating, $0.title) < ($1.rating, $1.title) }
            .map(\.book)[...]
        expected = expected.dropFirst(setup.offset)
        if setup.limit > 0 { expected = expected.prefix(setup.limit) }
        if results != Array(expected) {
            let wanted: Set<NSManagedObject> = Set(expected)
            let (missing, surplus) = (wanted.subtracting(results), Set(results).subtracting(wanted))
            return complaint("the calls and the objects differ (without \(missing), with \(surplus))")
        }
        if setup.hasSections {
            for section in listener.sections {
                let names = Set(section.objects.compactMap { ($0 as? LibraryBook).map { "\(Int($0.rating))" } })
                if names != [section.name] { return complaint("the section \(section.name) has objects of \(names)") }
            }
        }
        for case let book as LibraryBook in results where shown[ObjectIdentifier(book)] != text(book) {
            return complaint("the change of \(text(book)) was not told")
        }
        return nil
    }
}
