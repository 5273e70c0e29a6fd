import CoreData
import TestSupport
import Testing

/// Different dictionaries in the order of what they do not show: that of all rows, of which the
/// first of each dictionary is kept.
struct DistinctOrderTests {
    static let kinds: [[StoreKind]] =
        StoreKind.allCases.map { [$0] } + [[.sqlite, .sqlite], [.sqlite, .inMemory]]
        + (StoreKind.allCases.contains(.postgreSQL) ? [[.postgreSQL, .postgreSQL], [.sqlite, .postgreSQL]] : [])

    /// Two have one title, and two others another; Ada and Zoe have written them.
    private static let rows = [
        DistinctRow(title: "A", pages: 30, rating: 2, author: "Zoe"),
        DistinctRow(title: "A", pages: 20, rating: 3, author: "Ada"),
        DistinctRow(title: "B", pages: 25, rating: 2, author: "Ada"),
        DistinctRow(title: "C", pages: 22, rating: 2, author: "Zoe"),
        DistinctRow(title: "C", pages: 40, rating: 1, author: nil),
        DistinctRow(title: "D", pages: nil, rating: 3, author: "Zoe"),
    ]

    private func filled(_ kinds: [StoreKind]) throws -> DistinctShelf {
        let shelf = try DistinctShelf(kinds)
        try shelf.insert(Self.rows)
        return shelf
    }

    @Test(arguments: kinds) func theFirstRowOfEachTellsItsPlace(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        #expect(try shelf.fetch(["title"], by: ["pages"]) == ["D", "A", "C", "B"])
        #expect(try shelf.fetch(["title"], by: ["-pages"]) == ["C", "A", "B", "D"])
    }

    @Test(arguments: kinds) func aLaterKeyIsThatOfTheFirstRowToo(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        #expect(try shelf.fetch(["title"], by: ["rating", "pages"]) == ["C", "B", "A", "D"])
        #expect(try shelf.fetch(["title"], by: ["rating", "-pages"]) == ["C", "A", "B", "D"])
        #expect(try shelf.fetch(["title"], by: ["-rating", "pages"]) == ["D", "A", "C", "B"])
        #expect(try shelf.fetch(["title"], by: ["-rating", "-pages"]) == ["A", "D", "B", "C"])
    }

    @Test(arguments: kinds) func oneKeyIsShownAndTheOtherIsNot(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        #expect(
            try shelf.fetch(["title", "rating"], by: ["rating", "-pages"]) == [
                "C 1", "A 2", "B 2", "C 2", "A 3", "D 3",
            ])
        #expect(
            try shelf.fetch(["title", "rating"], by: ["rating", "pages"]) == ["C 1", "C 2", "B 2", "A 2", "D 3", "A 3"])
        #expect(try shelf.fetch(["title"], by: ["-title", "pages"]) == ["D", "C", "B", "A"])
        #expect(try shelf.fetch(["title"], by: ["pages", "title"]) == ["D", "A", "C", "B"])
    }

    @Test(arguments: kinds) func keysLeadAcrossARelationship(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        #expect(try shelf.fetch(["title"], by: ["author.name", "pages"]) == ["C", "A", "B", "D"])
        #expect(try shelf.fetch(["title"], by: ["-author.name", "-pages"]) == ["A", "C", "D", "B"])
        #expect(try shelf.fetch(["author.name"], by: ["pages"]) == ["Zoe", "Ada", "-"])
        #expect(try shelf.fetch(["author.name"], by: ["-pages"]) == ["-", "Zoe", "Ada"])
        #expect(try shelf.fetch(["rating"], by: ["author.born", "-pages"]) == ["1", "2", "3"])
    }

    @Test(arguments: kinds) func limitAndOffsetCountDictionaries(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        #expect(try shelf.fetch(["title"], by: ["pages"], offset: 1, limit: 2) == ["A", "C"])
        #expect(try shelf.fetch(["title"], by: ["pages"], offset: 3) == ["B"])
        #expect(try shelf.fetch(["title"], by: ["pages"], offset: 4, limit: 2) == [])
        #expect(try shelf.fetch(["title"], by: ["-pages"], limit: 1) == ["C"])
        #expect(try shelf.fetch(["title"], by: ["-rating", "pages"], offset: 1, limit: 1) == ["A"])
    }

    /// Dictionaries are of what is saved.
    @Test(arguments: kinds) func pendingChangesAreSeenWhenTheyAreSaved(kinds: [StoreKind]) throws {
        let shelf = try filled(kinds)
        let books = try shelf.context.books()
        shelf.context.assign(shelf.context.book("E", pages: 1), to: shelf.stores[0])
        let (changed, deleted) = (books.first { $0.pages == 20 }, books.first { $0.title == "B" })
        changed?.pages = 100
        shelf.context.delete(try #require(deleted))
        #expect(try shelf.fetch(["title"], by: ["pages"]) == ["D", "A", "C", "B"])
        #expect(try shelf.fetch(["title"], by: ["-pages"], limit: 2) == ["C", "A"])
        try shelf.context.save()
        #expect(try shelf.fetch(["title"], by: ["pages"]) == ["D", "E", "C", "A"])
        #expect(try shelf.fetch(["title"], by: ["-pages"], limit: 2) == ["A", "C"])
    }

    @Test(arguments: kinds, 1...(LongTests.areEnabled ? 20 : 1))
    func randomRowsAreWhatPlainArraysSay(kinds: [StoreKind], seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let shelf = try DistinctShelf(kinds)
        var rows = (0..<60).map { DistinctRow(serial: $0, &random) }
        try shelf.insert(rows)
        for step in 0..<60 {
            let columns = DistinctRow.columns.filter { _ in Bool.random(using: &random) }.prefix(3)
            var keys = DistinctRow.columns.shuffled(using: &random)
            keys.replaceSubrange(Int.random(in: 0...3, using: &random)..., with: ["published"])
            let directed = keys.map { (Bool.random(using: &random) ? "-" : "") + $0 }
            let asked = columns.isEmpty ? ["title"] : Array(columns)
            let (offset, limit) = (Int.random(in: 0...4, using: &random), Int.random(in: 0...12, using: &random))
            let most = Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil
            let found = try shelf.fetch(
                asked, by: directed, most.map { "rating <= \($0)" }, offset: offset, limit: limit)
            let chosen = rows.filter { row in most.map { row.rating <= $0 } ?? true }
            let wanted = DistinctRow.fetched(asked, by: directed, of: chosen, offset: offset, limit: limit)
            if found != wanted {
                let request =
                    "\(asked) by \(directed), offset \(offset), limit \(limit), rating of at most \(most ?? 3)"
                Issue.record("seed \(seed), step \(step): \(request): \(found), not \(wanted)")
                return
            }
            guard step % 20 == 19 else { continue }
            // More rows, which come first and last.
            let more = (0..<10).map { DistinctRow(serial: rows.count + $0, &random) }
            try shelf.insert(more)
            rows += more
        }
    }
}

/// A book as a value.
private struct DistinctRow {
    /// The values by which rows are compared.
    enum Value: Comparable {
        case missing
        case number(Int)
        case text(String)

        var shown: String {
            switch self {
            case .missing: "-"
            case .number(let number): "\(number)"
            case .text(let text): text
            }
        }
    }

    var title: String?
    var pages: Int?
    var rating: Int
    var author: String?
    /// No two random rows have the same.
    var published = 0

    init(title: String?, pages: Int?, rating: Int, author: String?) {
        (self.title, self.pages, self.rating, self.author) = (title, pages, rating, author)
    }

    /// - Parameter serial: a number of its own; numbers that follow each other are published in no
    ///   order.
    init(serial: Int, _ random: inout SeededGenerator) {
        title = ["a", "b", "c", nil].randomElement(using: &random) ?? nil
        pages = Int.random(in: 0..<5, using: &random) == 0 ? nil : Int.random(in: 0..<6, using: &random)
        rating = Int.random(in: 0..<4, using: &random)
        author = Self.births.keys.sorted().randomElement(using: &random).flatMap {
            Bool.random(using: &random) ? $0 : nil
        }
        published = serial * 7919 % 10_007
    }

    static let births = ["Ada": 1815, "Bea": 1900, "Zoe": 1900]
    /// The key paths that rows have, but for the one that tells them apart.
    static let columns = ["title", "pages", "rating", "author.name", "author.born"]

    subscript(path: String) -> Value {
        switch path {
        case "title": title.map(Value.text) ?? .missing
        case "pages": pages.map(Value.number) ?? .missing
        case "rating": .number(rating)
        case "author.name": author.map(Value.text) ?? .missing
        case "author.born": author.flatMap { Self.births[$0] }.map(Value.number) ?? .missing
        default: .number(published)
        }
    }

    /// The expected result of a fetch.
    ///
    /// - Parameter keys: with a sign where the order is descending.
    static func fetched(_ columns: [String], by keys: [String], of rows: [DistinctRow], offset: Int, limit: Int)
        -> [String]
    {
        let sorted = rows.sorted { first, second in
            for key in keys {
                let path = String(key.drop { $0 == "-" })
                let (one, other) = (first[path], second[path])
                if one != other { return key.hasPrefix("-") ? other < one : one < other }
            }
            return false
        }
        var seen: Set<String> = []
        let distinct = sorted.map { row in columns.map { row[$0].shown }.joined(separator: " ") }.filter {
            seen.insert($0).inserted
        }
        let rest = distinct.dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }
}

/// Books in one store or in several.
private final class DistinctShelf {
    private let folder: TemporaryFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let context: NSManagedObjectContext
    private(set) var stores: [NSPersistentStore] = []
    private var count = 0

    init(_ kinds: [StoreKind]) throws {
        folder = try TemporaryFolder()
        context = coordinator.newContext()
        stores = try coordinator.addStores(kinds, in: folder)
    }

    /// Saves rows, each in the store whose turn it is, with an author of its own.
    func insert(_ rows: [DistinctRow]) throws {
        for row in rows {
            let store = stores[count % stores.count]
            count += 1
            let book = context.book(row.title, pages: Int32(row.pages ?? 0), rating: Double(row.rating))
            if row.pages == nil { book.setValue(nil, forKey: "pages") }
            book.published = Date(timeIntervalSinceReferenceDate: Double(row.published))
            context.assign(book, to: store)
            guard let name = row.author else { continue }
            let author = context.author(name, born: Int16(DistinctRow.births[name] ?? 0))
            context.assign(author, to: store)
            book.author = author
        }
        try context.save()
    }

    /// The different dictionaries, each as the texts of its values in the order of the columns.
    ///
    /// - Parameter keys: with a sign where the order is descending.
    func fetch(
        _ columns: [String], by keys: [String], _ format: String? = nil, offset: Int = 0, limit: Int = 0
    ) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        request.returnsDistinctResults = true
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = keys.map { key in
            NSSortDescriptor(key: String(key.drop { $0 == "-" }), ascending: !key.hasPrefix("-"))
        }
        (request.fetchOffset, request.fetchLimit) = (offset, limit)
        return try context.fetch(request).map { row in columns.map { Self.text(row[$0]) }.joined(separator: " ") }
    }

    private static func text(_ value: Any?) -> String {
        guard let value else { return "-" }
        return (value as? Double).map { "\(Int($0))" } ?? "\(value)"
    }
}
