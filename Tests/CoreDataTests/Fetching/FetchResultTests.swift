import CoreData
import TestSupport
import Testing

/// The shapes of fetch results: IDs, counts, dictionaries, groups, partial objects.
struct FetchResultTests {
    /// Three books: two of Ada (10 and 20 pages), one of nobody (30 pages).
    private func filled(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        library.context.book("A", pages: 10, rating: 1.5, by: ada)
        library.context.book("B", pages: 20, rating: 2.5, by: ada)
        library.context.book("C", pages: 30, rating: 2.5)
        try library.context.save()
        return library
    }

    private func dictionaries(_ properties: [Any]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        return request
    }

    private func expression(
        _ name: String, _ function: String, _ key: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        NSExpressionDescription(
            name, NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)]), type)
    }

    @Test(arguments: StoreKind.allCases)
    func idsAreReturnedInOrderAndIncludePendingObjects(kind: StoreKind) throws {  // 184
        let library = try filled(kind)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        let ids = try library.context.fetch(request)
        #expect(ids.map { library.context.object(with: $0).value(forKey: "title") as? String } == ["C", "B", "A"])
        let new = library.context.book("D", pages: 40)
        #expect(try library.context.fetch(request).first == new.objectID)
    }

    @Test(arguments: StoreKind.allCases)
    func aCountIsOneNumber(kind: StoreKind) throws {  // 185
        let library = try filled(kind)
        let request = NSFetchRequest<NSNumber>(entityName: "Book")
        request.resultType = .countResultType
        #expect(try library.context.fetch(request) == [3])
        request.predicate = NSPredicate(format: "pages > 100")
        #expect(try library.context.fetch(request) == [0])
    }

    @Test(arguments: StoreKind.allCases)
    func aKeyPathThatStartsWithAnOperatorIsAnAggregateOfTheRows(kind: StoreKind) throws {  // 188
        let library = try filled(kind)
        func column(_ keyPath: String) -> NSExpressionDescription {
            NSExpressionDescription(keyPath, NSExpression(forKeyPath: keyPath), .doubleAttributeType)
        }
        let rows = try library.context.fetch(
            dictionaries(["@sum.pages", "@avg.pages", "@min.pages", "@max.rating", "@count"].map(column)))
        #expect(rows.count == 1)
        #expect(rows.first?["@sum.pages"] as? Double == 60)
        #expect(rows.first?["@avg.pages"] as? Double == 20)
        #expect(rows.first?["@min.pages"] as? Double == 10)
        #expect(rows.first?["@max.rating"] as? Double == 2.5)
        #expect(rows.first?["@count"] as? Double == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aColumnHasTheTypeThatItsDescriptionSays(kind: StoreKind) throws {  // 187
        let library = try filled(kind)
        let rows = try library.context.fetch(
            dictionaries([
                expression("sum", "sum:", "pages", .decimalAttributeType),
                expression("mean", "average:", "rating", .decimalAttributeType),
                expression("most", "max:", "pages", .undefinedAttributeType),
                expression("last", "max:", "title", .undefinedAttributeType),
            ]))
        #expect(rows.first?["sum"] as? NSDecimalNumber == 60)
        let mean = try #require(rows.first?["mean"] as? NSDecimalNumber)
        #expect(abs(mean.doubleValue - 13.0 / 6) < 1e-12)
        #expect(rows.first?["most"] as? Int == 30)
        #expect(rows.first?["last"] as? String == "C")
    }

    @Test(arguments: StoreKind.allCases)
    func aConditionOnGroupsMayUseAggregates(kind: StoreKind) throws {  // 190
        let library = try filled(kind)
        let request = dictionaries(["rating"])
        request.propertiesToGroupBy = ["rating"]
        request.havingPredicate = NSPredicate(format: "sum:(pages) > 20 AND rating > 1")
        #expect(try library.context.fetch(request).map { $0["rating"] as? Double } == [2.5])
    }

    @Test(arguments: StoreKind.allCases)
    func aConditionOnGroupsMayNameAColumnAsAVariable(kind: StoreKind) throws {  // 190
        let library = try filled(kind)
        let request = dictionaries(["rating", expression("number", "count:", "title", .integer64AttributeType)])
        request.propertiesToGroupBy = ["rating"]
        request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "number"))
        let rows = try library.context.fetch(request)
        #expect(rows.map { $0["rating"] as? Double } == [2.5])
        #expect(rows.map { ($0["number"] as? NSNumber)?.intValue } == [2])
    }

    @Test(arguments: StoreKind.allCases)
    func anAggregateWrittenAsAKeyPathIsThatOfEachGroup(kind: StoreKind) throws {  // 187, 189
        let library = try filled(kind)
        let sum = NSExpressionDescription("sum", NSExpression(forKeyPath: "@sum.pages"), .integer64AttributeType)
        let request = dictionaries(["rating", sum])
        request.propertiesToGroupBy = ["rating"]
        request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        #expect(try library.context.fetch(request).map { ($0["sum"] as? NSNumber)?.intValue } == [10, 50])
    }

    /// Objects are fetched whole, whatever the request lists.
    @Test func objectsFetchedWithSomePropertiesHaveAll() throws {  // 186
        let library = try filled(.sqlite)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.propertiesToFetch = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let books = try library.newStackContext().fetch(request)
        #expect(library.file.execute("UPDATE ZBOOK SET ZTITLE = 'changed', ZPAGES = ZPAGES + 1"))
        #expect(books.map(\.title) == ["A", "B", "C"])
        #expect(books.map(\.pages) == [10, 20, 30])
        #expect(books[0].author?.name == "Ada")
    }

    @Test(arguments: StoreKind.allCases)
    func dictionariesHoldTheListedProperties(kind: StoreKind) throws {  // 186, 187
        let library = try filled(kind)
        let request = dictionaries(["title", "pages", "author", "author.name"])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let rows = try library.context.fetch(request)
        #expect(rows.map { $0["title"] as? String } == ["A", "B", "C"])
        #expect(rows.map { ($0["pages"] as? NSNumber)?.intValue } == [10, 20, 30])
        let ada = try library.context.authors()[0]
        #expect(rows.map { $0["author"] as? NSManagedObjectID } == [ada.objectID, ada.objectID, nil])
        #expect(rows.map { $0["author.name"] as? String } == ["Ada", "Ada", nil])
        #expect(rows[0]["rating"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func dictionariesWithoutListedPropertiesHoldAll(kind: StoreKind) throws {  // 187
        let library = try filled(kind)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.predicate = NSPredicate(format: "title == 'B'")
        let row = try #require(try library.context.fetch(request).first)
        #expect(row["title"] as? String == "B")
        #expect((row["pages"] as? NSNumber)?.intValue == 20)
        #expect((row["rating"] as? NSNumber)?.doubleValue == 2.5)
        #expect(row["mark"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func propertyDescriptionsNameColumnsToo(kind: StoreKind) throws {  // 187
        let library = try filled(kind)
        let title = try #require(
            library.coordinator.managedObjectModel.entitiesByName["Book"]?.attributesByName["title"])
        let request = dictionaries([title])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        #expect(try library.context.fetch(request).map { $0["title"] as? String } == ["C", "B", "A"])
    }

    @Test(arguments: StoreKind.allCases)
    func aggregatesWithoutGroupsGiveOneDictionary(kind: StoreKind) throws {  // 188
        let library = try filled(kind)
        let request = dictionaries([
            expression("sum", "sum:", "pages", .integer64AttributeType),
            expression("least", "min:", "pages", .integer64AttributeType),
            expression("most", "max:", "pages", .integer64AttributeType),
            expression("mean", "average:", "pages", .doubleAttributeType),
            expression("count", "count:", "pages", .integer64AttributeType),
            expression("first", "min:", "title", .stringAttributeType),
        ])
        let rows = try library.context.fetch(request)
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect((row["sum"] as? NSNumber)?.intValue == 60)
        #expect((row["least"] as? NSNumber)?.intValue == 10)
        #expect((row["most"] as? NSNumber)?.intValue == 30)
        #expect((row["mean"] as? NSNumber)?.doubleValue == 20)
        #expect((row["count"] as? NSNumber)?.intValue == 3)
        #expect(row["first"] as? String == "A")
        request.predicate = NSPredicate(format: "pages > 100")
        let none = try library.context.fetch(request)
        #expect(none.count == 1)
        #expect((none.first?["count"] as? NSNumber)?.intValue == 0)
        #expect(none.first?["least"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func groupsHaveOneDictionaryEach(kind: StoreKind) throws {  // 189
        let library = try filled(kind)
        let request = dictionaries(["rating", expression("sum", "sum:", "pages", .integer64AttributeType)])
        request.propertiesToGroupBy = ["rating"]
        request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        let rows = try library.context.fetch(request)
        #expect(rows.map { ($0["rating"] as? NSNumber)?.doubleValue } == [1.5, 2.5])
        #expect(rows.map { ($0["sum"] as? NSNumber)?.intValue } == [10, 50])
    }

    @Test(arguments: StoreKind.allCases)
    func anAggregateOfARelationshipIsThatOfAllObjectsOfTheGroup(kind: StoreKind) throws {  // 189
        let library = try filled(kind)
        library.context.book("D", pages: 5, by: library.context.author("Bea", born: 1900))
        library.context.book("D", pages: 7, by: library.context.author("Cid", born: 1900))
        try library.context.save()
        func column(_ name: String, _ path: String) -> NSExpressionDescription {
            NSExpressionDescription(name, NSExpression(forKeyPath: path), .integer64AttributeType)
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Author")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["born"]
        request.propertiesToFetch = [
            "born", column("count", "books.@count"), column("sum", "books.@sum.pages"),
            column("most", "books.pages.@max"),
            column("titles", "books.title.@count"),
        ]
        request.predicate = NSPredicate(format: "born == 1900")
        let rows = try library.context.fetch(request)
        #expect(rows.count == 1)
        func number(_ name: String) -> Int? { (rows.first?[name] as? NSNumber)?.intValue }
        #expect([number("count"), number("sum"), number("most"), number("titles")] == [2, 12, 7, 2])
        request.propertiesToFetch = ["born", column("mean", "books.@avg.pages")]
        #expect(throws: (any Error).self) { try library.context.fetch(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func groupsByAPropertyOfAnotherObjectAreSortedAndKeptByIt(kind: StoreKind) throws {  // 189, 190
        let library = try filled(kind)
        library.context.book("D", pages: 5, by: library.context.author("Bea"))
        library.context.book("E", pages: 6, by: library.context.author("Cid"))
        try library.context.save()
        let request = dictionaries(["author.name", expression("sum", "sum:", "pages", .integer64AttributeType)])
        request.propertiesToGroupBy = ["author.name"]
        request.predicate = NSPredicate(format: "author != nil")
        for ascending in [true, false] {
            request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: ascending)]
            let names = ["Ada", "Bea", "Cid"]
            #expect(
                try library.context.fetch(request).map { $0["author.name"] as? String }
                    == (ascending ? names : names.reversed()))
        }
        request.havingPredicate = NSPredicate(format: "author.name != 'Bea'")
        let rows = try library.context.fetch(request)
        #expect(rows.map { ($0["sum"] as? NSNumber)?.intValue } == [6, 30])
        request.propertiesToFetch = ["author.name", "author"]
        request.propertiesToGroupBy = ["author.name", "author"]
        #expect(try library.context.fetch(request).map { $0["author.name"] as? String } == ["Cid", "Ada"])
    }

    /// Four authors, with their years and numbers of books.
    private func authors(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        for (name, born, books) in [("Ada", 1900, 2), ("Bea", 1900, 2), ("Bea", 2000, 1), ("Cid", 2000, 0)] {
            let author = library.context.author(name, born: Int16(born))
            for number in 0..<books { library.context.book("\(name) \(number)", pages: 10, by: author) }
        }
        try library.context.save()
        return library
    }

    private func authorGroups(_ properties: [Any], by names: [String]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Author")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = names
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func anAggregateOfWhatEachRowCountsIsThatOfTheGroup(kind: StoreKind) throws {  // 189
        let library = try authors(kind)
        let request = authorGroups(
            [
                "born", expression("sum", "sum:", "books.@count", .integer64AttributeType),
                expression("most", "max:", "books.@count", .integer64AttributeType),
            ], by: ["born"])
        request.sortDescriptors = [NSSortDescriptor(key: "born", ascending: true)]
        let rows = try library.context.fetch(request)
        #expect(rows.map { ($0["sum"] as? NSNumber)?.intValue } == [4, 1])
        #expect(rows.map { ($0["most"] as? NSNumber)?.intValue } == [2, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func whatRowsAreGroupedByIsTheValueOfEachRow(kind: StoreKind) throws {  // 189
        let library = try authors(kind)
        let request = authorGroups(
            ["books.@count", expression("authors", "count:", "name", .integer64AttributeType)], by: ["books.@count"])
        request.sortDescriptors = [NSSortDescriptor(key: "books.@count", ascending: true)]
        let rows = try library.context.fetch(request)
        #expect(rows.map { ($0["books.@count"] as? NSNumber)?.intValue } == [0, 1, 2])
        #expect(rows.map { ($0["authors"] as? NSNumber)?.intValue } == [1, 1, 2])
    }

    @Test(arguments: StoreKind.allCases)
    func groupsAreSortedAndKeptByTheAggregatesThatTheyShow(kind: StoreKind) throws {  // 189, 190
        let library = try authors(kind)
        let request = authorGroups(["born", "books.@count"], by: ["born"])
        request.sortDescriptors = [NSSortDescriptor(key: "books.@count", ascending: true)]
        #expect(try library.context.fetch(request).map { ($0["books.@count"] as? NSNumber)?.intValue } == [1, 4])
        request.havingPredicate = NSPredicate(format: "books.@count > 2")
        #expect(try library.context.fetch(request).map { ($0["born"] as? NSNumber)?.intValue } == [1900])
    }

    @Test(arguments: StoreKind.allCases)
    func aConditionAggregatesAllRowsOfAGroupAlsoAcrossARelationship(kind: StoreKind) throws {  // 190
        let library = try authors(kind)
        let request = dictionaries(["author.name"])
        request.propertiesToGroupBy = ["author.name"]
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        request.havingPredicate = NSComparisonPredicate(
            leftExpression: NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "author.born")]),
            rightExpression: NSExpression(forConstantValue: 1950), modifier: .direct, type: .greaterThan, options: [])
        #expect(try library.context.fetch(request).map { $0["author.name"] as? String } == ["Bea"])
    }

    @Test(arguments: StoreKind.allCases)
    func theCountOfAPropertyOfManyIsThatOfItsDifferentValues(kind: StoreKind) throws {
        let library = try filled(kind)
        library.context.book("B", pages: 30, by: library.context.author("Bea"))
        library.context.book("B", pages: 40, by: library.context.author("Bea"))
        try library.context.save()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.predicate = NSPredicate(format: "books.title.@count == 2")
        #expect(try library.newContext().fetch(request).map(\.name) == ["Ada"])
    }

    @Test(arguments: StoreKind.allCases)
    func groupingNeedsDictionariesAndGroupedColumns(kind: StoreKind) throws {  // 189
        let library = try filled(kind)
        let objects = NSFetchRequest<NSManagedObject>(entityName: "Book")
        objects.propertiesToGroupBy = ["rating"]
        #expect(throws: (any Error).self) { try library.context.fetch(objects) }
        let ungrouped = dictionaries(["title", "rating"])
        ungrouped.propertiesToGroupBy = ["rating"]
        let error = #expect(throws: (any Error).self) { try library.context.fetch(ungrouped) }
        #expect((error as NSError?)?.localizedDescription.contains("title") == true)
    }

    @Test(arguments: StoreKind.allCases)
    func havingFiltersGroups(kind: StoreKind) throws {  // 190
        let library = try filled(kind)
        let request = dictionaries(["rating", expression("sum", "sum:", "pages", .integer64AttributeType)])
        request.propertiesToGroupBy = ["rating"]
        request.havingPredicate = NSPredicate(format: "rating > 2")
        #expect(try library.context.fetch(request).map { ($0["sum"] as? NSNumber)?.intValue } == [50])
        request.havingPredicate = NSPredicate(format: "sum > 20")
        #expect(try library.context.fetch(request).map { ($0["sum"] as? NSNumber)?.intValue } == [50])
        request.propertiesToGroupBy = nil
        #expect(throws: (any Error).self) { try library.context.fetch(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func distinctResultsHaveNoDuplicates(kind: StoreKind) throws {  // 191
        let library = try filled(kind)
        let request = dictionaries(["rating"])
        request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        #expect(try library.context.fetch(request).count == 3)
        request.returnsDistinctResults = true
        #expect(try library.context.fetch(request).map { ($0["rating"] as? NSNumber)?.doubleValue } == [1.5, 2.5])
    }

    @Test func dictionariesAcrossStoresAreJoined() throws {  // 192, 188
        let library = try filled(.sqlite)
        let second = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.folder.file("second.sqlite"))
        let other = library.context.book("0", pages: 5)
        library.context.assign(other, to: second)
        try library.context.save()
        let request = dictionaries(["title"])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try library.context.fetch(request).map { $0["title"] as? String } == ["0", "A", "B", "C"])
    }

    @Test(arguments: StoreKind.allCases)
    func prefetchingBringsNoReplacedDestinationBack(_ kind: StoreKind) throws {  // 107
        let library = try Library(kind)
        let context = library.context
        let book = context.book("A", by: context.author("Ada"))
        try context.save()
        context.refreshAllObjects()
        book.author = nil
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.relationshipKeyPathsForPrefetching = ["author"]
        #expect(try context.fetch(request).first?.author == nil)
        try context.save()
        #expect(book.author == nil)
    }
}
