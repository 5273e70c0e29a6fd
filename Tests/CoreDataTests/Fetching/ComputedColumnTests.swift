import CoreData
import TestSupport
import Testing

/// Computed columns of dictionary results, which are the same in every store.
struct ComputedColumnTests {
    /// Ada has books of 10 and 20 pages, Zoe one of 30, and one of 40 has no author.
    private func filled(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let (ada, zoe) = (library.context.author("Ada"), library.context.author("Zoe"))
        library.context.book("A", pages: 10, rating: 1.5, by: ada)
        library.context.book("B", pages: 20, rating: 2.5, by: ada)
        library.context.book("C", pages: 30, rating: 2.5, by: zoe)
        library.context.book("D", pages: 40, rating: 4)
        try library.context.save()
        return library
    }

    private func column(_ name: String, _ expression: String, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        NSExpressionDescription(name, NSExpression(format: expression), type)
    }

    private func request(_ properties: [Any], groupBy: [Any] = [], entity: String = "Book") -> NSFetchRequest<
        NSDictionary
    > {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = groupBy
        return request
    }

    @Test(arguments: StoreKind.allCases) func aDescriptionWithANameOnlyStandsForTheProperty(kind: StoreKind) throws {
        let library = try filled(kind)
        let title = NSExpressionDescription()
        title.name = "title"
        let found = try library.context.fetch(request([title]))
        #expect(found.compactMap { $0["title"] as? String }.sorted() == ["A", "B", "C", "D"])
        let unknown = NSExpressionDescription()
        unknown.name = "nothing"
        let error = errorThrown { _ = try library.context.fetch(request([unknown])) }
        #expect(error?.localizedDescription.contains("'nothing'") == true)
        #expect(error?.localizedDescription.contains("has no expression") == true)
    }

    // MARK: Aggregates without groups

    @Test(
        "344: an aggregate beside other columns is that of all objects, in a dictionary for each",
        arguments: StoreKind.allCases, 0..<3)
    func totalsStandBesideRows(kind: StoreKind, levels: Int) throws {
        let library = try filled(kind)
        var context = library.context
        for _ in 0..<levels {
            let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            child.parent = context
            context = child
        }
        let total = column("total", "sum:(pages)", .integer64AttributeType)
        let double = column("double", "pages * 2", .integer64AttributeType)
        let asked = request(["title", total, double])
        asked.predicate = NSPredicate(format: "title != 'C'")
        asked.sortDescriptors = [
            NSSortDescriptor(key: "total", ascending: true), NSSortDescriptor(key: "title", ascending: false),
        ]
        func found() throws -> [[String]] {
            try context.fetch(asked).map { row in
                ["title", "total", "double"].map { key in row[key].map { "\($0)" } ?? "-" }
            }
        }
        #expect(try found() == [["D", "70", "80"], ["B", "70", "40"], ["A", "70", "20"]])
        (asked.fetchOffset, asked.fetchLimit) = (1, 1)
        #expect(try found() == [["B", "70", "40"]])
        asked.predicate = NSPredicate(value: false)
        #expect(try found().isEmpty)
        // Distinct rows, not distinct objects; a constant makes no rows of its own.
        let distinct = request(["rating", column("count", "count:(pages)")])
        distinct.returnsDistinctResults = true
        distinct.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        let rows = try context.fetch(distinct)
        #expect(rows.map { $0["rating"] as? Double } == [1.5, 2.5, 4])
        #expect(rows.map { $0["count"] as? Int } == [4, 4, 4])
        let constant = NSExpressionDescription()
        (constant.name, constant.expression) = ("constant", NSExpression(forConstantValue: 1))
        #expect(try context.fetch(request([constant, total])).map { $0["total"] as? Int } == [100])
    }

    // MARK: Conditions on groups

    private static let severalKinds: [[StoreKind]] =
        [[.sqlite, .sqlite], [.inMemory, .inMemory], [.sqlite, .inMemory]]
        + (StoreKind.allCases.contains(.postgreSQL) ? [[.postgreSQL, .postgreSQL], [.sqlite, .postgreSQL]] : [])

    @Test(arguments: StoreKind.allCases.map { [$0] } + severalKinds)
    func aConditionOnGroupsWithAMethodIsAnErrorOrIsEvaluated(kinds: [StoreKind]) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addStores(kinds, in: folder)
        let context = coordinator.newContext()
        for (number, store) in coordinator.persistentStores.enumerated() {
            context.assign(context.book("A", pages: Int32(number), rating: 2.5), to: store)
            context.assign(context.book("B", pages: Int32(number), rating: 4.5), to: store)
        }
        try context.save()
        let request = request(["rating"], groupBy: ["rating"])
        for format in [
            "FUNCTION(rating, 'stringValue') == '2.5'", "FUNCTION(rating, 'length:', rating) == '2.5'",
            "count:(pages) > 0 AND FUNCTION(rating, 'stringValue') == '2.5'", "FUNCTION(rating, 'count:', pages) == 1",
        ] {
            request.havingPredicate = NSPredicate(format: format)
            let evaluated = format.contains("stringValue") ? [2.5] : []
            do {
                #expect(try context.fetch(request).map { $0["rating"] as? Double } == evaluated, "\(format)")
            } catch let error as NSError {
                #expect(error.code == CocoaError.coreData.rawValue, "\(error)")
            }
        }
    }

    @Test(arguments: severalKinds) func aConditionOnGroupsThatCannotBeEvaluatedIsAnError(kinds: [StoreKind]) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addStores(kinds, in: folder)
        let context = coordinator.newContext()
        context.book(String(repeating: "a", count: 40) + "!")
        try context.save()
        let request = request(["title"], groupBy: ["title"])
        for format in ["title > $LEAST", "title MATCHES '(a|aa|a*)*b(a+)+$'"] {
            request.havingPredicate = NSPredicate(format: format)
            #expect(errorThrown { _ = try context.fetch(request) }?.code == CocoaError.coreData.rawValue, "\(format)")
        }
    }

    // MARK: Order

    @Test(
        "204: rows are sorted by a computed column, in one store and in several",
        arguments: StoreKind.allCases.map { [$0] } + severalKinds)
    func rowsAreSortedByAComputedColumn(kinds: [StoreKind]) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let stores = try coordinator.addStores(kinds, in: folder)
        let context = coordinator.newContext()
        for (number, pages) in [3, nil, 1, 5, 2, 3].enumerated() {
            let book = context.book("\(number)", pages: Int32(pages ?? 0), rating: Double(number))
            if pages == nil { book.setValue(nil, forKey: "pages") }
            context.assign(book, to: stores[number % stores.count])
        }
        try context.save()
        let request = request(["title", column("minus", "pages * -1", .integer64AttributeType)])
        func titles(_ keys: String...) throws -> String {
            request.sortDescriptors = keys.map { key in
                NSSortDescriptor(key: String(key.drop { $0 == "-" }), ascending: !key.hasPrefix("-"))
            }
            return try context.fetch(request).compactMap { $0["title"] as? String }.joined()
        }
        #expect(try titles("minus", "title") == "130542")
        #expect(try titles("-minus", "-title") == "245031")
        #expect(try titles("minus", "-title") == "135042")
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        #expect(try titles("minus", "title") == "305")
        (request.fetchOffset, request.fetchLimit) = (0, 0)
        // A column that has the name of a property, which stays in its place.
        request.propertiesToFetch = ["title", column("rating", "pages * -1", .integer64AttributeType)]
        #expect(try titles("rating", "title") == "130542")
        request.propertiesToFetch = [column("minus", "pages * -1", .integer64AttributeType)]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: "minus", ascending: true)]
        #expect(try context.fetch(request).map { $0["minus"] as? Int } == [nil, -5, -3, -2, -1])
    }

    // MARK: Values

    @Test(arguments: StoreKind.allCases) func aRelationshipIsAnObjectID(kind: StoreKind) throws {
        let library = try filled(kind)
        let authors = try library.context.authors().map(\.objectID)
        for type in [NSAttributeType.undefinedAttributeType, .objectIDAttributeType] {
            let request = request(["title", column("writer", "author", type)])
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let rows = try library.context.fetch(request)
            #expect(rows.map { $0["writer"] as? NSManagedObjectID } == [authors[0], authors[0], authors[1], nil])
        }
    }

    @Test(arguments: StoreKind.allCases) func theIDOfARelationshipHasTheEntityOfItsRow(kind: StoreKind) throws {
        let library = try Library(kind)
        let model = NSManagedObjectModel()
        let place = NSEntityDescription("Place", [NSAttributeDescription("name", .stringAttributeType)])
        let town = NSEntityDescription("Town", [NSAttributeDescription("size", .integer32AttributeType)])
        place.subentities = [town]
        let person = NSEntityDescription("Person", [NSAttributeDescription("name", .stringAttributeType)])
        relate(place, "people", toMany: true, person, inverse: "home")
        model.entities = [place, town, person]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(library.folder.file("places.sqlite")))
        let context = coordinator.newContext()
        let home = NSEntityDescription.insertNewObject(forEntityName: "Town", into: context)
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(home, forKey: "home")
        try context.save()
        for type in [NSAttributeType.undefinedAttributeType, .objectIDAttributeType] {
            let rows = try context.fetch(request([column("place", "home", type)], entity: "Person"))
            #expect((rows.first?["place"] as? NSManagedObjectID)?.entity.name == "Town")
            #expect(rows.first?["place"] as? NSManagedObjectID == home.objectID)
        }
    }

    // MARK: Aggregates

    @Test(arguments: StoreKind.allCases) func theSumOfNothingIsZero(kind: StoreKind) throws {
        let library = try filled(kind)
        let request = request([
            column("sum", "sum:(pages)"), column("path", "@sum.pages", .integer64AttributeType),
            column("most", "max:(pages)"),
            column("mean", "average:(rating)"), column("double", "sum:(rating)", .doubleAttributeType),
            column("decimal", "sum:(pages)", .decimalAttributeType),
        ])
        request.predicate = NSPredicate(format: "pages > 1000")
        let rows = try library.context.fetch(request)
        #expect(rows.count == 1)
        #expect(rows.first?["sum"] as? Int == 0)
        #expect(rows.first?["path"] as? Int == 0)
        #expect(rows.first?["double"] as? Double == 0)
        #expect(rows.first?["decimal"] as? NSDecimalNumber == 0)
        #expect(rows.first?["most"] == nil)
        #expect(rows.first?["mean"] == nil)
    }

    @Test(arguments: StoreKind.allCases) func theSumAndTheAverageOfTextsAndDatesAreNil(kind: StoreKind) throws {
        let library = try filled(kind)
        library.context.book("E", pages: 50).published = Date(timeIntervalSinceReferenceDate: 0)
        try library.context.save()
        let columns = [
            column("sum", "sum:(title)"), column("path", "@sum.title"),
            column("mean", "average:(title)", .doubleAttributeType),
            column("dates", "sum:(published)"), column("moment", "average:(published)"), column("pages", "sum:(pages)"),
        ]
        let rows = try library.context.fetch(request(columns))
        #expect(rows.count == 1)
        #expect(rows.first?.allKeys as? [String] == ["pages"])
        let groups = request(["author.name"] + columns, groupBy: ["author.name"])
        groups.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        #expect(try library.context.fetch(groups).map { $0["sum"] as? Int } == [nil, nil, nil])
        // Of a relationship of each row.
        let authors = request(
            ["name", column("sum", "sum:(books.title)"), column("mean", "average:(books.title)")], entity: "Author")
        let found = try library.context.fetch(authors)
        #expect(Set(found.compactMap { $0["name"] as? String }) == ["Ada", "Zoe"])
        #expect(found.allSatisfy { $0["sum"] == nil && $0["mean"] == nil })
        // The sum of nothing is zero whatever it would be the sum of.
        let nothing = request(columns)
        nothing.predicate = NSPredicate(format: "pages > 1000")
        #expect(try library.context.fetch(nothing).first?["sum"] as? Int == 0)
    }

    @Test(arguments: StoreKind.allCases) func theSumOfAGroupWithoutValuesIsZero(kind: StoreKind) throws {
        let library = try Library(kind)
        for title in ["a", "b"] {
            let book = library.context.book(title, pages: 3)
            if title == "a" { book.setValue(nil, forKey: "pages") }
        }
        try library.context.save()
        let request = request(["title", column("sum", "sum:(pages)")], groupBy: ["title"])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try library.context.fetch(request).map { $0["sum"] as? Int } == [0, 3])
        request.havingPredicate = NSPredicate(format: "sum:(pages) == 0")
        #expect(try library.context.fetch(request).map { $0["title"] as? String } == ["a"])
    }

    @Test(arguments: StoreKind.allCases)
    func anAggregateOfAToManyRelationshipBehindAnotherIsThatOfEachRow(kind: StoreKind) throws {
        let library = try filled(kind)
        let request = request([
            "title", column("all", "sum:(author.books.pages)"), column("number", "count:(author.books)"),
        ])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let rows = try library.context.fetch(request)
        #expect(rows.map { $0["title"] as? String } == ["A", "B", "C", "D"])
        #expect(rows.map { $0["all"] as? Int } == [30, 30, 30, 0])
        #expect(rows.map { $0["number"] as? Int } == [2, 2, 1, 0])
    }

    @Test(arguments: StoreKind.allCases)
    func anAggregateOfAToManyRelationshipBehindAnotherIsTakenOverGroups(kind: StoreKind) throws {
        let library = try filled(kind)
        let request = request(["rating", column("all", "sum:(author.books.pages)")], groupBy: ["rating"])
        request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        #expect(try library.context.fetch(request).map { $0["all"] as? Int } == [30, 60, 0])
    }

    @Test(arguments: StoreKind.allCases) func anAggregateOfWhatIsNoValueIsRefusedInAConditionOnGroups(kind: StoreKind)
        throws
    {
        let library = try filled(kind)
        let request = request(["rating"], groupBy: ["rating"])
        request.havingPredicate = NSPredicate(format: "sum:(pagse) > 3")
        let error = errorThrown { _ = try library.context.fetch(request) }
        #expect(error?.localizedDescription.contains("pagse") == true, "\(String(describing: error))")
        request.havingPredicate = NSPredicate(format: "sum:(author.books.pages) > 1000")
        #expect((try? library.context.fetch(request)) ?? [] == [])
    }

    // MARK: Composite values

    @Test(arguments: StoreKind.allCases.map { [$0] } + severalKinds) func equalCompositesAreOneValue(kinds: [StoreKind])
        throws
    {
        let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
        let pack = NSCompositeAttributeDescription()
        pack.name = "pack"
        pack.isOptional = true
        pack.elements = names.map { NSAttributeDescription($0, .stringAttributeType) }
        let model = NSManagedObjectModel([NSEntityDescription("Box", [pack])])
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addStores(kinds, in: folder)
        let context = coordinator.newContext()
        for number in 0..<40 {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            context.assign(box, to: coordinator.persistentStores[number % kinds.count])
            if number < 38 {
                box.setValue(
                    Dictionary(uniqueKeysWithValues: names.map { ($0, "\($0) \(number / 20)") }), forKey: "pack")
            }
        }
        try context.save()
        let request = request(["pack"], entity: "Box")
        request.returnsDistinctResults = true
        #expect(try context.fetch(request).count == 3)
        request.returnsDistinctResults = false
        request.propertiesToFetch = ["pack", column("number", "count:(SELF)")]
        request.propertiesToGroupBy = ["pack"]
        #expect(try context.fetch(request).compactMap { $0["number"] as? Int }.sorted() == [2, 18, 20])
    }
}
