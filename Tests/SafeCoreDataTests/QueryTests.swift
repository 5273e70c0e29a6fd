import SafeCoreData
import TestSupport
import Testing

/// Typed queries.
struct QueryTests {
    private let folder: TemporaryFolder
    private let context: NSManagedObjectContext

    init() throws {
        folder = try TemporaryFolder()
        context = try Shop.coordinator(.sqlite, at: folder.file("shop.sqlite")).newContext()
        for (index, name) in ["Item 10", "item 9", "Bolt", "Ähre", "Item 9"].enumerated() {
            let item = index == 2 ? ShopBundle(context: context) : ShopItem(context: context)
            item.name = name
            item.stockCount = Int16(index % 2)
            item.note = index < 2 ? nil : "note \(index)"
        }
        try context.save()
    }

    // MARK: Order and parts

    @Test func objectsComeInAnOrder() throws {
        let literal = try context.fetch(ShopItem.self, sortBy: [.ascending(\.name)])
        #expect(literal.map(\.name) == ["Bolt", "Item 10", "Item 9", "item 9", "Ähre"])
        let down = try context.fetch(ShopItem.self, sortBy: [.descending(\.stockCount), .descending(\.name)])
        #expect(down.map(\.name) == ["Ähre", "item 9", "Item 9", "Item 10", "Bolt"])
        let notes = try context.fetch(ShopItem.self, sortBy: [.ascending(\.note), .ascending(\.name)])
        #expect(notes.map(\.note) == [nil, nil, "note 2", "note 3", "note 4"])
    }

    @Test func textsAreSortedAsPeopleDo() throws {
        let names = try context.fetch(
            ShopItem.self, where: #Predicate { $0.name != "Item 9" }, sortBy: [.ascending(\.name, .localizedStandard)])
        #expect(names.map(\.name) == ["Ähre", "Bolt", "item 9", "Item 10"])
        let notes = try context.fetch(ShopItem.self, sortBy: [.descending(\.note, .caseInsensitive)])
        #expect(notes.first?.note == "note 4")
    }

    @Test func foundationsSortDescriptorsWork() throws {
        let items = try context.fetch(
            ShopItem.self, sortBy: [SortDescriptor(\.stockCount), SortDescriptor(\.name, order: .reverse)])
        #expect(items.map(\.name) == ["Item 9", "Item 10", "Bolt", "Ähre", "item 9"])
    }

    @Test func sortingAcrossARelationshipWorks() throws {
        let supplier = ShopSupplier(context: context)
        supplier.name = "ACME"
        try #require(try context.first(ShopItem.self, where: #Predicate { $0.name == "Bolt" })).supplier = supplier
        try context.save()
        let items = try context.fetch(ShopItem.self, sortBy: [.descending(\.supplier?.name), .ascending(\.name)])
        #expect(items.first?.name == "Bolt")
    }

    @Test func aLimitAndAnOffsetTakeAPart() throws {
        let part = try context.fetch(ShopItem.self, sortBy: [.ascending(\.name)], limit: 2, offset: 1)
        #expect(part.map(\.name) == ["Item 10", "Item 9"])
        #expect(try context.fetch(ShopItem.self, limit: 0).isEmpty)
    }

    @Test func theFirstTheNumberAndWhetherThereIsAny() throws {
        #expect(try context.first(ShopItem.self, sortBy: [.ascending(\.name)])?.name == "Bolt")
        #expect(try context.first(ShopItem.self, where: #Predicate { $0.name == "none" }) == nil)
        #expect(try context.count(ShopItem.self) == 5)
        #expect(try context.count(ShopItem.self, where: #Predicate { $0.stockCount == 0 }) == 3)
        #expect(try context.exists(ShopItem.self, where: #Predicate { $0.note == nil }))
        #expect(try !context.exists(ShopItem.self, where: #Predicate { $0.name == "none" }))
    }

    @Test func aSubclassIsFetchedAlone() throws {
        #expect(try context.fetch(ShopBundle.self).map(\.name) == ["Bolt"])
        #expect(try context.fetch(ShopBundle.self, where: #Predicate { $0.size == 0 && $0.name == "Bolt" }).count == 1)
    }

    @Test func unsavedChangesAreSeen() throws {
        try #require(try context.first(ShopItem.self, where: #Predicate { $0.name == "Bolt" })).stockCount = 7
        #expect(try context.fetch(ShopItem.self, where: #Predicate { $0.stockCount == 7 }).map(\.name) == ["Bolt"])
    }

    // MARK: Through a stack

    @MainActor @Test func aStackIsReadWithQueries() async throws {
        let stack = DataStack(model: Shop.model(), store: .file(folder.file("shop.sqlite")))
        let views = try await stack.read {
            try $0.fetch(ShopItem.self, where: #Predicate { $0.stockCount == 1 }, sortBy: [.ascending(\.name)])
        }
        #expect(views.map(\.name) == ["item 9", "Ähre"])
        #expect(try await stack.read { try $0.count(ShopItem.self) } == 5)
        #expect(try await stack.read { try $0.exists(ShopItem.self, where: #Predicate { $0.stockCount > 1 }) } == false)
        #expect(try await stack.read { try $0.first(ShopItem.self, sortBy: [.descending(\.name)]) }?.name == "Ähre")
        #expect(try await stack.read { try $0.fetch(ShopItem.self, sortBy: [SortDescriptor(\.name)]) }.count == 5)
        let deleted = try await stack.write { context in
            let few = try context.fetch(ShopItem.self, where: #Predicate { $0.stockCount == 0 })
            few.forEach(context.delete)
            return few.count
        }
        #expect(deleted == 3)
        #expect(try await stack.read { try $0.count(ShopItem.self) } == 2)
    }

    // MARK: Errors

    private func message(_ predicate: Predicate<ShopItem>) -> String {
        do {
            _ = try context.fetch(ShopItem.self, where: predicate)
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test func aComputedPropertyIsRefusedWithTheExpression() {
        let text = message(#Predicate { $0.stockCount < 5 && $0.shout == "BOLT" })
        #expect(text.contains("the property is not one that the model describes"))
        #expect(text.contains("in #Predicate { ($0.stockCount < 5) && ($0.(property of type String) == \"BOLT\") }"))
        #expect(message(#Predicate { $0.isLow }).contains("$0.(property of type Bool)"))
    }

    @Test func anOperationWithoutACounterpartIsRefusedWithTheExpression() {
        // Of a type that the compiler does not know, so that it does not warn of the cast.
        func text<Other: Equatable>(_ type: Other.Type) -> String {
            message(#Predicate { $0.name.contains("B") && ($0.stockCount as? Other) != nil })
        }
        let text = text(Int.self)
        #expect(text.contains("only objects can be asked for their class, and Int is none"))
        #expect(text.contains("($0.stockCount as? Int)"))
        #expect(text.contains("$0.name.contains(\"B\")"))
    }

    @Test func anOrderByAComputedPropertyIsRefused() {
        #expect(throws: QueryError.self) { try context.fetch(ShopItem.self, sortBy: [.ascending(\.shout)]) }
        #expect(throws: QueryError.self) { try context.fetch(ShopItem.self, sortBy: [SortDescriptor(\.shout)]) }
    }

    @Test(arguments: StoreKind.allCases, ["labels", "parts", "parts.number", "supplier.items", "supplier.items.name"])
    func anOrderBySeveralObjectsIsRefusedByEveryStore(kind: StoreKind, key: String) throws {
        let context = try Shop.coordinator(kind, at: kind.url(folder.file("other.sqlite"))).newContext()
        for name in ["A", "B"] { ShopItem(context: context).name = name }
        try context.save()
        let request = NSFetchRequest<ShopItem>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let error = #expect(throws: (any Error).self) { try context.fetch(request) }
        #expect(
            (error as NSError?)?.localizedDescription.contains("sorting by \(key)") == true,
            "\(String(describing: error))")
    }

    @Test func anOrderByRawValuesAndOptionalNumbersWorks() throws {
        let items = try context.fetch(ShopItem.self)
        for (index, item) in items.enumerated() {
            item.kind = index % 2 == 0 ? .service : .single
            item.discount = index == 0 ? nil : Double(index)
        }
        try context.save()
        let kinds = try context.fetch(ShopItem.self, sortBy: [.descending(\.kind)]).map(\.kind.rawValue)
        #expect(kinds == [3, 3, 3, 1, 1])
        #expect(
            try context.fetch(ShopItem.self, sortBy: [.ascending(\.discount)]).map(\.discount) == [nil, 1, 2, 3, 4])
    }

    @Test func aClassWithoutAnEntityIsRefused() throws {
        let error = #expect(throws: (any Error).self) { try context.fetch(LibraryBook.self) }
        #expect((error as NSError?)?.code == NSCoreDataError)
        #expect((error as NSError?)?.localizedDescription.contains("LibraryBook") == true)
    }

    // MARK: Names of key paths

    @Test func keyPathsOfManagedPropertiesHaveNames() {
        #expect(ShopItem.keyName(for: \ShopItem.name) == "name")
        #expect(ShopItem.keyName(for: \ShopItem.kind) == "kind")
        #expect(ShopItem.keyName(for: \ShopItem.isActive) == "isActive")
        #expect(ShopItem.keyName(for: \ShopItem.supplier?.city) == "supplier.city")
        #expect(ShopItem.keyName(for: \ShopItem.supplier!.name) == "supplier.name")
        #expect(ShopItem.keyName(for: \ShopItem.parts) == "parts")
        #expect(ShopLabel.keyName(for: \ShopLabel.items) == "items")
    }

    @Test func keyPathsOfComputedPropertiesHaveNone() {
        #expect(ShopItem.keyName(for: \ShopItem.shout) == nil)
        #expect(ShopItem.keyName(for: \ShopItem.isLow) == nil)
        #expect(ShopItem.keyName(for: \ShopItem.noteOrNothing) == nil)
        #expect(ShopItem.keyName(for: \ShopItem.isInStock) == nil)
        #expect(ShopItem.keyName(for: \ShopItem.supplierName) == nil)
        #expect(ShopItem.keyName(for: \ShopItem.fullName) == nil)
    }

    @Test func theIDOfAnObjectHasAName() {
        #expect(ShopItem.keyName(for: \ShopItem.objectID) == "objectID")
        #expect(ShopItem.keyName(for: \ShopItem.supplier?.objectID) == "supplier.objectID")
    }
}
