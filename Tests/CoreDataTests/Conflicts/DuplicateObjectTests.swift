import CoreData
import TestSupport
import Testing

/// New objects whose unique values or keys are somebody else's already: what stays of them, and of the objects that were there.
@Suite struct DuplicateObjectTests {
    let folder: TemporaryFolder
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    /// Items with a unique name, a size and an owner.
    init() throws {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [.init("name", .stringAttributeType), .init("size", .integer32AttributeType)])
        item.uniquenessConstraints = [["name"]]
        let owner = NSEntityDescription("Owner", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, owner]))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        context = coordinator.newContext()
    }

    @discardableResult
    private func insert(
        _ entity: String, _ values: [String: Any], into context: NSManagedObjectContext? = nil
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context ?? self.context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Name, size and owner's name of all items.
    private var rows: [[String?]] {
        SQLiteFile(url).rows("SELECT i.ZNAME, i.ZSIZE, o.ZNAME FROM ZITEM i LEFT JOIN ZOWNER o ON i.ZOWNER = o.Z_PK ORDER BY i.Z_PK")
    }

    @Test func valuesThatANewObjectDoesNotHaveStayWithTheObjectInUse() throws {  // 220
        let old = insert("Item", ["name": "Bolt", "size": 7])
        try context.save()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        insert("Item", ["name": "Bolt"])
        try context.save()
        #expect(rows == [["Bolt", "7", nil]])
        #expect(old.value(forKey: "size") as? Int == 7)
    }

    @Test(arguments: [(NSMergePolicy.mergeByPropertyObjectTrump, "New"), (.mergeByPropertyStoreTrump, "Old"), (.rollback, "Old")])
    func whoseOwnerStaysIsForThePolicyToSay(policy: NSMergePolicy, expected: String) throws {  // 212, 220
        let old = insert("Item", ["name": "Bolt", "owner": insert("Owner", ["name": "Old"])])
        try context.save()
        context.mergePolicy = policy
        insert("Item", ["name": "Bolt", "owner": insert("Owner", ["name": "New"])])
        try context.save()
        #expect(rows.map { $0[2] } == [expected])
        #expect(old.value(forKeyPath: "owner.name") as? String == expected)
    }

    @Test func whatGaveWayIsNotFoundByItsPermanentID() throws {  // 219
        insert("Item", ["name": "Bolt"])
        try context.save()
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let new = insert("Item", ["name": "Bolt"])
        try context.obtainPermanentIDs(for: [new])
        let id = new.objectID
        #expect(context.registeredObject(for: id) === new)
        try context.save()
        #expect(context.registeredObject(for: id) == nil)
        #expect(!context.registeredObjects.contains(new))
        #expect(rows.count == 1)
    }

    /// Another program that writes rows without counting the highest key up.
    @Test func aNewObjectWhoseKeyIsTakenGetsAnotherID() throws {
        let new = insert("Item", ["name": "Mine"])
        try context.obtainPermanentIDs(for: [new])
        let taken = new.objectID
        let key = taken.uriRepresentation().lastPathComponent.dropFirst()
        #expect(SQLiteFile(url).execute("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(key), 1, 1, 'Theirs')"))
        try context.save()
        #expect(rows.map { $0[0] } == ["Theirs", "Mine"])
        #expect(new.objectID != taken)
        let other = coordinator.newContext()
        #expect(try other.existingObject(with: new.objectID).value(forKey: "name") as? String == "Mine")
        #expect(try other.existingObject(with: taken).value(forKey: "name") as? String == "Theirs")
    }
}
