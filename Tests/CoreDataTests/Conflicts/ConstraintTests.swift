import CoreData
import TestSupport
import Testing

/// Uniqueness constraints.
struct ConstraintTests {
    /// Name and year of all authors.
    private func rows(_ library: Library) -> [[String?]] {
        library.tables.rows("SELECT {name}, {born} FROM {author} ORDER BY {name}")
    }

    /// A library with an author, and a context of a merge policy that knows nothing of her.
    private func libraryWithAda(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws -> (Library, NSManagedObjectContext) {
        let library = try Library(kind, uniqueNames: true)
        library.context.author("Ada", born: 1)
        try library.context.save()
        let other = library.newContext()
        other.mergePolicy = policy
        return (library, other)
    }

    @Test(arguments: StoreKind.persistent)  // 219, 221, 222
    func aDuplicateOfARowIsRefusedWithTheConflict(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        let old = context.author("Ada", born: 1)
        try context.save()
        let other = library.newContext()
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
        #expect(rows(library) == [["Ada", "1"]])
        #expect(new.isInserted)
        new.name = "Ida"
        try other.save()
        #expect(rows(library) == [["Ada", "1"], ["Ida", "2"]])
    }

    @Test(arguments: StoreKind.persistent)  // 221
    func theMessageNamesEntityConstraintAndValue(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        context.author("Ada")
        try context.save()
        context.author("Ada")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0)" } ?? ""
        for word in ["Author", "name", "Ada"] { #expect(message.contains(word), "\(message)") }
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func aConflictInsideOneContextHasNoDatabaseObject(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        let first = context.author("Ada", born: 1)
        let second = context.author("Ada", born: 2)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(conflicts?.first?.databaseObject == nil)
        #expect(Set(conflicts?.first?.conflictingObjects ?? []) == [first, second])
        #expect(rows(library).isEmpty)
    }

    @Test(arguments: StoreKind.persistent)  // 220
    func objectTrumpUpdatesTheExistingRow(kind: StoreKind) throws {
        let (library, other) = try libraryWithAda(kind, NSMergePolicy.mergeByPropertyObjectTrump)
        other.author("Ada", born: 2)
        try other.save()
        #expect(rows(library) == [["Ada", "2"]])
        #expect(!other.hasChanges)
        #expect(try other.authors().map(\.born) == [2])
    }

    @Test(arguments: StoreKind.persistent)  // 220
    func objectTrumpKeepsTheRelationshipsOfTheNewObject(kind: StoreKind) throws {
        let (library, other) = try libraryWithAda(kind, NSMergePolicy.mergeByPropertyObjectTrump)
        let ada = other.author("Ada", born: 2)
        other.book("Notes", by: ada)
        try other.save()
        let fresh = library.newContext()
        let authors = try fresh.authors()
        #expect(authors.count == 1)
        #expect(authors.first?.books.map(\.title) == ["Notes"])
    }

    @Test(arguments: StoreKind.persistent)  // 212, 219
    func storeTrumpKeepsTheExistingRow(kind: StoreKind) throws {
        let (library, other) = try libraryWithAda(kind, NSMergePolicy.mergeByPropertyStoreTrump)
        other.author("Ada", born: 2)
        try other.save()
        #expect(rows(library) == [["Ada", "1"]])
        #expect(!other.hasChanges)
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func storeTrumpGivesTheExistingObjectTheRelationshipsOfTheNewOne(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        let old = context.author("Ada", born: 1)
        context.book("Old", by: old)
        try context.save()
        let other = library.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let book = other.book("New", by: other.author("Ada", born: 2))
        try other.save()
        #expect(book.author?.objectID == old.objectID)
        #expect(rows(library) == [["Ada", "1"]])
        let books = library.tables.column("SELECT {title} FROM {book} WHERE {author_id} IS NOT NULL ORDER BY {title}")
        #expect(books == ["New", "Old"])
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func ofDuplicatesInOneContextTheOneThatStaysGetsTheRelationships(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let books = ["A", "B"].map { context.book($0, by: context.author("Ada")) }
        try context.save()
        #expect(rows(library).count == 1)
        #expect(books[0].author != nil)
        #expect(books[0].author === books[1].author)
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func aChangeIntoADuplicateIsRefused(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        let ada = context.author("Ada")
        context.author("Bob")
        try context.save()
        ada.name = "Bob"
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        #expect(rows(library).map { $0[0] } == ["Ada", "Bob"])
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func missingValuesAreNoDuplicates(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        context.author(nil)
        context.author(nil)
        try context.save()
        #expect(rows(library).count == 2)
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func namesMayBeExchangedOrTakenFromADeletedObject(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        let ada = context.author("Ada", born: 1)
        let bob = context.author("Bob", born: 2)
        try context.save()
        ada.name = "Bob"
        bob.name = "Ada"
        try context.save()
        #expect(rows(library) == [["Ada", "2"], ["Bob", "1"]])
        context.delete(ada)
        context.author("Bob", born: 3)
        try context.save()
        #expect(rows(library) == [["Ada", "2"], ["Bob", "3"]])
    }

    @Test(arguments: StoreKind.persistent)  // 219
    func severalViolationsGiveOneConflictEach(kind: StoreKind) throws {
        let library = try Library(kind, uniqueNames: true)
        let context = library.context
        context.author("Ada")
        context.author("Bob")
        try context.save()
        let other = library.newContext()
        other.author("Ada")
        other.author("Bob")
        let error = #expect(throws: CocoaError.self) { try other.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(Set(conflicts?.compactMap { $0.constraintValues["name"] as? String } ?? []) == ["Ada", "Bob"])
    }

    @Test(arguments: StoreKind.persistent)  // 223
    func subentitiesInheritConstraints(kind: StoreKind) throws {
        let plant = NSEntityDescription(
            "Plant", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        plant.uniquenessConstraints = [["name"]]
        let tree = NSEntityDescription(
            "Tree", class: "NSManagedObject", [NSAttributeDescription("height", .doubleAttributeType)])
        plant.subentities = [tree]
        let model = NSManagedObjectModel()
        model.entities = [plant, tree]
        let folder = try TemporaryFolder()
        let file = folder.file("plants.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: kind.url(file))
        let context = coordinator.newContext()
        for entity in ["Plant", "Tree"] {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue("Oak", forKey: "name")
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(StoreTables(kind, file).value("SELECT count(*) FROM {plant}") == "0")
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
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(uniqueNames: true))
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(
                ofType: "ConstraintTests.NodeStore", configurationName: nil, at: folder.file("nodes"))
        }
        #expect((error as NSError?)?.localizedDescription.contains("Author(name)") == true)
        #expect(coordinator.persistentStores.isEmpty)
    }
}
