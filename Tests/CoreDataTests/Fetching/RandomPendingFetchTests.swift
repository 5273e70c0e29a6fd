import CoreData
import TestSupport
import Testing

/// Random fetches over random unsaved changes, compared with plain arrays.
struct RandomPendingFetchTests {
    /// The store that answers a fetch.
    enum FetchedStore {
        case sqlite, inMemory, postgreSQL
        /// Stores of a program's own classes.
        case incremental, atomic

        var type: String {
            switch self {
            case .sqlite: NSSQLiteStoreType
            case .inMemory: NSInMemoryStoreType
            case .postgreSQL: StoreKind.postgreSQL.type
            case .incremental: ShelfService.storeType.rawValue
            case .atomic: NodeShelf.storeType.rawValue
            }
        }

        func url(_ file: URL) -> URL? {
            switch self {
            case .inMemory: nil
            case .postgreSQL: StoreKind.postgreSQL.url(file)
            case .sqlite, .incremental, .atomic: file
            }
        }
    }

    private static let kinds: [[FetchedStore]] =
        [
            [.sqlite], [.inMemory], [.sqlite, .sqlite], [.inMemory, .sqlite], [.incremental], [.atomic],
            [.incremental, .sqlite],
            [.atomic, .incremental],
        ]
        + (StoreKind.allCases.contains(.postgreSQL)
            ? [[.postgreSQL], [.sqlite, .postgreSQL], [.postgreSQL, .inMemory]] : [])

    @Test(arguments: kinds, 1...(LongTests.areEnabled ? 40 : 1))
    func fetchesDoWhatArraysDo(_ kinds: [FetchedStore], _ seed: Int) throws {
        NSPersistentStoreCoordinator.registerStoreClass(ShelfService.self, type: ShelfService.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(NodeShelf.self, type: NodeShelf.storeType)
        var run = try RandomFetches(kinds, seed: UInt64(seed))
        for step in 0..<150 {
            try run.change()
            if let difference = try run.difference() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }
}

/// Books under random changes, and what fetches should find.
private struct RandomFetches {
    struct Row: Equatable {
        var title: String
        var isNovel: Bool
        var pages: Int32
        var rating: Double
        var author: String?
    }

    private struct Filter {
        let predicate: NSPredicate?
        let matches: (Row) -> Bool
    }

    private var generator: SeededGenerator
    private let folder: TemporaryFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    private let context: NSManagedObjectContext
    private var stores: [NSPersistentStore] = []
    private var authors: [NSPersistentStore: [LibraryAuthor]] = [:]
    private var books: [String: (object: LibraryBook, store: NSPersistentStore)] = [:]
    private var rows: [String: Row] = [:]
    private var savedRows: [String: Row] = [:]
    private var savedBooks: [String: (object: LibraryBook, store: NSPersistentStore)] = [:]
    private var serial = 0
    /// Dictionaries with columns of other entities are not what these tests' service can give.
    private let givesDictionaries: Bool

    init(_ kinds: [RandomPendingFetchTests.FetchedStore], seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        folder = try TemporaryFolder()
        context = coordinator.newContext()
        givesDictionaries = !kinds.contains(.incremental)
        for (number, kind) in kinds.enumerated() {
            let store = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store\(number)")))
            stores.append(store)
            authors[store] = ["A", "B"].map { name in
                let author = context.author(name)
                context.assign(author, to: store)
                return author
            }
        }
        for _ in 0..<25 { insert() }
        try save()
    }

    private mutating func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func insert() {
        serial += 1
        let store = stores[random(0..<stores.count)]
        let row = Row(
            title: "b\(serial)", isNovel: random(0..<3) == 0, pages: Int32(random(0..<8)),
            rating: Double(random(0..<4)),
            author: [nil, "A", "B"][random(0..<3)])
        let writer = authors[store]?.first { $0.name == row.author }
        let book =
            row.isNovel
            ? context.novel(row.title, pages: row.pages, by: writer)
            : context.book(row.title, pages: row.pages, by: writer)
        book.rating = row.rating
        context.assign(book, to: store)
        books[row.title] = (book, store)
        rows[row.title] = row
    }

    private mutating func save() throws {
        try context.save()
        (savedRows, savedBooks) = (rows, books)
    }

    mutating func change() throws {
        let title = rows.keys.sorted().randomElement(using: &generator) ?? ""
        switch random(0..<20) {
        case 0..<5: insert()
        case 5..<9:
            let pages = Int32(random(0..<8))
            rows[title]?.pages = pages
            books[title]?.object.pages = pages
        case 9..<11:
            let author = [nil, "A", "B"][random(0..<3)]
            guard let (book, store) = books[title] else { return }
            book.author = authors[store]?.first { $0.name == author }
            rows[title]?.author = author
        case 11..<15:
            guard let book = books[title]?.object else { return }
            context.delete(book)
            (books[title], rows[title]) = (nil, nil)
        case 15: context.tag("unrelated")
        case 16: try save()
        case 17:
            context.rollback()
            (rows, books) = (savedRows, savedBooks)
        case 18: context.refreshAllObjects()
        default: break
        }
    }

    private mutating func filter() -> Filter {
        let number = random(0..<8)
        let pages = Int32(number)
        switch random(0..<7) {
        case 0: return Filter(predicate: NSPredicate(format: "pages > %d", number)) { $0.pages > pages }
        case 1:
            return Filter(predicate: NSPredicate(format: "rating >= 2 AND pages < %d", number)) {
                $0.rating >= 2 && $0.pages < pages
            }
        case 2: return Filter(predicate: NSPredicate(format: "title BEGINSWITH %@", "b1")) { $0.title.hasPrefix("b1") }
        case 3: return Filter(predicate: NSPredicate(format: "author.name == %@", "A")) { $0.author == "A" }
        case 4:
            return Filter(predicate: NSPredicate(format: "author == nil OR pages == %d", number)) {
                $0.author == nil || $0.pages == pages
            }
        default: return Filter(predicate: nil) { _ in true }
        }
    }

    /// The difference between the result of one random fetch and the expected one; nil when there
    /// is none.
    mutating func difference() throws -> String? {
        let filter = filter()
        let onlyNovels = random(0..<4) == 0
        let withSubentities = random(0..<4) != 0
        let (limit, offset) = (random(0..<3) == 0 ? 0 : random(1..<12), random(0..<2) == 0 ? 0 : random(0..<20))
        let order = random(0..<4)
        let store = random(0..<4) == 0 ? stores[random(0..<stores.count)] : nil

        func candidates(_ rows: [String: Row], _ books: [String: (object: LibraryBook, store: NSPersistentStore)])
            -> [Row]
        {
            var found = rows.values.filter { row in
                (onlyNovels ? row.isNovel : withSubentities || !row.isNovel) && filter.matches(row)
                    && (store == nil || books[row.title]?.store === store)
            }
            switch order {
            case 1: found.sort { ($0.pages, $0.title) < ($1.pages, $1.title) }
            case 2: found.sort { $0.pages != $1.pages ? $0.pages > $1.pages : $0.title < $1.title }
            case 3: found.sort { ($0.author ?? "", $0.title) < ($1.author ?? "", $1.title) }
            default: found.sort { $0.title < $1.title }
            }
            return found
        }
        func cut(_ rows: [Row]) -> [String] {
            let rest = rows.dropFirst(offset)
            return (limit > 0 ? rest.prefix(limit) : rest).map(\.title)
        }
        func describe<Result>(_ request: NSFetchRequest<Result>) {
            request.predicate = filter.predicate
            request.includesSubentities = withSubentities
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            request.affectedStores = store.map { [$0] }
            let title = NSSortDescriptor(key: "title", ascending: true)
            switch order {
            case 1: request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true), title]
            case 2: request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false), title]
            case 3: request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true), title]
            default: break
            }
        }
        let all = candidates(rows, books)
        let wanted = cut(all)
        /// Without an order only the number is certain, and that all results match.
        func isRight(_ found: [String], _ all: [Row], _ wanted: [String]) -> Bool {
            if order > 0 { return found == wanted }
            return found.count == wanted.count && Set(found).count == found.count
                && Set(found).isSubset(of: all.map(\.title))
        }
        let entity = onlyNovels ? "Novel" : "Book"
        let what =
            "\(entity) \(filter.predicate?.predicateFormat ?? "all") order \(order) limit \(limit) offset \(offset)"

        switch random(0..<5) {
        case 0:
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            describe(request)
            request.resultType = .managedObjectIDResultType
            let found = try context.fetch(request).map { (context.object(with: $0) as? LibraryBook)?.title ?? "nil" }
            return isRight(found, all, wanted) ? nil : "IDs of \(what): \(found), not \(wanted)"
        case 1:
            let request = NSFetchRequest<LibraryBook>(entityName: entity)
            describe(request)
            let count = try context.count(for: request)
            return count == wanted.count ? nil : "count of \(what): \(count), not \(wanted.count)"
        case 2 where givesDictionaries:
            // Dictionaries are the store's.
            let request = NSFetchRequest<NSDictionary>(entityName: entity)
            describe(request)
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "pages"]
            let saved = candidates(savedRows, savedBooks)
            let found = try context.fetch(request).map { $0["title"] as? String ?? "nil" }
            return isRight(found, saved, cut(saved)) ? nil : "dictionaries of \(what): \(found), not \(cut(saved))"
        default:
            let request = NSFetchRequest<LibraryBook>(entityName: entity)
            describe(request)
            request.fetchBatchSize = random(0..<3) == 0 ? 3 : 0
            request.includesPropertyValues = random(0..<4) != 0
            request.returnsObjectsAsFaults = random(0..<2) == 0
            let found = try context.fetch(request)
            if !isRight(found.map { $0.title ?? "nil" }, all, wanted) {
                return "\(what): \(found.map { $0.title ?? "nil" }), not \(wanted)"
            }
            let wrong = found.first { rows[$0.title ?? ""]?.pages != $0.pages }
            return wrong.map { "\(what): \($0) has other values than \(String(describing: rows[$0.title ?? ""]))" }
        }
    }
}
