import CoreData
import TestSupport
import Testing

/// Batches and what stores are: several of them, with history, of classes of the program's own.
struct BatchStoresTests {
    // MARK: Several stores

    private func twoStores() throws -> (
        coordinator: NSPersistentStoreCoordinator, stores: [NSPersistentStore], folder: TemporaryFolder
    ) {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let stores = try ["one.sqlite", "two.sqlite"].map {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file($0))
        }
        return (coordinator, stores, folder)
    }

    @Test("243: affectedStores restricts batch requests") func affectedStores() throws {
        let (coordinator, stores, folder) = try twoStores()
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        for (number, store) in stores.enumerated() {
            let insert = NSBatchInsertRequest(entityName: "Item", objects: [["sku": "\(number)", "name": "A"]])
            insert.affectedStores = [store]
            try context.execute(insert)
        }
        let files = ["one.sqlite", "two.sqlite"].map { SQLiteFile(folder.file($0)) }
        #expect(files.map { $0.value("SELECT ZSKU FROM ZITEM") } == ["0", "1"])
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": 1]
        update.affectedStores = [stores[1]]
        try context.execute(update)
        #expect(files.map { $0.value("SELECT ZSTOCK FROM ZITEM") } == ["5", "1"])
        update.affectedStores = nil
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
        delete.affectedStores = [stores[0]]
        try context.execute(delete)
        #expect(files.map { $0.value("SELECT count(*) FROM ZITEM") } == ["0", "1"])
    }

    @Test func idsOfSeveralStoresAreDeletedInEach() throws {
        let (coordinator, stores, folder) = try twoStores()
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        var objectIDs: [NSManagedObjectID] = []
        for store in stores {
            let insert = NSBatchInsertRequest(entityName: "Item", objects: [["name": "A"], ["name": "B"]])
            insert.affectedStores = [store]
            insert.resultType = .objectIDs
            objectIDs += (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID] ?? []
        }
        let delete = NSBatchDeleteRequest(objectIDs: [objectIDs[0], objectIDs[3]])
        delete.resultType = .resultTypeCount
        #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 2)
    }

    // MARK: History

    @Test("245: With history each batch request is one transaction") func history() throws {
        var rules = Warehouse.Rules()
        rules.itemsOfCategory = .cascadeDeleteRule
        let stack = try Warehouse.stack(.sqlite, rules, options: [NSPersistentHistoryTrackingKey: true])
        stack.context.transactionAuthor = "importer"
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        func changes(_ request: NSPersistentStoreRequest) throws -> [String] {
            let last = stack.file.integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0
            try stack.context.execute(request)
            let author =
                "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = (SELECT ZAUTHORTS FROM ATRANSACTION WHERE Z_PK = "
                + "\(last + 1))"
            #expect(stack.file.value(author) == "importer")
            #expect(stack.file.integer("SELECT max(Z_PK) FROM ATRANSACTION") == last + 1)
            let names = "(SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = ZENTITY)"
            return stack.file.column(
                "SELECT ZCHANGETYPE || ' ' || \(names) || ' ' || ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = "
                    + "\(last + 1) ORDER BY Z_PK"
            ).compactMap { $0 }
        }
        #expect(
            try changes(
                NSBatchInsertRequest(
                    entityName: "Item", objects: [["sku": "a", "stock": 1], ["sku": "x", "name": "New"]]))
                == ["1 Item 1", "0 Item 6"])
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.predicate = NSPredicate(format: "sku IN {'c', 'd'}")
        update.propertiesToUpdate = ["stock": 0]
        #expect(try changes(update).sorted() == ["1 Fragile 4", "1 Item 3"])
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Category")
        fetch.predicate = NSPredicate(format: "title == 'Tools'")
        let category = stack.file.value("SELECT Z_PK FROM ZCATEGORY WHERE ZTITLE = 'Tools'") ?? ""
        let deleted = try changes(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(Set(deleted.filter { $0.hasPrefix("2") }) == ["2 Category \(category)", "2 Item 1", "2 Item 2"])
        #expect(deleted.filter { $0.hasPrefix("1 Certificate") }.count == 2)
    }

    /// The request goes past all levels to the stores of the context at the top, whose author
    /// stands for it.
    @Test(arguments: [("root", "child"), ("root", nil), (nil, "child"), (nil, nil)] as [(String?, String?)])
    func whatAChildExecutesIsTheRoots(root: String?, child: String?) throws {
        let stack = try Warehouse.stack(.sqlite, options: [NSPersistentHistoryTrackingKey: true])
        stack.context.transactionAuthor = root
        let middle = stack.context.newChild()
        let context = middle.newChild()
        try context.performAndWait {
            context.transactionAuthor = child
            let insert = NSBatchInsertRequest(entityName: "Item", objects: [["sku": "new", "name": "New", "stock": 1]])
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["stock": 2]
            let delete = NSBatchDeleteRequest(
                fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
            for request in [insert, update, delete] as [NSPersistentStoreRequest] {
                let last = stack.file.integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0
                try context.execute(request)
                let author =
                    "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = (SELECT ZAUTHORTS FROM ATRANSACTION WHERE "
                    + "Z_PK = \(last + 1))"
                #expect(stack.file.value(author) == root ?? child)
                #expect(stack.file.integer("SELECT max(Z_PK) FROM ATRANSACTION") == last + 1)
            }
        }
    }

    @Test func theChangedColumnsOfAnUpdateStandInTheHistory() throws {
        let stack = try Warehouse.stack(.sqlite, options: [NSPersistentHistoryTrackingKey: true])
        let item = stack.context.object(with: try stack.objectIDs(of: "Item", by: "sku")[0])
        item.setValue(1, forKey: "stock")
        try stack.context.save()
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.predicate = NSPredicate(format: "sku == 'b'")
        update.propertiesToUpdate = ["stock": 1]
        try stack.context.execute(update)
        let columns = stack.file.column("SELECT ZCOLUMNS FROM ACHANGE WHERE ZCHANGETYPE = 1 ORDER BY Z_PK DESC LIMIT 2")
        #expect(columns[0] != nil)
        #expect(columns[0] == columns[1])
    }

    // MARK: Stores of the program's own

    private func context(ofType type: String, _ storeClass: NSPersistentStore.Type) throws -> (
        NSManagedObjectContext, TemporaryFolder
    ) {
        let folder = try TemporaryFolder()
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel([
                NSEntityDescription(
                    "Thing", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            ]))
        _ = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("store"))
        return (coordinator.newContext(), folder)
    }

    @Test func anIncrementalStoreMayAnswerABatchRequest() throws {
        let (context, folder) = try context(ofType: "AnsweringBatches", AnsweringStore.self)
        defer { withExtendedLifetime(folder) {} }
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing"))
        delete.resultType = .resultTypeCount
        #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 3)
    }

    @Test("338: A store that does not know batch requests refuses them with error 134091") func unknownRequests() throws
    {
        let (context, folder) = try context(ofType: "RefusingBatches", AnsweringStore.self)
        defer { withExtendedLifetime(folder) {} }
        let update = NSBatchUpdateRequest(entityName: "Thing")
        update.propertiesToUpdate = ["name": "A"]
        for request in [NSBatchInsertRequest(entityName: "Thing", objects: [[:]]), update] as [NSPersistentStoreRequest]
        {
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        }
    }
}

/// An incremental store that knows no request but batch deletions.
private final class AnsweringStore: NSIncrementalStore, @unchecked Sendable {
    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .batchDeleteRequestType { return 3 }
        return try super.execute(request, with: context)
    }
}
