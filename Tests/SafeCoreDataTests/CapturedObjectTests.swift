import SafeCoreData
import TestSupport
import Testing

/// `#Predicate`s that capture objects, views and object IDs.
struct CapturedObjectTests {
    /// A shop, and some of its objects as a third context has them: neither the one that filled it,
    /// nor the one that fetches.
    private struct Captured {
        let shop: RandomShop
        let context: NSManagedObjectContext
        let suppliers: [ShopSupplier]
        var acme: ShopSupplier { suppliers[0] }

        init(_ kind: StoreKind) throws {
            shop = try RandomShop(kind)
            context = try #require(shop.context.persistentStoreCoordinator).newContext()
            suppliers = try context.fetch(ShopSupplier.self, sortBy: [.ascending(\.name)])
            #expect(suppliers.map(\.name) == ["ACME", "Acme", "Bolt & Sons", "Steel"])
        }

        func check(_ predicates: [Predicate<ShopItem>], sourceLocation: SourceLocation = #_sourceLocation) throws {
            try checkEverywhere(predicates, in: shop.context, sourceLocation: sourceLocation)
        }

        /// How many items a test written with `NSPredicate` finds.
        func count(_ format: String, _ arguments: any CVarArg...) throws -> Int {
            let request = NSFetchRequest<ShopItem>(entityName: "Item")
            request.predicate = try NSPredicate.parse(format, arguments: arguments)
            return try context.count(for: request)
        }
    }

    @Test(arguments: StoreKind.allCases) func itemsAreFoundByTheSupplierThatTheyAreRelatedTo(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let (acme, other, nobody): (ShopSupplier, ShopSupplier?, ShopSupplier?) = (
            captured.acme, captured.suppliers[1], nil
        )
        try captured.check([
            #Predicate { $0.supplier == acme }, #Predicate { acme == $0.supplier }, #Predicate { $0.supplier != acme },
            #Predicate { acme != $0.supplier }, #Predicate { $0.supplier == other },
            #Predicate { $0.supplier != other },
            #Predicate { $0.supplier == nobody }, #Predicate { $0.supplier != nobody },
            #Predicate { !($0.supplier == acme) },
            #Predicate { $0.supplier == acme && $0.isActive },
            #Predicate { $0.supplier != nil && $0.supplier! == acme },
            #Predicate { if let supplier = $0.supplier { supplier == acme } else { $0.isActive } },
        ])
        let predicate = #Predicate<ShopItem> { $0.supplier == acme }
        #expect(
            try captured.shop.context.count(ShopItem.self, where: predicate)
                == captured.count("supplier.name == 'ACME'"))
        #expect(try captured.count("supplier.name == 'ACME'") > 0)
    }

    @Test(arguments: StoreKind.allCases) func viewsStandForTheirObjects(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let (view, other, nobody): (_, ReadOnly<ShopSupplier>?, ReadOnly<ShopSupplier>?) = (
            ReadOnly(captured.acme), ReadOnly(captured.suppliers[1]), nil
        )
        try captured.check([
            #Predicate { $0.supplier == view }, #Predicate { view == $0.supplier }, #Predicate { $0.supplier != view },
            #Predicate { $0.supplier == other }, #Predicate { other != $0.supplier },
            #Predicate { $0.supplier == nobody },
            #Predicate { $0.supplier?.objectID == view.id }, #Predicate { $0.supplier?.objectID != view.id },
        ])
        let predicate = #Predicate<ShopItem> { $0.supplier == view }
        #expect(
            try captured.shop.context.count(ShopItem.self, where: predicate)
                == captured.count("supplier.name == 'ACME'"))
    }

    @Test(arguments: StoreKind.allCases) func objectIDsStandForTheirObjects(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let (acme, id, nothing): (_, _, NSManagedObjectID?) = (captured.acme, captured.acme.objectID, nil)
        let item = try #require(try captured.context.first(ShopItem.self, sortBy: [.ascending(\.sold)]))
        let itemID = item.objectID
        try captured.check([
            #Predicate { $0.supplier?.objectID == id }, #Predicate { $0.supplier?.objectID != id },
            #Predicate { $0.objectID == itemID },
            #Predicate { $0.objectID != itemID }, #Predicate { id == $0.supplier?.objectID },
            #Predicate { $0.supplier != nil && $0.supplier!.objectID == id },
            #Predicate { $0.supplier?.objectID == nothing }, #Predicate { $0.supplier?.objectID == nil },
            #Predicate { $0.supplier?.objectID == acme.objectID }, #Predicate { $0.objectID == item.objectID },
            #Predicate { $0.supplier?.objectID == item.supplier?.objectID },
        ])
        let predicate = #Predicate<ShopItem> { $0.objectID == itemID }
        #expect(try captured.shop.context.fetch(ShopItem.self, where: predicate).map(\.objectID) == [itemID])
    }

    @Test(arguments: StoreKind.allCases) func anItemIsFoundByItself(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let item = try #require(try captured.context.first(ShopItem.self, sortBy: [.ascending(\.sold)]))
        let bundle = try #require(try captured.context.first(ShopBundle.self))
        let view = ReadOnly(item)
        try captured.check([
            #Predicate { $0 == item }, #Predicate { $0 != item }, #Predicate { $0 == bundle },
            #Predicate { $0 == view },
            #Predicate { $0.supplier == item.supplier }, #Predicate { $0.supplier != item.supplier },
        ])
    }

    @Test(arguments: StoreKind.allCases) func relatedObjectsAreAmongCapturedOnes(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let (some, set, nobody) = (Array(captured.suppliers[1...2]), Set(captured.suppliers[2...]), [ShopSupplier]())
        let (ids, idSet, views) = (some.map(\.objectID), Set(set.map(\.objectID)), some.map { ReadOnly($0) })
        let (viewSet, members) = (Set(views), ReadOnlySet(set))
        let items = try captured.context.fetch(ShopItem.self, where: #Predicate { $0.stockCount > 5 })
        let itemIDs = Array(items.map(\.objectID).prefix(40))
        #expect(itemIDs.count > 16)
        try captured.check([
            #Predicate { some.contains($0.supplier) }, #Predicate { !some.contains($0.supplier) },
            #Predicate { set.contains($0.supplier) },
            #Predicate { nobody.contains($0.supplier) },
            #Predicate { $0.supplier != nil && some.contains($0.supplier!) },
            #Predicate { views.contains($0.supplier) }, #Predicate { viewSet.contains($0.supplier) },
            #Predicate { members.contains($0.supplier) },
            #Predicate { $0.supplier != nil && ids.contains($0.supplier!.objectID) },
            #Predicate { $0.supplier.flatMap { idSet.contains($0.objectID) } ?? false },
            #Predicate { itemIDs.contains($0.objectID) }, #Predicate { items.contains($0) },
            #Predicate { !items.contains($0) },
        ])
        let predicate = #Predicate<ShopItem> { some.contains($0.supplier) }
        let names = some.map(\.name)
        #expect(
            try captured.shop.context.count(ShopItem.self, where: predicate)
                == captured.count("supplier.name IN %@", names))
    }

    @Test(arguments: StoreKind.allCases) func capturedObjectsAreAmongRelatedOnes(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let label = try #require(try captured.context.first(ShopLabel.self, where: #Predicate { $0.text == "sale" }))
        let part = try #require(try captured.context.first(ShopPart.self, where: #Predicate { $0.number > 2 }))
        let (view, acme) = (ReadOnly(label), captured.acme)
        try captured.check([
            #Predicate { $0.labels.contains(label) }, #Predicate { !$0.labels.contains(label) },
            #Predicate { $0.parts.contains(part) },
            #Predicate { $0.parts.contains { $0 == part } }, #Predicate { $0.labels.contains { $0 != label } },
            #Predicate { $0.labels.contains { $0 == view } },
            #Predicate { $0.parts.filter { $0.number > 2 }.contains(part) },
            #Predicate { $0.supplier != nil && $0.supplier!.items.contains($0) },
            #Predicate { $0.parts.contains { $0.item?.supplier == acme } },
        ])
        let predicate = #Predicate<ShopItem> { $0.labels.contains(label) }
        let found = try captured.shop.context.count(ShopItem.self, where: predicate)
        #expect(try found == captured.count("ANY labels.text == 'sale'"))
        #expect(found > 0)
    }

    /// The ID changes when the object is saved, and with it what a predicate has captured.
    @Test(arguments: StoreKind.allCases) func aNewObjectIsFoundByWhatIsRelatedToIt(kind: StoreKind) throws {
        let captured = try Captured(kind)
        let context = captured.context
        let (supplier, item) = (ShopSupplier(context: context), ShopItem(context: context))
        (supplier.name, item.name, item.supplier) = ("New", "New item", supplier)
        #expect(try context.fetch(ShopItem.self, where: #Predicate { $0.supplier == supplier }) == [item])
        try context.save()
        #expect(try context.fetch(ShopItem.self, where: #Predicate { $0.supplier == supplier }) == [item])
    }

    @Test func aPartThatCannotGoToAnotherThreadIsRefused() throws {
        let captured = try Captured(.sqlite)
        let acme = captured.acme
        let predicate = #Predicate<ShopItem> { $0.supplier == ($0.isActive ? acme : $0.supplier!) }
        let error = #expect(throws: PredicateTranslationError.self) {
            try captured.context.fetch(ShopItem.self, where: predicate)
        }
        #expect(error?.description.contains("ShopSupplier") == true, "\(String(describing: error))")
        #expect(error?.description.contains("capture its ID") == true, "\(String(describing: error))")
        let item = try #require(try captured.context.first(ShopItem.self))
        #expect(throws: PredicateTranslationError.self) { try predicate.evaluate(item) }
    }

    @Test func aPredicateWithAnObjectIsNotEncoded() throws {
        let captured = try Captured(.inMemory)
        let acme = captured.acme
        let predicate = #Predicate<ShopItem> { $0.supplier == acme }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(predicate.expression) }
    }

    @Test func viewsOfAReadStandInItsPredicates() async throws {
        let stack = DataStack(model: Shop.model())
        try await stack.write { context in
            for name in ["ACME", "Steel"] {
                let supplier = ShopSupplier(context: context)
                supplier.name = name
                let item = ShopItem(context: context)
                item.name = "of \(name)"
                item.supplier = supplier
            }
        }
        let names = try await stack.read { context in
            let view = try context.first(ShopSupplier.self, where: #Predicate<ShopSupplier> { $0.name == "Steel" })
            return try context.fetch(ShopItem.self, where: #Predicate<ShopItem> { $0.supplier == view }).map(\.name)
        }
        #expect(names == ["of Steel"])
    }

    @Test func anObjectBesideAViewIsComparedWithWhatTheViewShows() throws {
        let captured = try Captured(.inMemory)
        let (acme, other) = (captured.acme, captured.suppliers[1])
        let views = [ReadOnly(acme)]
        // Not within the macro, which takes the two sides apart.
        let equalities = [acme == views[0], views[0] == acme, other == views[0], views[0] == other]
        #expect(equalities == [true, true, false, false])
        let differences = [acme != views[0], views[0] != acme, other != views[0], views[0] != other]
        #expect(differences == [false, false, true, true])
        #expect(views.contains(acme))
        #expect(!views.contains(other))
        #expect(!views.contains(nil as ShopSupplier?))
        #expect([acme].contains(acme as ShopSupplier?))
        #expect(![acme].contains(nil as ShopSupplier?))
    }
}
