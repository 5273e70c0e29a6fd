import CoreData
import TestSupport
import Testing

/// Dictionary results of fetches that go to several stores.
struct SeveralStoresTests {
    static let kinds: [[StoreKind]] =
        [[.sqlite, .sqlite], [.inMemory, .inMemory], [.sqlite, .inMemory], [.sqlite]]
        + (StoreKind.allCases.contains(.postgreSQL)
            ? [[.postgreSQL, .postgreSQL], [.sqlite, .postgreSQL], [.postgreSQL, .inMemory], [.postgreSQL]] : [])

    /// The same books in one store or in several.
    private final class Shelves {
        let folder: TemporaryFolder
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let context: NSManagedObjectContext
        private(set) var stores: [NSPersistentStore] = []

        init(_ kinds: [StoreKind]) throws {
            folder = try TemporaryFolder()
            context = coordinator.newContext()
            stores = try coordinator.addStores(kinds, in: folder)
            // "a" is in the first store, "c" in the last, "b" in both.
            let books: [(String?, Int32, Double)] = [
                ("a", 10, 1), ("a", 20, 0.5), ("b", 30, 2), ("b", 50, 0.25), ("b", 70, 4), ("c", 5, 1), (nil, 1, 0),
                (nil, 2, 0),
            ]
            for (index, book) in books.enumerated() {
                context.assign(
                    context.book(book.0, pages: book.1, rating: book.2),
                    to: stores[index < 3 || index == 6 ? 0 : kinds.count - 1])
            }
            try context.save()
        }
    }

    private func column(_ name: String, _ expression: String, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        NSExpressionDescription(name, NSExpression(format: expression), type)
    }

    private func request(_ properties: [Any], groupBy: [Any] = []) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = groupBy
        return request
    }

    /// The rows as text, the values of each in order of the columns.
    private func rows(_ shelves: Shelves, _ request: NSFetchRequest<NSDictionary>) throws -> [String] {
        try shelves.context.fetch(request).map { row in
            (request.propertiesToFetch ?? []).map { property in
                let name = (property as? NSPropertyDescription)?.name ?? property as? String ?? "?"
                return row[name].map { "\($0)" } ?? "-"
            }.joined(separator: " ")
        }
    }

    @Test(arguments: kinds)
    func groupsOfSeveralStoresAreOne(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let request = request(
            [
                "title", column("count", "count:(pages)"), column("sum", "@sum.pages"), column("least", "min:(pages)"),
                column("most", "max:(pages)"), column("mean", "average:(pages)"), column("rating", "sum:(rating)"),
                column("short", "sum:(pages)", .integer16AttributeType),
            ], groupBy: ["title"])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        let groups = try rows(shelves, request)
        #expect(
            groups == [
                "c 1 5 5 5 5.0 1.0 5", "b 3 150 30 70 50.0 6.25 150", "a 2 30 10 20 15.0 1.5 30", "- 2 3 1 2 1.5 0.0 3",
            ])
    }

    @Test(arguments: kinds)
    func aggregatesOfRelationshipsAreThoseOfAllStores(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        for store in shelves.stores {
            for name in ["Ada", "Bea"] {
                let author = shelves.context.author(name, born: 1900)
                let book = shelves.context.book("x", pages: 3, by: author)
                shelves.context.assign(author, to: store)
                shelves.context.assign(book, to: store)
            }
        }
        try shelves.context.save()
        let request = request(
            [
                "born", column("count", "books.@count"), column("sum", "books.@sum.pages"),
                column("most", "books.@max.pages"),
            ],
            groupBy: ["born"])
        request.entity = shelves.coordinator.managedObjectModel.entitiesByName["Author"]
        let count = 2 * kinds.count
        #expect(try rows(shelves, request) == ["1900 \(count) \(3 * count) 3"])
    }

    @Test("344: aggregates beside other columns are those of all stores", arguments: kinds)
    func totalsOfAllStoresStandBesideRows(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let request = request(["title", "pages", column("total", "sum:(pages)"), column("mean", "average:(rating)")])
        request.predicate = NSPredicate(format: "title IN {'b', 'c'}")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        request.fetchLimit = 3
        #expect(try rows(shelves, request) == ["b 70 155 1.8125", "b 50 155 1.8125", "b 30 155 1.8125"])
    }

    @Test(arguments: kinds)
    func aConditionOnGroupsSeesAllStores(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let request = request(["title", column("total", "sum:(pages)")], groupBy: ["title"])
        request.sortDescriptors = [NSSortDescriptor(key: "total", ascending: false)]
        for (format, expected) in [
            ("total > 100", ["b 150"]), ("$total > 100", ["b 150"]), ("sum:(pages) > 100", ["b 150"]),
            ("count:(pages) == 2", ["a 30", "- 3"]), ("average:(pages) >= 15", ["b 150", "a 30"]),
            ("max:(pages) - min:(pages) == 40 OR title == 'c'", ["b 150", "c 5"]),
            ("title == 'b' AND total BETWEEN {100, 200}", ["b 150"]),
            ("title == nil", ["- 3"]), ("NOT total IN {30, 150}", ["c 5", "- 3"]),
        ] {
            request.havingPredicate = NSPredicate(format: format)
            #expect(try rows(shelves, request) == expected, "\(format)")
        }
    }

    @Test(arguments: kinds)
    func limitOffsetAndDistinctApplyToTheWhole(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let groups = request(["title", column("total", "sum:(pages)")], groupBy: ["title"])
        groups.sortDescriptors = [NSSortDescriptor(key: "total", ascending: true)]
        groups.fetchOffset = 1
        groups.fetchLimit = 2
        #expect(try rows(shelves, groups) == ["c 5", "a 30"])
        let distinct = request(["title"])
        distinct.returnsDistinctResults = true
        distinct.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try rows(shelves, distinct) == ["-", "a", "b", "c"])
        distinct.fetchOffset = 2
        distinct.fetchLimit = 1
        #expect(try rows(shelves, distinct) == ["b"])
        let totals = request([column("count", "count:(pages)")], groupBy: ["title"])
        totals.returnsDistinctResults = true
        totals.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        #expect(try rows(shelves, totals) == ["1", "2", "3"])
    }

    @Test(arguments: kinds)
    func rowsAreSortedByWhatTheyDoNotShow(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let request = request(["pages"])
        request.sortDescriptors = [
            NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "pages", ascending: true),
        ]
        request.fetchLimit = 4
        #expect(try rows(shelves, request) == ["70", "30", "5", "10"])
        request.fetchOffset = 6
        #expect(try rows(shelves, request) == ["1", "2"])
        request.fetchOffset = 60
        #expect(try rows(shelves, request).isEmpty)
    }

    @Test(arguments: kinds)
    func objectsOfSeveralStoresAreCutTogether(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        request.fetchOffset = 1
        request.fetchLimit = 3
        #expect(try shelves.context.fetch(request).map(\.pages) == [50, 30, 20])
        shelves.context.book("d", pages: 60)
        #expect(try shelves.context.fetch(request).map(\.pages) == [60, 50, 30])
    }

    @Test(arguments: kinds.filter { $0.count > 1 }) func whatCannotBePutTogetherIsNamed(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        let having = request(["title"], groupBy: ["title"])
        having.havingPredicate = NSPredicate(format: "rating > 1")
        let sorted = request(["title"], groupBy: ["title"])
        sorted.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        for (request, part) in [
            (having, "'rating'"), (sorted, "'rating'"),
            (request([column("mixed", "sum:(pages) + 1"), column("sum", "sum:(pages)")]), "'mixed'"),
        ] {
            let error = try #require(errorThrown { _ = try shelves.context.fetch(request) })
            #expect(error.localizedDescription.contains("several stores"))
            #expect(error.localizedDescription.contains(part))
        }
    }

    @Test(arguments: kinds)
    func groupsByToOneRelationshipsKeepStoresApart(_ kinds: [StoreKind]) throws {
        let shelves = try Shelves(kinds)
        for store in shelves.stores {
            let author = shelves.context.author("Ada")
            shelves.context.assign(author, to: store)
            let book = shelves.context.book("x", pages: 100, by: author)
            shelves.context.assign(book, to: store)
        }
        try shelves.context.save()
        let request = request([column("total", "sum:(pages)"), "author"], groupBy: ["author"])
        request.predicate = NSPredicate(format: "title == 'x'")
        let result = try shelves.context.fetch(request)
        #expect(result.map { $0["total"] as? Int } == kinds.map { _ in 100 })
        #expect(Set(result.compactMap { $0["author"] as? NSManagedObjectID }).count == kinds.count)
        let names = self.request(["author.name", column("total", "sum:(pages)")], groupBy: ["author.name"])
        names.predicate = request.predicate
        #expect(try rows(shelves, names) == ["Ada \(100 * kinds.count)"])
    }

    // MARK: - A file and a server

    @Test(.needsServer) func aFileAndAServerAnswerTogetherAndEachForItself() throws {
        let shelves = try Shelves([.sqlite, .postgreSQL])
        #expect(shelves.stores.map(\.type) == [StoreKind.sqlite.type, StoreKind.postgreSQL.type])
        let request = request(
            [
                "title", column("count", "count:(pages)"), column("total", "sum:(pages)"),
                column("mean", "average:(pages)"),
            ],
            groupBy: ["title"])
        request.sortDescriptors = [
            NSSortDescriptor(key: "total", ascending: false), NSSortDescriptor(key: "title", ascending: true),
        ]
        #expect(try rows(shelves, request) == ["b 3 150 50.0", "a 2 30 15.0", "c 1 5 5.0", "- 2 3 1.5"])
        request.affectedStores = [shelves.stores[0]]
        #expect(try rows(shelves, request) == ["a 2 30 15.0", "b 1 30 30.0", "- 1 1 1.0"])
        request.affectedStores = [shelves.stores[1]]
        #expect(try rows(shelves, request) == ["b 2 120 60.0", "c 1 5 5.0", "- 1 2 2.0"])
        request.affectedStores = nil
        (request.fetchOffset, request.fetchLimit) = (1, 2)
        #expect(try rows(shelves, request) == ["a 2 30 15.0", "c 1 5 5.0"])
        // Of groups whose parts do not fulfil it, too.
        request.havingPredicate = NSPredicate(format: "count:(pages) > 2 OR total < 5")
        (request.fetchOffset, request.fetchLimit) = (0, 0)
        #expect(try rows(shelves, request) == ["b 3 150 50.0", "- 2 3 1.5"])
    }

    @Test(.needsServer) func objectsOfAFileAndAServerAreSortedAndCutTogether() throws {
        let shelves = try Shelves([.sqlite, .postgreSQL])
        let context = shelves.coordinator.newContext()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false), NSSortDescriptor(key: "pages", ascending: true),
        ]
        #expect(try context.fetch(request).map(\.pages) == [5, 30, 50, 70, 10, 20, 1, 2])
        for offset in 0..<9 {
            (request.fetchOffset, request.fetchLimit) = (offset, 3)
            #expect(
                try context.fetch(request).map(\.pages)
                    == Array([5, 30, 50, 70, 10, 20, 1, 2].dropFirst(offset).prefix(3)))
            #expect(try context.count(for: request) == max(0, min(3, 8 - offset)))
        }
        request.predicate = NSPredicate(format: "pages > 5 AND rating < 4")
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        #expect(try context.fetch(request).map(\.pages) == [50, 10, 20])
        // One of them is in the file, and one on the server.
        for (pages, store) in zip([30, 40], shelves.stores) {
            context.assign(context.book("b", pages: Int32(pages), rating: 1), to: store)
        }
        #expect(try context.fetch(request).map(\.pages) == [30, 40, 50])
        try context.save()
        #expect(try context.fetch(request).map(\.pages) == [30, 40, 50])
        request.affectedStores = [shelves.stores[1]]
        (request.fetchOffset, request.fetchLimit) = (0, 0)
        #expect(try context.fetch(request).map(\.pages) == [40, 50])
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var needsServer: Self {
        .enabled(if: StoreKind.allCases.contains(.postgreSQL), "needs PostgreSQL's server")
    }
}
