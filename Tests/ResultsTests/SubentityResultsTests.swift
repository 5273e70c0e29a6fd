import CoreData
import TestSupport
import Testing

/// Results that look at a property of a subentity, which other objects among them do not have.
struct SubentityResultsTests {
    @Test(arguments: StoreKind.allCases) func aPredicateLooksAtAPropertyOfASubentity(kind: StoreKind) throws {
        let shelf = try BookShelf([], where: NSPredicate(format: "genre == 'crime'"), kind: kind)
        shelf.context.book("Plain")
        shelf.context.novel("Novel", genre: "crime")
        shelf.process()
        #expect(shelf.titles == [["Novel"]])
    }

    @Test(arguments: StoreKind.allCases) func anOrderAndSectionsLookAtAPropertyOfASubentity(kind: StoreKind) throws {
        let sort = ["genre", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        let shelf = try BookShelf(["Ash", "Bay"], sort: sort, sections: "genre", kind: kind)
        shelf.context.book("Plain")
        shelf.context.novel("Novel", genre: "crime")
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Plain"], ["Novel"]])
        try shelf.book("Ash").title = "Zed"
        shelf.process()
        #expect(shelf.titles == [["Bay", "Plain", "Zed"], ["Novel"]])
    }

    /// The error of a text that the predicate cannot judge waits for the save.
    @Test func aTextThatThePredicateCannotJudgeIsAnErrorOfTheSave() throws {
        let shelf = try BookShelf(["Ash"], where: NSPredicate(format: "title MATCHES '(a|aa|a*)*b(a+)+$' OR pages < 9"))
        shelf.context.book(String(repeating: "a", count: 40) + "!", pages: 10)
        shelf.process()
        #expect(shelf.titles == [["Ash"]])
        let error = errorThrown { try shelf.context.save() }
        #expect(error?.localizedDescription.contains("takes too long") == true, "\(String(describing: error))")
    }
}
