import Predicates
import Testing

/// Predicates that the compiler checks become format predicates.
struct PredicateTranslationTests {
    struct Item {
        var name: String?
        var title = ""
        var stock = 0
        var tags: [String] = []
    }

    @Test func comparisonsAndLogicAreTranslated() throws {
        let limit = 5
        let predicate = try NSPredicate.translating(
            #Predicate<Item> { $0.stock < limit && !($0.title == "x" || $0.stock + 1 >= 3) })
        #expect(predicate.predicateFormat == "stock < 5 AND (NOT (title == \"x\" OR stock + 1 >= 3))")
    }

    @Test func textOperationsAreTranslated() throws {
        let predicate = try NSPredicate.translating(
            #Predicate<Item> { $0.title.contains("a") && $0.title.starts(with: "b") })
        #expect(predicate.predicateFormat == "title CONTAINS \"a\" AND title BEGINSWITH \"b\"")
    }

    @Test func optionalsAreTranslated() throws {
        let missing = try NSPredicate.translating(#Predicate<Item> { $0.name == nil })
        #expect(missing.predicateFormat == "name == nil")
        let part = try NSPredicate.translating(#Predicate<Item> { $0.name?.contains("x") ?? false })
        #expect(part.predicateFormat == "name != nil AND name CONTAINS \"x\"")
    }

    @Test func collectionsAreTranslated() throws {
        let word = "w"
        let any = try NSPredicate.translating(#Predicate<Item> { $0.tags.contains { $0 == word } })
        #expect(any.predicateFormat == "SUBQUERY(tags, $element1, $element1 == \"w\").@count > 0")
        let empty = try NSPredicate.translating(#Predicate<Item> { $0.tags.isEmpty })
        #expect(empty.predicateFormat == "tags.@count == 0")
        let known = [1, 2]
        let stock = try NSPredicate.translating(#Predicate<Item> { known.contains($0.stock) })
        #expect(stock.predicateFormat == "stock IN {1, 2}")
        #expect(stock.evaluate(with: Item(stock: 2)))
    }
}
