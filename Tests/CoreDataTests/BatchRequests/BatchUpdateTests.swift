import CoreData
import TestSupport
import Testing

struct BatchUpdateTests {
    private func update(_ entity: String = "Item", _ predicate: String? = nil, _ properties: [AnyHashable: Any])
        -> NSBatchUpdateRequest
    {
        let request = NSBatchUpdateRequest(entityName: entity)
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.propertiesToUpdate = properties
        return request
    }

    @Test("239: Keys are names or descriptions, and values constants or expressions", arguments: StoreKind.allCases)
    func propertiesToUpdate(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let price = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"]?.attributesByName["price"])
        let request = update(
            "Item", "sku IN {'a', 'b'}",
            [
                "stock": NSExpression(format: "stock + 10"), price: NSDecimalNumber(string: "3.5"),
                "added": NSExpression(forConstantValue: nil),
            ])
        #expect(request.requestType == .batchUpdateRequestType)
        let result = try #require(stack.context.execute(request) as? NSBatchUpdateResult)
        #expect(result.result as? Bool == true)
        #expect(request.entity.name == "Item")
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["15", "15", "5", "5", "5"])
        #expect(try stack.values("price", of: "Item", by: "sku") == ["3.5", "3.5", "nil", "nil", "nil"])
    }

    @Test("240: Objects of subentities are updated too unless they are left out", arguments: StoreKind.allCases)
    func subentities(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let request = update("Item", nil, ["stock": 1])
        #expect(request.includesSubentities)
        try stack.context.execute(request)
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["1", "1", "1", "1", "1"])
        let only = update("Item", nil, ["stock": 2])
        only.includesSubentities = false
        try stack.context.execute(only)
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["2", "2", "2", "1", "1"])
        try stack.context.execute(update("Fragile", "care == nil", ["care": "soft", "stock": 3]))
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["2", "2", "2", "3", "3"])
        #expect(try stack.values("care", of: "Fragile", by: "sku") == ["soft", "soft"])
    }

    @Test(
        "234: The result of an update is a status unless IDs or a number are asked for", arguments: StoreKind.allCases)
    func resultTypes(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let request = update("Item", "sku < 'c'", ["stock": 1])
        #expect(request.resultType == .statusOnlyResultType)
        request.resultType = .updatedObjectsCountResultType
        #expect((try stack.context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 2)
        request.resultType = .updatedObjectIDsResultType
        let objectIDs = (try stack.context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
        #expect(try objectIDs.map(Set.init) == Set(stack.objectIDs(of: "Item", by: "sku").prefix(2)))
    }

    @Test(arguments: StoreKind.allCases) func predicatesAndExpressionsFollowRelationships(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        try stack.context.execute(
            update(
                "Item", "category.title == 'Tools' AND ANY labels.text == 'old'",
                ["name": NSExpression(format: "category.title")]))
        #expect(try stack.values("name", of: "Item", by: "sku") == ["Hammer", "Tools", "Rope", "Vase", "Bulb"])
        if StoreKind.foldTexts { #expect(try stack.values("upperName", of: "Item", by: "sku")[1] == "TOOLS") }
        try stack.context.execute(update("Item", nil, ["stock": NSExpression(format: "labels.@count")]))
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["1", "2", "0", "1", "0"])
    }

    @Test(arguments: StoreKind.allCases) func expressionsReadWhatWasThereBefore(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        try stack.context.execute(
            update(
                "Item", nil,
                ["name": NSExpression(format: "sku"), "care": NSNull()].filter { $0.key != "care" as AnyHashable }))
        let title = StoreKind.foldTexts ? NSExpression(format: "uppercase:(title)") : NSExpression(format: "title")
        try stack.context.execute(
            update("Category", nil, ["level": NSExpression(format: "level * 2.6"), "title": title]))
        #expect(try stack.values("name", of: "Item", by: "sku") == ["a", "b", "c", "d", "e"])
        #expect(try stack.values("level", of: "Category", by: "title") == ["5", "2"])
        #expect(
            try stack.values("title", of: "Category", by: "title")
                == (StoreKind.foldTexts ? ["GLASS", "TOOLS"] : ["Glass", "Tools"]))
    }

    @Test(arguments: StoreKind.allCases) func aToOneRelationshipTakesAnIDOrNil(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let categories = try stack.objectIDs(of: "Category", by: "title")
        try stack.context.execute(update("Item", "sku == 'c'", ["category": categories[0]]))
        try stack.context.execute(update("Item", "sku == 'a'", ["category": NSNull()]))
        #expect(
            try stack.values("category.title", of: "Item", by: "sku") == ["nil", "Tools", "Glass", "Glass", "Glass"])
        #expect(try stack.values("itemCount", of: "Category", by: "title") == ["3", "1"])
        #expect(try stack.values("items.@count", of: "Category", by: "title") == ["3", "1"])
    }

    @Test(arguments: StoreKind.allCases) func eachRowGetsAnExternalFileOfItsOwn(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let large = Data(repeating: 1, count: 200_000)
        try stack.context.execute(update("Item", "sku < 'c'", ["photo": large]))
        try stack.context.execute(update("Item", "sku == 'a'", ["photo": Data([1, 2])]))
        let context = stack.newContext()
        let photos = try stack.objectIDs(of: "Item", by: "sku").map {
            context.object(with: $0).value(forKey: "photo") as? Data
        }
        #expect(photos == [Data([1, 2]), large, nil, nil, nil])
        guard kind == .sqlite else { return }
        try stack.coordinator.remove(stack.store)
        let folder = stack.folder.file(".batch_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test func versionsCountUpSoThatStaleObjectsMeetAConflict() throws {
        let stack = try Warehouse.stack(.sqlite)
        let hammer = stack.context.object(with: try stack.objectIDs(of: "Item", by: "sku")[0])
        _ = hammer.value(forKey: "name")
        try stack.newContext().execute(update("Item", nil, ["stock": 9]))
        #expect(stack.file.column("SELECT DISTINCT Z_OPT FROM ZITEM") == ["2"])
        hammer.setValue("Mallet", forKey: "name")
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == 133020)
    }

    @Test("114: After a batch update a refreshed object shows the new row with fresh rows or after a merge")
    func refreshing() throws {
        let stack = try Warehouse.stack(.sqlite)
        let context = stack.context
        let hammer = context.object(with: try stack.objectIDs(of: "Item", by: "sku")[0])
        #expect(hammer.value(forKey: "stock") as? Int == 5)
        try context.execute(update("Item", nil, ["stock": 9]))
        #expect(hammer.value(forKey: "stock") as? Int == 5)
        context.stalenessInterval = 0
        context.refresh(hammer, mergeChanges: false)
        #expect(hammer.value(forKey: "stock") as? Int == 9)
    }

    @Test("235: Merging the IDs brings contexts up to date", arguments: StoreKind.allCases)
    func merging(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let (first, second) = (stack.context, stack.newContext())
        let hammer = try stack.objectIDs(of: "Item", by: "sku")[0]
        for context in [first, second] { #expect(context.object(with: hammer).value(forKey: "stock") as? Int == 5) }
        let request = update("Item", nil, ["stock": 9])
        request.resultType = .updatedObjectIDsResultType
        let objectIDs = try #require((first.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: objectIDs], into: [first, second])
        for context in [first, second] { #expect(context.object(with: hammer).value(forKey: "stock") as? Int == 9) }
    }

    @Test("85: A batch update validates nothing") func validation() throws {
        let stack = try Warehouse.stack(.sqlite)
        try stack.context.execute(update("Item", "sku == 'a'", ["name": NSNull()]))
        #expect(stack.file.value("SELECT count(*) FROM ZITEM WHERE ZNAME IS NULL") == "1")
    }

    static func refused(_ index: Int) -> (entity: String, properties: [AnyHashable: Any], message: String) {
        switch index {
        case 0: ("Item", ["labels": NSSet()], "it is a to-many relationship")
        case 1: ("Item", ["certificate": NSNull()], "its inverse is to-one too")
        case 2: ("Category", ["itemCount": 1], "its value is derived")
        case 3: ("Item", ["nonsense": 1], "has no property 'nonsense'")
        case 4: ("Item", [1: 1], "A key of propertiesToUpdate")
        case 5: ("Item", [:], "has no propertiesToUpdate")
        case 6: ("Item", ["stock": "many"], "Unacceptable type of value for Item.stock")
        default: ("Item", ["stock": NSExpression(format: "name")], "does not give what the property takes")
        }
    }

    @Test(arguments: StoreKind.allCases, Array(0...7)) func whatCannotBeSetIsRefused(kind: StoreKind, index: Int) throws
    {
        // A text as a number is nil in memory, as key-value coding has it.
        if kind == .inMemory, index == 7 { return }
        let (entity, properties, message) = Self.refused(index)
        let stack = try Warehouse.stack(kind)
        let error = #expect(throws: NSError.self) { try stack.context.execute(update(entity, nil, properties)) }
        #expect(error?.localizedDescription.contains(message) == true, "\(error as Any)")
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["5", "5", "5", "5", "5"])
    }
}
