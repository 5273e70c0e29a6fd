import CoreData
import TestSupport
import Testing

/// Uniqueness constraints.
@Suite struct ConstraintTests {
    let folder: TemporaryFolder
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(uniqueNames: true))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        context = coordinator.newContext()
    }

    private var rows: [[String?]] { SQLiteFile(url).rows("SELECT ZNAME, ZBORN FROM ZAUTHOR ORDER BY ZNAME") }

    @Test func aDuplicateOfARowIsRefusedWithTheConflict() throws {  // 219, 221, 222
        let old = context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        let new = other.author("Ada", born: 2)
        let error = #expect(throws: CocoaError.self) { try other.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        let conflict = try #require(conflicts?.first)
        #expect(conflicts?.count == 1)
        #expect(conflict.constraint == ["name"])
        #expect(conflict.constraintValues["name"] as? String == "Ada")
        #expect(conflict.conflictingObjects == [new])
        #expect(conflict.databaseObject?.objectID == old.objectID)
        #expect((conflict.databaseSnapshot?["born"] as? NSNumber)?.intValue == 1)
        #expect(rows == [["Ada", "1"]])
        #expect(new.isInserted)
        new.name = "Ida"
        try other.save()
        #expect(rows == [["Ada", "1"], ["Ida", "2"]])
    }

    @Test func theMessageNamesEntityConstraintAndValue() throws {  // 221
        context.author("Ada")
        try context.save()
        context.author("Ada")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0)" } ?? ""
        for word in ["Author", "name", "Ada"] { #expect(message.contains(word), "\(message)") }
    }

    @Test func aConflictInsideOneContextHasNoDatabaseObject() throws {  // 219
        let first = context.author("Ada", born: 1)
        let second = context.author("Ada", born: 2)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(conflicts?.first?.databaseObject == nil)
        #expect(Set(conflicts?.first?.conflictingObjects ?? []) == [first, second])
        #expect(rows.isEmpty)
    }

    @Test func objectTrumpUpdatesTheExistingRow() throws {  // 220
        context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        other.author("Ada", born: 2)
        try other.save()
        #expect(rows == [["Ada", "2"]])
        #expect(!other.hasChanges)
        #expect(try other.authors().map(\.born) == [2])
    }

    @Test func objectTrumpKeepsTheRelationshipsOfTheNewObject() throws {  // 220
        context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ada = other.author("Ada", born: 2)
        other.book("Notes", by: ada)
        try other.save()
        let fresh = coordinator.newContext()
        let authors = try fresh.authors()
        #expect(authors.count == 1)
        #expect(authors.first?.books.map(\.title) == ["Notes"])
    }

    @Test func storeTrumpKeepsTheExistingRow() throws {  // 212, 219
        context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        other.author("Ada", born: 2)
        try other.save()
        #expect(rows == [["Ada", "1"]])
        #expect(!other.hasChanges)
    }

    @Test func storeTrumpGivesTheExistingObjectTheRelationshipsOfTheNewOne() throws {  // 219
        let old = context.author("Ada", born: 1)
        context.book("Old", by: old)
        try context.save()
        let other = coordinator.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let book = other.book("New", by: other.author("Ada", born: 2))
        try other.save()
        #expect(book.author?.objectID == old.objectID)
        #expect(rows == [["Ada", "1"]])
        let books = SQLiteFile(url).column("SELECT ZTITLE FROM ZBOOK WHERE ZAUTHOR IS NOT NULL ORDER BY ZTITLE")
        #expect(books == ["New", "Old"])
    }

    @Test func ofDuplicatesInOneContextTheOneThatStaysGetsTheRelationships() throws {  // 219
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let books = ["A", "B"].map { context.book($0, by: context.author("Ada")) }
        try context.save()
        #expect(rows.count == 1)
        #expect(books[0].author != nil)
        #expect(books[0].author === books[1].author)
    }

    @Test func aChangeIntoADuplicateIsRefused() throws {  // 219
        let ada = context.author("Ada")
        context.author("Bob")
        try context.save()
        ada.name = "Bob"
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        #expect(rows.map { $0[0] } == ["Ada", "Bob"])
    }

    @Test func missingValuesAreNoDuplicates() throws {  // 219
        context.author(nil)
        context.author(nil)
        try context.save()
        #expect(rows.count == 2)
    }

    @Test func namesMayBeExchangedOrTakenFromADeletedObject() throws {  // 219
        let ada = context.author("Ada", born: 1)
        let bob = context.author("Bob", born: 2)
        try context.save()
        ada.name = "Bob"
        bob.name = "Ada"
        try context.save()
        #expect(rows == [["Ada", "2"], ["Bob", "1"]])
        context.delete(ada)
        context.author("Bob", born: 3)
        try context.save()
        #expect(rows == [["Ada", "2"], ["Bob", "3"]])
    }

    @Test func severalViolationsGiveOneConflictEach() throws {  // 219
        context.author("Ada")
        context.author("Bob")
        try context.save()
        let other = coordinator.newContext()
        other.author("Ada")
        other.author("Bob")
        let error = #expect(throws: CocoaError.self) { try other.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(Set(conflicts?.compactMap { $0.constraintValues["name"] as? String } ?? []) == ["Ada", "Bob"])
    }

    @Test func subentitiesInheritConstraints() throws {  // 223
        let plant = NSEntityDescription(
            "Plant", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        plant.uniquenessConstraints = [["name"]]
        let tree = NSEntityDescription(
            "Tree", class: "NSManagedObject", [NSAttributeDescription("height", .doubleAttributeType)])
        plant.subentities = [tree]
        let model = NSManagedObjectModel()
        model.entities = [plant, tree]
        let file = folder.file("plants.sqlite")
        let stack = try TestStack(model, url: file)
        for entity in ["Plant", "Tree"] {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context).setValue(
                "Oak", forKey: "name")
        }
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(SQLiteFile(file).value("SELECT count(*) FROM ZPLANT") == "0")
    }

    /// A store that keeps its rows as nodes, which know no constraints.
    private final class NodeStore: NSAtomicStore, @unchecked Sendable {
        override var type: String { "ConstraintTests.NodeStore" }
        override func loadMetadata() throws {
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
        }
        override func load() throws {}
        override func save() throws {}
    }

    @Test func aStoreWithoutConstraintsRefusesTheModel() throws {  // 224
        NSPersistentStoreCoordinator.registerStoreClass(NodeStore.self, forStoreType: "ConstraintTests.NodeStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(uniqueNames: true))
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(
                ofType: "ConstraintTests.NodeStore", configurationName: nil, at: folder.file("nodes"))
        }
        #expect((error as NSError?)?.localizedDescription.contains("Author(name)") == true)
        #expect(coordinator.persistentStores.isEmpty)
    }
}
