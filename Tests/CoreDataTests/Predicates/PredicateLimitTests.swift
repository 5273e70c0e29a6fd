import CoreData
import TestSupport
import Testing

/// The limits of predicates in each store, and the errors beyond.
struct PredicateLimitTests {
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        for pages in 1...6 {
            library.context.book(String(repeating: "a", count: 30 + pages) + "!", pages: Int32(pages))
        }
        try library.context.save()
        return library
    }

    private func pages(_ library: Library, _ predicate: NSPredicate) throws -> [Int] {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = predicate
        return try library.newContext().fetch(request).map { Int($0.pages) }.sorted()
    }

    // MARK: Variables

    @Test(
        arguments: StoreKind.allCases,
        ["pages == $x", "SUBQUERY(tags, $t, $t.label == $x).@count == 0", "pages IN {1, $x}", "$x.pages == 1"])
    func aVariableWithoutAValueIsAnErrorThatNamesIt(kind: StoreKind, format: String) throws {
        let library = try library(kind)
        let error = errorThrown { _ = try pages(library, NSPredicate(format: format)) }
        #expect(error?.code == CocoaError.coreData.rawValue)
        #expect(error?.localizedDescription.contains("$x has no value") == true, "\(String(describing: error))")
    }

    @Test(arguments: StoreKind.allCases)
    func aTemplateThatIsGivenNoValueIsAnErrorAtTheFetch(kind: StoreKind) throws {
        let library = try library(kind)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages > $LEAST AND pages < $MOST")
        let model = Library.model()
        model.setFetchRequestTemplate(request, forName: "between")
        let made = try #require(model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["MOST": 4]))
        let error = errorThrown { _ = try pages(library, try #require(made.predicate)) }
        #expect(error?.localizedDescription.contains("$LEAST has no value") == true, "\(String(describing: error))")
        let whole = try #require(
            model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["MOST": 4, "LEAST": 1]))
        #expect(try pages(library, try #require(whole.predicate)) == [2, 3])
    }

    // MARK: Depth

    @Test(arguments: StoreKind.allCases)
    func aHundredAndTwentyNestedPartsRun(kind: StoreKind) throws {
        let library = try library(kind)
        for words in [["OR", "OR"], ["OR", "AND"], ["AND", "OR NOT"]] {
            var format = "pages == 3"
            for level in 0..<(words[1] == "OR NOT" ? 60 : 120) {
                format = "pages == \(level % 2 == 0 ? 2 : 5) \(words[level % 2]) (\(format))"
            }
            let predicate = try NSPredicate.parse(format)
            let expected = try library.newContext().books().filter { predicate.evaluate(with: $0) }.map {
                Int($0.pages)
            }.sorted()
            #expect(try pages(library, predicate) == expected)
        }
        let negated = try NSPredicate.parse(
            String(repeating: "NOT (", count: 51) + "pages > 2" + String(repeating: ")", count: 51))
        #expect(try pages(library, negated) == [1, 2])
    }

    @Test(arguments: StoreKind.allCases)
    func randomTallTreesFindTheSameEverywhere(kind: StoreKind) throws {
        let library = try library(kind)
        let books = try library.newContext().books()
        var random = SeededGenerator(seed: 77)
        for _ in 0..<(LongTests.areEnabled ? 40 : 8) {
            var trees = (0..<4).map { NSPredicate(format: "pages > %d", $0) }
            for _ in 0..<150 {
                let (first, second) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
                let leaf = NSPredicate(format: "pages == %d", Int.random(in: 1...6, using: &random))
                trees[first] =
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: NSCompoundPredicate(notPredicateWithSubpredicate: trees[first])
                    case 1: NSCompoundPredicate(andPredicateWithSubpredicates: [leaf, trees[first]])
                    case 2
                    where trees[second].predicateFormat.utf8.count < 3000
                        && trees[first].predicateFormat.utf8.count < 3000:
                        NSCompoundPredicate(orPredicateWithSubpredicates: [trees[first], trees[second]])
                    default: NSCompoundPredicate(orPredicateWithSubpredicates: [trees[first], leaf])
                    }
            }
            let expected = books.filter { trees[0].evaluate(with: $0) }.map { Int($0.pages) }.sorted()
            #expect(try pages(library, trees[0]) == expected, "\(trees[0])")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func nestingBeyondTheLimitIsAnErrorThatSaysIt(kind: StoreKind) throws {
        let library = try library(kind)
        var deep = NSPredicate(format: "pages == 1")
        for level in 0..<(LongTests.areEnabled ? 50_000 : 10_000) {
            deep = NSCompoundPredicate(
                type: level.isMultiple(of: 2) ? .and : .or, subpredicates: [deep, NSPredicate(format: "pages == 2")])
        }
        let error = errorThrown { _ = try pages(library, deep) }
        #expect(error?.localizedDescription.contains("512 levels") == true, "\(String(describing: error))")
    }

    @Test(.enabled(if: LongTests.areEnabled), arguments: StoreKind.allCases)
    func aHundredThousandPartsRun(kind: StoreKind) throws {
        let library = try library(kind)
        let parts = (0..<100_000).map {
            NSPredicate(
                format: $0.isMultiple(of: 2) ? "pages == %d" : "title == %@", $0.isMultiple(of: 2) ? $0 : "\($0)")
        }
        #expect(try pages(library, NSCompoundPredicate(orPredicateWithSubpredicates: parts)) == [2, 4, 6])
        let all = (10..<100_010).map { NSPredicate(format: "pages != %d", $0) }
        #expect(try pages(library, NSCompoundPredicate(andPredicateWithSubpredicates: all)) == [1, 2, 3, 4, 5, 6])
    }

    /// SQLite joins 64 tables, of which a fetch leaves three for what else it may need.
    @Test(arguments: StoreKind.allCases, [60, 61, 80])
    func aKeyPathOverMoreTablesThanSQLiteJoinsIsRefusedOrFollowed(kind: StoreKind, length: Int) throws {
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(person, "staff", toMany: true, person, inverse: "boss")
        let stack = try TestStack([person], kind: kind)
        var boss: NSManagedObject?
        for number in 0...100 {
            let object = NSManagedObject(entity: stack.entity("Person"), insertInto: stack.context)
            object.setValue("\(number)", forKey: "name")
            object.setValue(boss, forKey: "boss")
            boss = object
        }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        let path = Array(repeating: "boss", count: length).joined(separator: ".")
        request.predicate = NSPredicate(format: path + ".name == '3'")
        let context = stack.newContext()
        if kind == .sqlite, length > 60 {
            let error = errorThrown { _ = try context.fetch(request) }
            #expect(error?.code == CocoaError.coreData.rawValue)
            for part in ["boss.boss.boss", "at most 61 tables"] {
                #expect(error?.localizedDescription.contains(part) == true, "\(String(describing: error))")
            }
        } else {
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["\(3 + length)"])
        }
    }

    // MARK: Regular expressions

    @Test(arguments: StoreKind.allCases)
    func regularExpressionsThatTakeTooLongAreAnError(kind: StoreKind) throws {
        let library = try library(kind)
        // PostgreSQL's regular expressions do not go back and forth.
        if kind != .postgreSQL {
            let error = errorThrown { _ = try pages(library, NSPredicate(format: "title MATCHES '(a|aa|a*)*b(a+)+$'")) }
            #expect(error?.localizedDescription.contains("takes too long") == true, "\(String(describing: error))")
        }
        #expect(try pages(library, NSPredicate(format: "title MATCHES 'a{33}!'")) == [3])
    }

    /// Rows none of which takes too long, and which together do.
    @Test(.enabled(if: LongTests.areEnabled), arguments: [StoreKind.sqlite, .inMemory])
    func regularExpressionsOfManyRowsThatTakeTooLongTogetherAreAnError(kind: StoreKind) throws {
        /// Whether a fetch over so many books, whose titles have so many letters, has an answer.
        func isAnswered(books: Int, letters: Int) throws -> Bool {
            let library = try Library(kind)
            for _ in 0..<books { library.context.book(String(repeating: "a", count: letters)) }
            try library.context.save()
            let error = errorThrown {
                let found = try pages(library, NSPredicate(format: "title MATCHES '(a|aa)*b'"))
                #expect(found == [])
            }
            guard let error else { return true }
            #expect(error.localizedDescription.contains("takes too long"), "\(error)")
            return false
        }
        // Every letter makes a match longer by six tenths.
        var letters = 20
        while try isAnswered(books: 1, letters: letters + 1) { letters += 1 }
        #expect(try isAnswered(books: 8, letters: letters))
        #expect(try !isAnswered(books: 40, letters: letters))
    }
}
