import CoreData
import TestSupport
import Testing

/// Predicates and orders that look at unsaved objects: what a store refuses is refused with them,
/// too, and what it finds they find.
struct UnsavedPredicateTests {
    /// A saved novel and a plain book that is not saved.
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        library.context.novel("Saved", pages: 5, genre: "crime", by: ada)
        try library.context.save()
        library.context.book("New", pages: 1, by: ada)
        return library
    }

    private func request(_ predicate: NSPredicate?, sortedBy key: String? = nil) -> NSFetchRequest<LibraryBook> {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    // MARK: Errors

    @Test(
        arguments: StoreKind.allCases,
        [
            "pages > $LEAST", "titel == 'x'", "author.nom == 'x'", "ANY tags.lable == 'x'",
            "SUBQUERY(tags, $t, $t.lable == 'x').@count > 0",
            "FUNCTION(SELF, 'titel') == 'x'", "FUNCTION(SELF, 'valueForKey:', 'titel') == 'x'", "SELF['titel'] == 'x'",
        ])
    func whatAStoreRefusesIsAnErrorWithUnsavedObjectsToo(kind: StoreKind, format: String) throws {
        let library = try library(kind)
        let request = request(NSPredicate(format: format))
        let name =
            format.contains("LEAST")
            ? "$LEAST" : format.contains("nom") ? "nom" : format.contains("lable") ? "lable" : "titel"
        for fetch in [{ _ = try library.context.fetch(request) }, { _ = try library.context.count(for: request) }] {
            let error = errorThrown(by: fetch)
            #expect(error?.code == CocoaError.coreData.rawValue)
            #expect(error?.localizedDescription.contains(name) == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anOrderByAnUnknownKeyIsAnErrorWithUnsavedObjectsToo(kind: StoreKind) throws {
        let library = try library(kind)
        let error = errorThrown { _ = try library.context.fetch(request(nil, sortedBy: "titel")) }
        #expect(error?.localizedDescription.contains("titel") == true, "\(String(describing: error))")
    }

    @Test(arguments: StoreKind.allCases)
    func nestingBeyondTheLimitIsAnErrorWithUnsavedObjectsToo(kind: StoreKind) throws {
        let library = try library(kind)
        var deep = NSPredicate(format: "pages == 1")
        for level in 0..<2_000 {
            deep = NSCompoundPredicate(
                type: level.isMultiple(of: 2) ? .and : .or, subpredicates: [deep, NSPredicate(format: "pages == 2")])
        }
        let error = errorThrown { _ = try library.context.fetch(request(deep)) }
        #expect(error?.localizedDescription.contains("512 levels") == true, "\(String(describing: error))")
    }

    @Test func aRegularExpressionThatTakesTooLongForAnUnsavedObjectIsAnError() throws {
        let library = try Library(.inMemory)
        library.context.book(String(repeating: "a", count: 40) + "!")
        let error = errorThrown {
            _ = try library.context.fetch(request(NSPredicate(format: "title MATCHES '(a|aa|a*)*b(a+)+$'")))
        }
        #expect(error?.localizedDescription.contains("takes too long") == true, "\(String(describing: error))")
    }

    @Test(arguments: StoreKind.allCases)
    func anErrorOfAChildsUnsavedObjectsIsThrown(kind: StoreKind) throws {
        let library = try library(kind)
        let child = library.context.newChild()
        child.book("Child's")
        let error = errorThrown { _ = try child.fetch(request(NSPredicate(format: "titel == 'x'"))) }
        #expect(error?.localizedDescription.contains("titel") == true, "\(String(describing: error))")
    }

    @Test func anAsynchronousFetchGivesTheErrorToItsResult() async throws {
        let library = try library(.sqlite)
        let context = library.context
        let error: (any Error)? = try await withCheckedThrowingContinuation { continuation in
            let request = NSAsynchronousFetchRequest(fetchRequest: request(NSPredicate(format: "titel == 'x'"))) {
                result in
                continuation.resume(returning: result.operationError)
            }
            do { try context.performAndWait { _ = try context.execute(request) } } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(error?.localizedDescription.contains("titel") == true, "\(String(describing: error))")
    }

    // MARK: Properties of subentities

    private static let formats: [(format: String, titles: [String])] = [
        ("genre == 'crime'", ["Saved"]), ("genre == nil", ["New"]), ("genre != 'war'", ["New", "Saved"]),
        ("genre BEGINSWITH 'c'", ["Saved"]),
        ("author.books.genre == 'crime'", ["New", "Saved"]),
        ("SUBQUERY(author.books, $b, $b.genre == 'crime').@count == 1", ["New", "Saved"]),
    ]

    @Test(arguments: StoreKind.allCases, formats)
    func anObjectHasNoValueForAPropertyOfASubentity(kind: StoreKind, expected: (format: String, titles: [String]))
        throws
    {
        let (format, titles) = expected
        let library = try library(kind)
        #expect(try library.context.titles(format) == titles)
        let all = try library.context.books()
        #expect(all.filter { NSPredicate(format: format).evaluate(with: $0) }.map(\.title) == titles)
        try library.context.save()
        #expect(try library.newContext().titles(format) == titles)
    }

    @Test(arguments: StoreKind.allCases) func unsavedObjectsAreSortedByAPropertyOfASubentity(kind: StoreKind) throws {
        let library = try library(kind)
        let titles = try library.context.fetch(request(nil, sortedBy: "genre")).map(\.title)
        #expect(titles == ["New", "Saved"])
        try library.context.save()
        #expect(try library.newContext().fetch(request(nil, sortedBy: "genre")).map(\.title) == titles)
    }

    @Test func aPropertyOfASiblingHasNoValue() throws {
        let base = NSEntityDescription("Base", [NSAttributeDescription("name", .stringAttributeType)])
        let left = NSEntityDescription("Left", [NSAttributeDescription("width", .integer32AttributeType)])
        let right = NSEntityDescription("Right", [NSAttributeDescription("height", .integer32AttributeType)])
        base.subentities = [left, right]
        let stack = try TestStack([base, left, right])
        let object = NSManagedObject(entity: stack.entity("Right"), insertInto: stack.context)
        #expect(NSPredicate(format: "width == nil").evaluate(with: object))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
        request.predicate = NSPredicate(format: "width > 3")
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test func aProgramThatReadsAPropertyOfASubentityIsStopped() async {
        let one = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.inMemory)
            _ = library.context.book("A").value(forKey: "genre")
        }
        #expect(Complaint(one?.standardErrorContent).lacks("Book has no property named \"genre\"") == [])
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.inMemory)
            _ = library.context.book("A", by: library.context.author("Ada")).value(forKeyPath: "author.books.genre")
        }
        #expect(Complaint(many?.standardErrorContent).lacks("Book has no property named \"genre\"") == [])
    }
}
