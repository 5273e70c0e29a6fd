import CoreData
import TestSupport
import Testing

/// New objects whose unique values or keys are somebody else's already: what stays of them, and of
/// the objects that were there.
struct DuplicateObjectTests {
    /// Items with a unique name, a size and an owner.
    private final class Stock {
        let folder: TemporaryFolder
        let kind: StoreKind
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            let item = NSEntityDescription(
                "Item", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("size", .integer32AttributeType)])
            item.uniquenessConstraints = [["name"]]
            let owner = NSEntityDescription("Owner", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            relate(owner, "items", toMany: true, item, inverse: "owner")
            self.kind = kind
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, owner]))
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
            context = coordinator.newContext()
        }

        @discardableResult
        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }

        var tables: StoreTables { StoreTables(kind, folder.file("store.sqlite")) }

        /// Another program writes a row without counting the highest key up.
        func insertRow(_ key: Substring, _ name: String) -> Bool {
            // The number of a file's only entity of a table is in it too.
            let (column, number) = kind == .sqlite ? ("Z_ENT, ", "1, ") : ("", "")
            return tables.execute(
                "INSERT INTO {item} ({id}, \(column){version}, {name}) VALUES (\(key), \(number)1, '\(name)')")
        }

        /// Name, size and owner's name of all items.
        var rows: [[String?]] {
            tables.rows(
                "SELECT i.{name}, i.{size}, o.{name} FROM {item} i LEFT JOIN {owner} o ON i.{owner_id} = o.{id} "
                    + "ORDER BY i.{id}"
            )
        }
    }

    @Test(arguments: StoreKind.persistent)  // 220
    func valuesThatANewObjectDoesNotHaveAreTakenFromTheObjectInUse(kind: StoreKind) throws {
        let stock = try Stock(kind)
        let old = stock.insert("Item", ["name": "Bolt", "size": 7])
        try stock.context.save()
        stock.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stock.insert("Item", ["name": "Bolt"])
        try stock.context.save()
        #expect(stock.rows == [["Bolt", nil, nil]])
        #expect(old.value(forKey: "size") == nil)
    }

    @Test(
        arguments: StoreKind.persistent,
        [(NSMergePolicy.mergeByPropertyObjectTrump, "New"), (.mergeByPropertyStoreTrump, "Old"), (.rollback, "Old")])
    func whoseOwnerStaysIsForThePolicyToSay(kind: StoreKind, outcome: (NSMergePolicy, String)) throws {  // 212, 220
        let (policy, expected) = outcome
        let stock = try Stock(kind)
        let old = stock.insert("Item", ["name": "Bolt", "owner": stock.insert("Owner", ["name": "Old"])])
        try stock.context.save()
        stock.context.mergePolicy = policy
        stock.insert("Item", ["name": "Bolt", "owner": stock.insert("Owner", ["name": "New"])])
        try stock.context.save()
        #expect(stock.rows.map { $0[2] } == [expected])
        #expect(old.value(forKeyPath: "owner.name") as? String == expected)
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func whatGaveWayIsNotFoundByItsPermanentID(kind: StoreKind) throws {
        let stock = try Stock(kind)
        stock.insert("Item", ["name": "Bolt"])
        try stock.context.save()
        stock.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let new = stock.insert("Item", ["name": "Bolt"])
        try stock.context.obtainPermanentIDs(for: [new])
        let id = new.objectID
        #expect(stock.context.registeredObject(for: id) === new)
        try stock.context.save()
        #expect(stock.context.registeredObject(for: id) == nil)
        #expect(!stock.context.registeredObjects.contains(new))
        #expect(stock.rows.count == 1)
    }

    /// Another program writes rows without counting the highest key up.
    @Test(arguments: StoreKind.persistent)
    func aNewObjectWhoseKeyIsTakenGetsAnotherID(kind: StoreKind) throws {
        let stock = try Stock(kind)
        let new = stock.insert("Item", ["name": "Mine"])
        try stock.context.obtainPermanentIDs(for: [new])
        let taken = new.objectID
        let key = taken.uriRepresentation().lastPathComponent.dropFirst()
        #expect(stock.insertRow(key, "Theirs"))
        try stock.context.save()
        #expect(stock.rows.map { $0[0] } == ["Theirs", "Mine"])
        #expect(new.objectID != taken)
        let other = stock.coordinator.newContext()
        #expect(try other.existingObject(with: new.objectID).value(forKey: "name") as? String == "Mine")
        #expect(try other.existingObject(with: taken).value(forKey: "name") as? String == "Theirs")
    }
}
