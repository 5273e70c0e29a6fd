import CoreData
import TestSupport
import Testing

/// Predicates on the entity of objects, in all stores and by evaluation.
struct EntityPredicateTests {
    @Test(
        arguments: StoreKind.allCases,
        [
            ("entity == %@", "Book", ["Notes", "Letters"]), ("entity == %@", "Novel", ["Sketches"]),
            ("entity != %@", "Book", ["Sketches"]),
            ("entity IN {%@}", "Novel", ["Sketches"]), ("SELF.entity == %@", "Tag", []),
            ("author.entity == %@", "Author", ["Notes", "Sketches"]),
            ("ANY author.books.entity == %@", "Novel", ["Notes", "Sketches"]),
        ])
    func entitiesAreCompared(kind: StoreKind, test: (format: String, entity: String, titles: [String])) throws {
        let library = try filled(kind)
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName[test.entity])
        try check(library, NSPredicate(format: test.format, entity), test.titles)
    }

    @Test(
        .foldsTexts, arguments: StoreKind.allCases,
        [
            ("entity.name == 'Novel'", ["Sketches"]), ("entity.name ==[c] 'BOOK'", ["Notes", "Letters"]),
            ("entity.name BEGINSWITH 'No'", ["Sketches"]),
            ("entity.name IN {'Book', 'Tag'}", ["Notes", "Letters"]), ("author.entity.name == nil", ["Letters"]),
            ("author.entity.name == 'Author'", ["Notes", "Sketches"]),
            ("ANY author.books.entity.name LIKE 'N*'", ["Notes", "Sketches"]),
            ("entity == nil", []), ("author.entity == nil", ["Letters"]),
        ])
    func namesOfEntitiesAreCompared(kind: StoreKind, test: (format: String, titles: [String])) throws {
        try check(try filled(kind), NSPredicate(format: test.format), test.titles)
    }

    private func filled(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        library.context.book("Notes", by: ada)
        library.context.book("Letters")
        library.context.novel("Sketches", by: ada)
        try library.context.save()
        return library
    }

    private func check(_ library: Library, _ predicate: NSPredicate, _ titles: [String]) throws {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = predicate
        #expect(try library.newContext().fetch(request).compactMap(\.title).sorted() == titles.sorted())
        let all = try library.newContext().books()
        #expect(try all.filter { try predicate.result(for: $0) }.compactMap(\.title).sorted() == titles.sorted())
    }
}
