import SafeCoreData
import TestSupport
import Testing

/// `#Predicate`s about the class of objects.
struct ObjectPredicateTests {
    /// Fetches from another context, and compares with what is true in Swift.
    private func check(_ kind: StoreKind, _ predicate: Predicate<ShopItem>, _ test: (ShopItem) -> Bool) throws {
        let shop = try RandomShop(kind)
        defer { withExtendedLifetime(shop) {} }
        let expected = Set(try shop.context.fetch(ShopItem.self).filter(test).map(\.objectID))
        let context = try #require(shop.context.persistentStoreCoordinator).newContext()
        let found = Set(try context.fetch(ShopItem.self, where: predicate).map(\.objectID))
        #expect(!expected.isEmpty)
        let translated = try NSPredicate.translating(predicate)
        #expect(found == expected, "\(translated)")
    }

    @Test(arguments: StoreKind.allCases) func objectsAreToldByTheirClass(kind: StoreKind) throws {
        try check(kind, #Predicate { $0 is ShopBundle }) { $0 is ShopBundle }
        try check(kind, #Predicate { ($0 as? ShopBundle) != nil }) { $0 is ShopBundle }
        try check(kind, #Predicate { !($0 is ShopBundle) }) { !($0 is ShopBundle) }
    }

    @Test(arguments: StoreKind.allCases) func propertiesOfSubclassesAreAsked(kind: StoreKind) throws {
        try check(kind, #Predicate { (($0 as? ShopBundle)?.size ?? 5) > 2 }) { (($0 as? ShopBundle)?.size ?? 5) > 2 }
        try check(kind, #Predicate { ($0 as? ShopBundle)?.size != nil }) { ($0 as? ShopBundle)?.size != nil }
        try check(kind, #Predicate { ($0 as? ShopBundle)?.size != 0 }) { ($0 as? ShopBundle)?.size != 0 }
    }

    @Test func whatNoStoreHasIsRefusedWithTheNameOfTheType() throws {
        let shop = try RandomShop(.sqlite)
        let predicate = #Predicate<ShopItem> { ($0.name as Any) is String }
        let error = #expect(throws: PredicateTranslationError.self) {
            try shop.context.fetch(ShopItem.self, where: predicate)
        }
        #expect(error?.description.contains("String is none") == true, "\(String(describing: error))")
    }

    @Test func aPredicateThatCannotBeTranslatedIsNone() throws {
        #expect(NSPredicate(#Predicate<ShopItem> { $0.stockCount < 5 })?.predicateFormat == "stockCount < 5")
        #expect(NSPredicate(#Predicate<ShopItem> { ($0.name as Any) is String }) == nil)
    }
}
