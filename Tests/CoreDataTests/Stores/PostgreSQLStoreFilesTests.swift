import CoreData
import TestSupport
import Testing

/// Stores in PostgreSQL that no coordinator has: metadata, model, removal and copies.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct PostgreSQLStoreFilesTests {
    let store: MigratedStore
    let tables: PostgreSQLTables
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())

    init() throws {
        store = try MigratedStore(.postgreSQL)
        tables = PostgreSQLTables(store.url)
    }

    private var library: NSManagedObjectModel {
        let shelf = entity("Shelf", text("name")), book = entity("Book", text("title"))
        let paperback = entity("Paperback", NSAttributeDescription("cover", .binaryDataAttributeType))
        book.subentities = [paperback]
        relate(shelf, "books", toMany: true, ordered: true, book, inverse: "shelf")
        relate(shelf, "marks", toMany: true, book, inverse: "markers", inverseToMany: true)
        let count = NSDerivedAttributeDescription()
        count.name = "bookCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "books.@count")
        shelf.properties += [count]
        return model(shelf, book, paperback)
    }

    private func fill(_ store: MigratedStore) throws {
        try store.open(library) { context in
            for name in ["A", "B"] {
                let shelf = context.insert("Shelf", ["name": name])
                let books = (1...80).map {
                    context.insert($0 % 2 == 0 ? "Book" : "Paperback", ["title": "\(name)\($0)"])
                }
                shelf.setValue(NSOrderedSet(array: books.reversed()), forKey: "books")
                shelf.setValue(Set(books.prefix(3)), forKey: "marks")
            }
        }
    }

    private var type: String { StoreKind.postgreSQL.type }

    // MARK: - Metadata and model

    @Test func metadataAreReadAndReplacedWithoutOpening() throws {
        try fill(store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: store.url)
        let uuid = try #require(metadata[NSStoreUUIDKey] as? String)
        #expect(uuid == tables.value("SELECT uuid FROM ocd_store"))
        #expect(library.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        metadata["origin"] = "import"
        metadata[NSStoreUUIDKey] = nil
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: store.url)
        let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: store.url)
        #expect(again["origin"] as? String == "import")
        #expect(again[NSStoreUUIDKey] as? String == uuid)
    }

    @Test func theModelInTheStoreIsFoundByItsURL() throws {
        try fill(store)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        #expect(model.entityVersionHashesByName == library.entityVersionHashesByName)
    }

    @Test func whereThereIsNoStoreTheErrorSaysSo() throws {
        let error = try #require(
            errorThrown { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: store.url) }
        )
        #expect(error.code == CocoaError.fileReadNoSuchFile.rawValue)
        #expect(error.localizedDescription.contains(tables.schema), "\(error.localizedDescription)")
        #expect(throws: (any Error).self) {
            try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        }
    }

    @Test func errorsShowNoPassword() throws {
        let url = try #require(URL(string: "postgresql://app:tellnobody@/app?host=/nowhere/at/all"))
        for error in [
            errorThrown { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url) },
            errorThrown { try coordinator.destroyPersistentStore(at: url, ofType: type) },
            errorThrown {
                try coordinator.replacePersistentStore(
                    at: url, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil, ofType: type)
            },
            errorThrown { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) },
        ] {
            let error = try #require(error)
            #expect(!"\(error) \(error.userInfo)".contains("tellnobody"), "\(error)")
        }
    }

    // MARK: - Removal

    @Test func aDestroyedStoreLeavesNothing() throws {
        try fill(store)
        try coordinator.destroyPersistentStore(at: store.url, ofType: type)
        #expect(tables.structure.isEmpty)
        #expect(tables.value("SELECT to_regnamespace('\"\(tables.schema)\"')") == nil)
        // The second time there is none.
        try coordinator.destroyPersistentStore(at: store.url, ofType: type)
        try fill(store)
        #expect(tables.integer("SELECT count(*) FROM book") == 160)
    }

    @Test func whatOthersHaveInTheSchemaStays() throws {
        try fill(store)
        #expect(
            tables.execute(
                """
                CREATE TABLE notes (x int); INSERT INTO notes VALUES (7); CREATE VIEW seen AS SELECT x FROM notes; \
                CREATE FUNCTION answer() RETURNS int LANGUAGE sql AS 'SELECT 42'
                """))
        try coordinator.destroyPersistentStore(at: store.url, ofType: type)
        #expect(tables.tables == ["notes"])
        #expect(tables.integer("SELECT x + answer() FROM seen") == 49)
    }

    @Test func viewsOfOthersOnAStoreKeepItFromBeingDestroyed() throws {
        try fill(store)
        #expect(tables.execute("CREATE VIEW titles AS SELECT title FROM book"))
        let before = tables.content
        let error = try #require(errorThrown { try coordinator.destroyPersistentStore(at: store.url, ofType: type) })
        #expect(error.localizedDescription.contains("titles"), "\(error.localizedDescription)")
        #expect(tables.content == before)
    }

    @Test func aStoreWithoutAReadableModelIsDestroyedByForceOnly() throws {
        try fill(store)
        #expect(tables.execute("UPDATE ocd_model SET content = 'nothing'; CREATE TABLE notes (x int)"))
        let before = tables.content
        let error = try #require(errorThrown { try coordinator.destroyPersistentStore(at: store.url, ofType: type) })
        #expect(error.localizedRecoverySuggestion?.contains("NSPersistentStoreForceDestroyOption") == true, "\(error)")
        #expect(tables.content == before)
        try coordinator.destroyPersistentStore(
            at: store.url, ofType: type, options: [NSPersistentStoreForceDestroyOption: true])
        #expect(tables.tables == ["notes"])
    }

    @Test func inADatabaseThatDoesNotExistThereIsNothingToDestroy() throws {
        let text = store.url.absoluteString.replacingOccurrences(of: "/app?", with: "/nodatabase?")
        try coordinator.destroyPersistentStore(at: try #require(URL(string: text)), ofType: type)
    }

    // MARK: - Copies

    private func replace(_ target: MigratedStore) throws {
        try coordinator.replacePersistentStore(
            at: target.url, destinationOptions: nil, withPersistentStoreFrom: store.url, sourceOptions: nil,
            ofType: type)
    }

    @Test(arguments: [true, false]) func aStoreIsCopiedOverAnother(isThere: Bool) throws {
        try fill(store)
        let target = try MigratedStore(.postgreSQL)
        if isThere { try target.open(model(entity("Other", text("name")))) { $0.insert("Other") } }
        try replace(target)
        func content(_ store: MigratedStore) -> [String: [[String?]]] {
            // The text of the schema is in none but this.
            PostgreSQLTables(store.url).content
        }
        #expect(content(target) == content(store))
        let titles = try target.open(library) { context in
            let shelf = try context.objects("Shelf", by: "name")[1]
            context.insert("Book", ["title": "new", "shelf": shelf])
            try context.save()
            context.refreshAllObjects()
            #expect(shelf.value(forKey: "bookCount") as? Int == 81)
            return (shelf.value(forKey: "books") as? NSOrderedSet)?.prefix(2).map {
                ($0 as? NSManagedObject)?.value(forKey: "title") as? String
            }
        }
        #expect(titles == ["B80", "B79"])
    }

    @Test func aStoreIsNotReplacedByItselfNorByNothing() throws {
        #expect(throws: (any Error).self) { try replace(try MigratedStore(.postgreSQL)) }
        try fill(store)
        let before = tables.content
        let error = try #require(errorThrown { try replace(store) })
        #expect(error.localizedDescription.contains("by itself"), "\(error)")
        #expect(tables.content == before)
    }

    @Test func aTableOfOthersIsNotReplaced() throws {
        try fill(store)
        let target = try MigratedStore(.postgreSQL)
        let others = PostgreSQLTables(target.url)
        #expect(
            others.execute("CREATE SCHEMA \"\(others.schema)\"; CREATE TABLE book (x int); INSERT INTO book VALUES (1)")
        )
        #expect(throws: (any Error).self) { try replace(target) }
        #expect(others.tables == ["book"])
        #expect(others.integer("SELECT x FROM book") == 1)
    }
}
