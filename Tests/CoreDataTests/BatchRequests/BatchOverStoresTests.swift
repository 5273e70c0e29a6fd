import CoreData
import TestSupport
import Testing

/// Batches of an entity that several stores hold.
struct BatchOverStoresTests {
    /// Two files with items of unique codes: 1 and 2 in the first, 3 and 4 in the second.
    private final class Shops {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        private(set) var stores: [NSPersistentStore] = []
        let context: NSManagedObjectContext
        private static let names = ["one.sqlite", "two.sqlite"]

        /// - Parameter readOnly: the place of a store that is then opened for reading only.
        init(readOnly: Int? = nil) throws {
            let item = NSEntityDescription(
                "Item", class: "NSManagedObject",
                [
                    NSAttributeDescription("code", .integer32AttributeType),
                    NSAttributeDescription("stock", .integer32AttributeType),
                    NSAttributeDescription("sku", .stringAttributeType),
                ])
            item.uniquenessConstraints = [["sku"]]
            folder = try TemporaryFolder()
            let model = NSManagedObjectModel([item])
            for (number, name) in Self.names.enumerated() {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name))
                let context = coordinator.newContext()
                for code in 1...2 { context.new("Item", ["code": number * 2 + code, "sku": "s\(code)"]) }
                try context.save()
                try coordinator.remove(store)
            }
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            context = coordinator.newContext()
            for (number, name) in Self.names.enumerated() {
                stores.append(
                    try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name),
                        options: number == readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil))
            }
        }

        func column(_ name: String) -> [[String]] {
            Self.names.map {
                SQLiteFile(folder.file($0)).column("SELECT \(name) FROM ZITEM ORDER BY ZCODE").map { $0 ?? "nil" }
            }
        }

        func objectIDs(in store: Int) throws -> [NSManagedObjectID] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.affectedStores = [stores[store]]
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            return try context.fetch(request).map(\.objectID)
        }
    }

    struct Part: Sendable {
        let limit: Int
        let offset: Int
        let ascending: Bool
        let left: [[String]]
    }

    @Test(arguments: [
        Part(limit: 3, offset: 0, ascending: true, left: [[], ["4"]]),
        Part(limit: 1, offset: 2, ascending: true, left: [["1", "2"], ["4"]]),
        Part(limit: 0, offset: 3, ascending: true, left: [["1", "2"], ["3"]]),
        Part(limit: 3, offset: 0, ascending: false, left: [["1"], []]),
    ])
    func limitAndOffsetAreOfAllStores(part: Part) throws {
        let shops = try Shops()
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        fetch.sortDescriptors = [NSSortDescriptor(key: "code", ascending: part.ascending)]
        fetch.fetchLimit = part.limit
        fetch.fetchOffset = part.offset
        let delete = NSBatchDeleteRequest(fetchRequest: fetch)
        delete.resultType = .resultTypeCount
        // What is unsaved is neither deleted nor counted.
        shops.context.new("Item", ["code": 0, "sku": "new"])
        let count = (try shops.context.execute(delete) as? NSBatchDeleteResult)?.result as? Int
        #expect(count == 4 - part.left.joined().count)
        #expect(shops.column("ZCODE") == part.left)
    }

    @Test func aChildDeletesAsItsParentWould() throws {
        let shops = try Shops()
        let child = shops.context.newChild()
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        fetch.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
        fetch.fetchLimit = 3
        shops.context.new("Item", ["code": 0, "sku": "new"])
        try child.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(shops.column("ZCODE") == [[], ["4"]])
    }

    // MARK: What has been done when a store fails

    @Test func anUpdateThatNoStoreCanTakeChangesNone() throws {
        let shops = try Shops()
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": "not a number"]
        #expect(throws: NSError.self) { try shops.context.execute(update) }
        #expect(shops.column("ZSTOCK") == [["nil", "nil"], ["nil", "nil"]])
    }

    @Test(arguments: [false, true]) func theErrorOfALaterStoreNamesThoseThatWereWritten(deletes: Bool) throws {
        let shops = try Shops()
        // Another program refuses what the second store is asked for.
        let file = SQLiteFile(shops.folder.file("two.sqlite"))
        for event in ["UPDATE", "DELETE"] {
            #expect(
                file.execute(
                    "CREATE TRIGGER refuse\(event) BEFORE \(event) ON ZITEM BEGIN SELECT RAISE(ABORT, 'closed'); END"))
        }
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": 1]
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
        let error = try #require(#expect(throws: NSError.self) { try shops.context.execute(deletes ? delete : update) })
        #expect(error.localizedDescription.contains("one.sqlite"))
        #expect(error.localizedDescription.contains("two.sqlite"))
        #expect(!error.localizedDescription.contains("Nothing was"))
        #expect(error.userInfo[NSUnderlyingErrorKey] is NSError)
        #expect((error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]) == [shops.stores[1]])
        #expect(
            shops.column(deletes ? "ZCODE" : "ZSTOCK") == [
                deletes ? [] : ["1", "1"], deletes ? ["3", "4"] : ["nil", "nil"],
            ])
    }

    @Test func aRefusalOfALaterStoreDoesNotSayThatNothingWasChanged() throws {
        let shops = try Shops()
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.predicate = NSPredicate(format: "code != 1")
        update.propertiesToUpdate = ["sku": "x"]
        let error = try #require(#expect(throws: NSError.self) { try shops.context.execute(update) })
        #expect(!error.localizedDescription.contains("Nothing was"))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 133021)
        #expect(shops.column("ZSKU") == [["s1", "x"], ["s1", "s2"]])
    }

    // MARK: IDs

    @Test func onlyTheStoresOfTheIDsAreAsked() throws {
        let shops = try Shops(readOnly: 1)
        try shops.context.execute(NSBatchDeleteRequest(objectIDs: [shops.objectIDs(in: 0)[0]]))
        #expect(shops.column("ZCODE") == [["2"], ["3", "4"]])
        let objectIDs = try [shops.objectIDs(in: 0)[0], shops.objectIDs(in: 1)[0]]
        let error = #expect(throws: NSError.self) {
            try shops.context.execute(NSBatchDeleteRequest(objectIDs: objectIDs))
        }
        #expect(error?.localizedDescription.contains("read-only") == true)
        #expect(shops.column("ZCODE") == [["2"], ["3", "4"]])
    }

    @Test func anIDOfAStoreThatIsNotAffectedIsRefused() throws {
        let shops = try Shops()
        let delete = NSBatchDeleteRequest(objectIDs: try [shops.objectIDs(in: 0)[0], shops.objectIDs(in: 1)[0]])
        delete.affectedStores = [shops.stores[0]]
        let error = #expect(throws: NSError.self) { try shops.context.execute(delete) }
        #expect(error?.localizedDescription.contains("two.sqlite") == true)
        #expect(shops.column("ZCODE") == [["1", "2"], ["3", "4"]])
    }

    @Test func anIDOfAnotherCoordinatorIsRefused() throws {
        let (shops, others) = (try Shops(), try Shops())
        let delete = NSBatchDeleteRequest(objectIDs: try [shops.objectIDs(in: 0)[0], others.objectIDs(in: 0)[0]])
        #expect(throws: NSError.self) { try shops.context.execute(delete) }
        #expect(shops.column("ZCODE") == [["1", "2"], ["3", "4"]])
        #expect(others.column("ZCODE") == [["1", "2"], ["3", "4"]])
    }
}
