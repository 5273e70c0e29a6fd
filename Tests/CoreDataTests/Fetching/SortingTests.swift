import CoreData
import TestSupport
import Testing

/// Sort descriptors in fetches.
struct SortingTests {
    private func sorted(_ library: Library, _ descriptors: NSSortDescriptor...) throws -> [String?] {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = descriptors + [NSSortDescriptor(key: "pages", ascending: true)]
        return try library.newContext().fetch(request).map(\.title)
    }

    private func library(_ kind: StoreKind, _ titles: [String?]) throws -> Library {
        let library = try Library(kind)
        for (index, title) in titles.enumerated() { library.context.book(title, pages: Int32(index)) }
        try library.context.save()
        return library
    }

    @Test func aSwiftKeyPathNamesTheProperty() throws {  // 183
        #expect(NSSortDescriptor(keyPath: \LibraryBook.title, ascending: true).key == "title")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.pages, ascending: false).key == "pages")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.author?.name, ascending: true).key == "author.name")
        #expect(NSSortDescriptor(keyPath: \LibraryNovel.genre, ascending: true).key == "genre")
        #expect(NSExpression(forKeyPath: \LibraryBook.rating).keyPath == "rating")
        #expect(NSExpression(forKeyPath: \LibraryBook.tags).keyPath == "tags")
    }

    @Test(arguments: StoreKind.allCases)
    func compareOrdersByCode(kind: StoreKind) throws {  // 203
        let library = try library(kind, ["b", "B", "a", "A", "10", "9"])
        #expect(
            try sorted(library, NSSortDescriptor(key: "title", ascending: true)) == ["10", "9", "A", "B", "a", "b"])
        #expect(
            try sorted(library, NSSortDescriptor(key: "title", ascending: false)) == ["b", "a", "B", "A", "9", "10"])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases)
    func caseInsensitiveCompareIgnoresCase(kind: StoreKind) throws {  // 203
        let library = try library(kind, ["b", "B", "a", "A"])
        let descriptor = NSSortDescriptor(
            key: "title", ascending: true, selector: Selector(("caseInsensitiveCompare:")))
        #expect(try sorted(library, descriptor) == ["a", "A", "b", "B"])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases)
    func localizedStandardCompareOrdersNumbersByValue(kind: StoreKind) throws {  // 203
        let library = try library(kind, ["file 10", "File 9", "file 1"])
        let descriptor = NSSortDescriptor(
            key: "title", ascending: true, selector: Selector(("localizedStandardCompare:")))
        #expect(try sorted(library, descriptor) == ["file 1", "File 9", "file 10"])
    }

    @Test(.foldsTexts, arguments: ["localizedCompare:", "localizedCaseInsensitiveCompare:"], StoreKind.allCases)
    func localizedSelectorsOrderLettersAsPeopleDo(selector: String, kind: StoreKind) throws {  // 203
        let library = try library(kind, ["f", "É", "B", "a"])
        let descriptor = NSSortDescriptor(key: "title", ascending: true, selector: Selector((selector)))
        // By code it is B, a, f, É.
        #expect(try sorted(library, descriptor) == ["a", "B", "É", "f"])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases)
    func onlyTheCaseInsensitiveLocalizedSelectorTakesCasesForEqual(kind: StoreKind) throws {  // 203
        func order(_ selector: String, _ titles: [String]) throws -> [String?] {
            try sorted(
                try library(kind, titles),
                NSSortDescriptor(key: "title", ascending: true, selector: Selector((selector))))
        }
        // Equal titles stay in the order of their keys, different ones do not.
        #expect(try order("localizedCaseInsensitiveCompare:", ["a", "A"]) == ["a", "A"])
        #expect(try order("localizedCaseInsensitiveCompare:", ["A", "a"]) == ["A", "a"])
        #expect(try order("localizedCompare:", ["a", "A"]) == (try order("localizedCompare:", ["A", "a"])))
    }

    @Test func otherSelectorsAreRefusedByName() throws {  // 202, 203
        let library = try library(.sqlite, ["c", "a"])
        let descriptor = NSSortDescriptor(key: "title", ascending: true, selector: Selector(("byLength:")))
        let error = #expect(throws: (any Error).self) { try sorted(library, descriptor) }
        #expect((error as NSError?)?.localizedDescription.contains("byLength") == true)
    }

    /// Shorter titles first.
    private var byLength: NSSortDescriptor {
        NSSortDescriptor(key: "title", ascending: true) { first, second in
            let (first, second) = ((first as? String ?? "").count, (second as? String ?? "").count)
            return first < second ? .orderedAscending : first > second ? .orderedDescending : .orderedSame
        }
    }

    @Test(arguments: [
        NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType,
    ])
    func theSQLiteStoreRefusesComparatorClosures(type: NSFetchRequestResultType) throws {  // 202
        let library = try library(.sqlite, ["ccc", "a"])
        library.context.book("bb")
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true), byLength]
        request.resultType = type
        let error = try #require(errorThrown { _ = try library.context.fetch(request) })
        #expect(error.localizedDescription.contains("unsupported NSSortDescriptor"))
        #expect(error.localizedDescription.contains("title"))
    }

    @Test func theStoreInMemorySortsByComparatorClosures() throws {
        let library = try library(.inMemory, ["ccc", "a", nil, "dddd"])
        #expect(try sorted(library, byLength) == [nil, "a", "ccc", "dddd"])
        #expect(
            try sorted(library, try #require(byLength.reversedSortDescriptor as? NSSortDescriptor)) == [
                "dddd", "ccc", "a", nil,
            ])
        library.context.book("bb")
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [byLength]
        #expect(try library.context.fetch(request).map(\.title) == [nil, "a", "bb", "ccc", "dddd"])
    }

    @Test(arguments: StoreKind.allCases)
    func nilComesFirstAscendingAndLastDescending(kind: StoreKind) throws {  // 204
        let library = try library(kind, ["b", nil, "a"])
        #expect(try sorted(library, NSSortDescriptor(key: "title", ascending: true)) == [nil, "a", "b"])
        #expect(try sorted(library, NSSortDescriptor(key: "title", ascending: false)) == ["b", "a", nil])
    }

    @Test(arguments: StoreKind.allCases)
    func nilComesFirstAmongGroups(kind: StoreKind) throws {  // 204
        let library = try library(kind, ["b", nil, "a", "c", "b"])
        try library.context.books("title == 'a'").first?.setValue(nil, forKey: "pages")
        try library.context.save()
        let most = NSExpressionDescription("most", NSExpression(format: "max:(pages)"), .integer32AttributeType)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["title"]
        func groups(_ shown: [Any], by key: String, ascending: Bool = true, limit: Int = 0) throws -> [String] {
            request.propertiesToFetch = shown
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
            request.fetchLimit = limit
            return try library.context.fetch(request).map { row in
                ["title", "most"].compactMap { row[$0].map { "\($0)" } }.joined(separator: " ")
            }
        }
        #expect(try groups(["title", most], by: "title") == ["1", "a", "b 4", "c 3"])
        #expect(try groups(["title", most], by: "title", ascending: false) == ["c 3", "b 4", "a", "1"])
        #expect(try groups(["title", most], by: "title", limit: 1) == ["1"])
        #expect(try groups(["title", most], by: "most") == ["a", "1", "c 3", "b 4"])
        #expect(try groups(["title", most], by: "most", ascending: false, limit: 3) == ["b 4", "c 3", "1"])
        // By a column that is not shown.
        #expect(try groups([most], by: "title") == ["1", "", "4", "3"])
    }

    @Test(arguments: StoreKind.allCases)
    func toOneKeyPathsOrderByTheDestination(kind: StoreKind) throws {  // 205
        let library = try Library(kind)
        let context = library.context
        context.book("1", by: context.author("Zed"))
        context.book("2")
        context.book("3", by: context.author("Ada"))
        try context.save()
        #expect(try sorted(library, NSSortDescriptor(key: "author.name", ascending: true)) == ["2", "3", "1"])
        #expect(try sorted(library, NSSortDescriptor(key: "author.name", ascending: false)) == ["1", "3", "2"])
        context.book("4", by: context.author("Max"))
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        #expect(try context.fetch(request).map(\.title) == ["2", "3", "4", "1"])
    }

    @Test func sortingByAnUnknownKeyIsRefusedByName() throws {  // 340
        let library = try library(.sqlite, ["a"])
        let error = #expect(throws: (any Error).self) {
            try sorted(library, NSSortDescriptor(key: "titel", ascending: true))
        }
        #expect((error as NSError?)?.localizedDescription.contains("titel") == true)
    }
}
