import CoreData
import TestSupport
import Testing

struct BatchDeleteTests {
    private func fetch(_ entity: String, _ predicate: String? = nil) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.predicate = predicate.map { NSPredicate(format: $0) }
        return request
    }

    private func delete(_ entity: String, _ predicate: String? = nil) -> NSBatchDeleteRequest {
        NSBatchDeleteRequest(fetchRequest: fetch(entity, predicate))
    }

    @Test(arguments: StoreKind.allCases) func whatAFetchRequestFindsIsDeleted(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let request = delete("Item", "category.title == 'Tools'")
        #expect(request.requestType == .batchDeleteRequestType)
        #expect(request.fetchRequest.entityName == "Item")
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Bool == true)
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["c", "d", "e"])
    }

    @Test(arguments: StoreKind.allCases) func orderAndLimitCount(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let fetch = fetch("Item")
        fetch.sortDescriptors = [NSSortDescriptor(key: "sku", ascending: false)]
        fetch.fetchLimit = 2
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["a", "b", "c"])
    }

    @Test(arguments: StoreKind.allCases) func subentitiesCanBeLeftOut(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let fetch = fetch("Item")
        fetch.includesSubentities = false
        try stack.context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["d", "e"])
        let all = NSFetchRequest<NSManagedObject>(entityName: "Item")
        try stack.context.execute(NSBatchDeleteRequest(fetchRequest: all))
        #expect(try stack.values("sku", of: "Item", by: "sku") == [])
    }

    @Test(
        "234: The result of a deletion is a status unless IDs or a number are asked for", arguments: StoreKind.allCases)
    func resultTypes(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let objectIDs = try stack.objectIDs(of: "Item", by: "sku")
        let request = delete("Item", "sku < 'c'")
        #expect(request.resultType == .resultTypeStatusOnly)
        request.resultType = .resultTypeObjectIDs
        let deleted = (try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
        #expect(deleted.map(Set.init) == Set(objectIDs.prefix(2)))
    }

    @Test(arguments: StoreKind.allCases) func objectsAreDeletedByTheirIDs(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let objectIDs = try stack.objectIDs(of: "Item", by: "sku")
        let request = NSBatchDeleteRequest(objectIDs: Array(objectIDs[1...2]))
        request.resultType = .resultTypeCount
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 0)
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["a", "d", "e"])
        #expect(
            (try stack.context.execute(NSBatchDeleteRequest(objectIDs: [])) as? NSBatchDeleteResult)?.result as? Bool
                == true)
    }

    @Test("242: IDs of several entities fail on execution", arguments: StoreKind.allCases)
    func mixedEntities(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let objectIDs = try stack.objectIDs(of: "Item", by: "sku")
        let error = #expect(throws: NSError.self) {
            try stack.context.execute(NSBatchDeleteRequest(objectIDs: [objectIDs[0], objectIDs[4]]))
        }
        #expect(error?.localizedDescription.contains("is of one entity") == true)
        #expect(try stack.values("sku", of: "Item", by: "sku").count == 5)
    }

    @Test func aTemporaryIDIsRefused() throws {
        let stack = try Warehouse.stack(.sqlite)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: stack.context)
        #expect(throws: NSError.self) { try stack.context.execute(NSBatchDeleteRequest(objectIDs: [new.objectID])) }
    }

    // MARK: Delete rules

    @Test("241: A batch deletion nullifies what leads to the deleted objects", arguments: StoreKind.allCases)
    func nullify(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        try stack.context.execute(delete("Category", "title == 'Tools'"))
        #expect(try stack.values("category.title", of: "Item", by: "sku") == ["nil", "nil", "nil", "Glass", "Glass"])
        try stack.context.execute(delete("Item", "sku == 'b'"))
        #expect(try stack.values("items.@count", of: "Label", by: "text") == ["1", "1"])
        #expect(try stack.values("itemCount", of: "Category", by: "title") == ["2"])
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Certificate")) == 5)
        guard kind == .sqlite else { return }
        #expect(stack.file.rows("SELECT ZCATEGORY, Z_OPT FROM ZITEM WHERE ZSKU = 'a'") == [[nil, "2"]])
        #expect(stack.file.value("SELECT count(*) FROM ZCERTIFICATE WHERE ZITEM IS NULL") == "1")
        let join =
            stack.file.value("SELECT name FROM sqlite_master WHERE name LIKE 'Z_%LABELS' OR name LIKE 'Z_%ITEMS'") ?? ""
        #expect(stack.file.value("SELECT count(*) FROM \"\(join)\"") == "2")
    }

    @Test("241: and cascades", arguments: StoreKind.allCases) func cascade(kind: StoreKind) throws {
        var rules = Warehouse.Rules()
        rules.itemsOfCategory = .cascadeDeleteRule
        rules.certificateOfItem = .cascadeDeleteRule
        rules.labelsOfItem = .cascadeDeleteRule
        let stack = try Warehouse.stack(kind, rules)
        let request = delete("Category", "title == 'Glass'")
        request.resultType = .resultTypeCount
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["a", "b", "c"])
        #expect(try stack.values("text", of: "Label", by: "text") == ["new"])
        #expect(try stack.values("labels.@count", of: "Item", by: "sku") == ["1", "1", "0"])
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Certificate")) == 3)
    }

    @Test("241: A rule that denies makes it fail where there is a destination", arguments: StoreKind.allCases)
    func deny(kind: StoreKind) throws {
        var rules = Warehouse.Rules()
        rules.itemsOfCategory = .denyDeleteRule
        let stack = try Warehouse.stack(kind, rules)
        let error = #expect(throws: NSError.self) { try stack.context.execute(delete("Category")) }
        #expect(error?.code == 134050)
        #expect(error?.localizedDescription.contains("deny delete rule on Category/items") == true)
        #expect(try stack.values("title", of: "Category", by: "title") == ["Glass", "Tools"])
        try stack.context.execute(delete("Item"))
        try stack.context.execute(delete("Category"))
        #expect(try stack.values("title", of: "Category", by: "title") == [])
    }

    @Test(arguments: StoreKind.allCases) func whatAnInverseMustHaveCannotBeTakenAway(kind: StoreKind) throws {
        var rules = Warehouse.Rules()
        rules.requiresCategory = true
        rules.requiresItems = true
        let stack = try Warehouse.stack(kind, rules)
        for (entity, place) in [
            ("Category", "mandatory OTM nullify inverse on Category/items"), ("Item", "nullify inverse on"),
        ] {
            let error = #expect(throws: NSError.self) { try stack.context.execute(delete(entity)) }
            #expect(error?.code == 134050)
            #expect(error?.localizedDescription.contains(place) == true, "\(error as Any)")
        }
        #expect(try stack.values("sku", of: "Item", by: "sku").count == 5)
    }

    @Test func noActionLeavesTheColumnsOfOthersAlone() throws {
        var rules = Warehouse.Rules()
        rules.itemsOfCategory = .noActionDeleteRule
        let stack = try Warehouse.stack(.sqlite, rules)
        try stack.context.execute(delete("Category"))
        #expect(stack.file.value("SELECT count(*) FROM ZITEM WHERE ZCATEGORY IS NULL") == "1")
    }

    // MARK: Files, contexts

    @Test func externalFilesGoWithTheirRows() throws {
        let stack = try Warehouse.stack(.sqlite)
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["photo": Data(repeating: 1, count: 200_000)]
        try stack.context.execute(update)
        try stack.context.execute(delete("Item", "sku < 'd'"))
        try stack.coordinator.remove(stack.store)
        let folder = stack.folder.file(".batch_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test("233: Registered objects stay as they are until the IDs are merged", arguments: StoreKind.allCases)
    func registeredObjects(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let context = stack.newContext()
        let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        for item in items { _ = item.value(forKey: "name") }
        let request = delete("Item", "sku == 'a'")
        request.resultType = .resultTypeObjectIDs
        let deleted = try #require((context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
        let hammer = try #require(context.registeredObject(for: deleted[0]))
        #expect(!hammer.isDeleted)
        #expect(hammer.value(forKey: "name") as? String == "Hammer")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [context])
        #expect(context.registeredObject(for: deleted[0]) == nil)
        withExtendedLifetime(items) {}
    }

    @Test("The request that it gives asks for IDs") func theRequestThatItGivesAsksForIDs() throws {
        let given = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        let request = NSBatchDeleteRequest(fetchRequest: given)
        #expect(request.fetchRequest.resultType == .managedObjectIDResultType)
        #expect(given.resultType == .managedObjectResultType)
        let library = try Library()
        library.context.author("Ada")
        try library.context.save()
        let found = try library.context.fetch(request.fetchRequest)
        #expect(found.count == 1)
        #expect(found.first is NSManagedObjectID)
    }
}
