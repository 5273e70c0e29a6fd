import CoreData
import TestSupport
import Testing

final class DecimalOrder: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<DecimalItem>
}

final class DecimalItem: NSManagedObject {
    @Managed var price: NSDecimalNumber?
    @Managed var list: NSArray?
    @Managed var secured: NSDictionary?
    @Managed var order: DecimalOrder?
}

/// Foundation on Linux cannot hash an `NSDecimalNumber`: whatever collects values has to do
/// without.
struct DecimalHashingTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("orders.sqlite")
    }

    private static func model(unique: Bool = false) -> NSManagedObjectModel {
        let order = NSEntityDescription(
            "Order", class: "DecimalOrder", [NSAttributeDescription("name", .stringAttributeType)])
        let secured = NSAttributeDescription("secured", .transformableAttributeType)
        secured.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        let item = NSEntityDescription(
            "Item", class: "DecimalItem",
            [
                NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("list", .transformableAttributeType), secured,
            ])
        if unique { item.uniquenessConstraints = [["price"]] }
        relate(order, "items", toMany: true, item, inverse: "order")
        return NSManagedObjectModel([order, item])
    }

    private func context(_ kind: StoreKind, unique: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(unique: unique))
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(url))
        return coordinator.newContext()
    }

    @discardableResult
    private func item(_ price: String, of order: DecimalOrder? = nil, in context: NSManagedObjectContext) -> DecimalItem
    {
        let item = DecimalItem(context: context)
        item.price = NSDecimalNumber(string: price)
        item.order = order
        return item
    }

    private func dictionaries(
        _ context: NSManagedObjectContext, _ properties: [Any], groupBy: [Any] = [], distinct: Bool = false
    ) throws -> [NSDictionary] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = groupBy
        request.returnsDistinctResults = distinct
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
        return try context.fetch(request)
    }

    @Test(arguments: StoreKind.allCases)
    func decimalsAreGroupedAndMadeDistinct(kind: StoreKind) throws {
        let context = try context(kind)
        for price in ["1.5", "2.25", "1.50", "1.5"] { item(price, in: context) }
        try context.save()
        let count = NSExpressionDescription(
            "count", NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "price")]))
        let groups = try dictionaries(context, ["price", count], groupBy: ["price"])
        #expect(groups.map { "\($0["price"] ?? "") \($0["count"] ?? "")" } == ["1.5 3", "2.25 1"])
        let distinct = try dictionaries(context, ["price"], distinct: true)
        #expect(distinct.map { "\($0["price"] ?? "")" } == ["1.5", "2.25"])
    }

    @Test(arguments: StoreKind.allCases)
    func predicatesLookAtDecimalsOfManyObjects(kind: StoreKind) throws {
        let context = try context(kind)
        let order = DecimalOrder(context: context)
        for price in ["1.5", "2.25", "1.50"] { item(price, of: order, in: context) }
        try context.save()
        let count = LongTests.areEnabled ? 50_000 : 5_000
        let prices = (0..<count).map { NSDecimalNumber(mantissa: UInt64($0), exponent: -2, isNegative: false) }
        for predicate in [
            NSPredicate(format: "ANY items.price == 2.25"), NSPredicate(format: "items.@sum.price == 5.25"),
            NSPredicate(format: "ANY items.price IN %@", prices), NSPredicate(format: "ALL items.price > 1"),
        ] {
            let request = NSFetchRequest<DecimalOrder>(entityName: "Order")
            request.predicate = predicate
            #expect(try context.fetch(request).count == 1)
            #expect(predicate.evaluate(with: order))
        }
        let request = NSFetchRequest<DecimalItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "price IN %@", prices)
        #expect(try context.fetch(request).count == 3)
        #expect(order.items.filter { request.predicate?.evaluate(with: $0) == true }.count == 3)
    }

    @Test func keyPathsCollectDecimals() throws {
        let context = try context(.sqlite)
        let order = DecimalOrder(context: context)
        for price in ["1.5", "2.25", "1.50"] { item(price, of: order, in: context) }
        let distinct = order.value(forKeyPath: "items.@distinctUnionOfObjects.price") as? [NSDecimalNumber]
        #expect(distinct?.map(\.doubleValue).sorted() == [1.5, 2.25])
        let prices = order.value(forKeyPath: "items.price") as? [NSDecimalNumber]
        #expect(prices?.map(\.doubleValue).sorted() == [1.5, 2.25])
    }

    @Test(arguments: StoreKind.allCases)
    func decimalsAreUnique(kind: StoreKind) throws {
        let context = try context(kind, unique: true)
        item("1.5", in: context)
        item("2.5", in: context)
        try context.save()
        let twin = item("1.50", in: context)
        let error = try #require(errorThrown { try context.save() })
        #expect(error.code == NSManagedObjectConstraintMergeError)
        twin.price = NSDecimalNumber(string: "3.5")
        try context.save()
    }

    @Test func transformablesHoldDecimals() throws {
        let context = try context(.sqlite)
        let item = DecimalItem(context: context)
        let digits = NSDecimalNumber(string: "-12345678901234567890123456789012345678e-20")
        item.list = [NSDecimalNumber(string: "1.5"), "text", digits, [NSDecimalNumber(string: "1.5")]]
        item.secured = ["price": digits, "names": ["a"], "date": Date(timeIntervalSinceReferenceDate: 5)]
        try context.save()
        let reader = try self.context(.sqlite)
        let stored = try #require(try reader.fetch(NSFetchRequest<DecimalItem>(entityName: "Item")).first)
        #expect(stored.list?[0] as? NSDecimalNumber == NSDecimalNumber(string: "1.5"))
        #expect(stored.list?[1] as? String == "text")
        #expect((stored.list?[2] as? NSDecimalNumber)?.stringValue == "-123456789012345678.90123456789012345678")
        #expect((stored.list?[3] as? [NSDecimalNumber])?.map(\.doubleValue) == [1.5])
        #expect((stored.secured?["price"] as? NSDecimalNumber) == digits)
        #expect(stored.secured?["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
        // As Apple's archiver writes it.
        #expect(
            SQLiteFile(url).value("SELECT instr(ZLIST, CAST('NS.mantissa.bo' AS BLOB)) > 0 FROM ZITEM") == "1")
    }

    @Test func decimalsBesideObjectsThatNoPropertyListHasAreRefused() throws {
        let context = try context(.sqlite)
        let item = DecimalItem(context: context)
        item.list = [NSDecimalNumber(string: "1.5"), NSAttributedString(string: "text")]
        let error = try #require(errorThrown { try context.save() })
        #expect(error.code == NSManagedObjectValidationError)
        #expect(error.localizedDescription.contains("Item.list"))
    }
}
