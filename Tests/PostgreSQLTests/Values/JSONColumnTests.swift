import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Attributes whose bytes are JSON, in columns of the type `jsonb`.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct JSONColumnTests {
    private let warehouse: Warehouse
    private let tables: PostgreSQLTables
    private var context: NSManagedObjectContext { warehouse.context }

    init() throws {
        warehouse = try Warehouse(Self.model())
        tables = PostgreSQLTables(warehouse.url)
    }

    private static func json(_ name: String, optional: Bool = true, default value: String? = nil)
        -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription(
            name, .binaryDataAttributeType, optional: optional, default: value.map { Data($0.utf8) })
        attribute.holdsJSON = true
        return attribute
    }

    private static func model(adding attributes: [NSAttributeDescription] = []) -> NSManagedObjectModel {
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject",
            [
                NSAttributeDescription("title", .stringAttributeType), json("content"), json("key"),
                NSAttributeDescription("bytes", .binaryDataAttributeType),
            ] + attributes)
        note.uniquenessConstraints = [["key"]]
        return NSManagedObjectModel([note])
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    private func text(_ value: Any?) -> String? { (value as? Data).map { String(decoding: $0, as: UTF8.self) } }

    private func insert(_ notes: (title: String, content: String?)...) throws {
        try context.performAndWait {
            for note in notes {
                let object = context.insert("Note", ["title": note.title])
                object.setValue(note.content.map { Data($0.utf8) }, forKey: "content")
            }
            try context.save()
        }
    }

    private func contents(_ context: NSManagedObjectContext) throws -> [String?] {
        try context.performAndWait { try context.all("Note", by: "title").map { text($0.value(forKey: "content")) } }
    }

    private func titles(_ predicate: NSPredicate, in context: NSManagedObjectContext? = nil) throws -> [String?] {
        let context = context ?? self.context
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = predicate
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).map { $0.text("title") }
        }
    }

    // MARK: Columns and hashes

    @Test func whatIsSaidToBeJSONChangesNoHashAndIsCopied() throws {
        let attribute = Self.json("content")
        let plain = NSAttributeDescription("content", .binaryDataAttributeType)
        #expect(attribute.versionHash == plain.versionHash)
        let copy = try #require(Self.model().copy() as? NSManagedObjectModel)
        #expect(copy.entitiesByName["Note"]?.attributesByName["content"]?.holdsJSON == true)
        #expect(copy.entitiesByName["Note"]?.attributesByName["bytes"]?.holdsJSON == false)
    }

    @Test func onlyBytesOfJSONAreColumnsOfJSON() {
        let types =
            "SELECT column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = "
            + "'\(warehouse.schema)' "
        #expect(
            tables.column(types + "AND table_name = 'note' AND column_name IN ('bytes', 'content', 'key') ORDER BY 1")
                == [
                    "bytes bytea", "content jsonb", "key jsonb",
                ])
    }

    // MARK: Values

    @Test func objectsHaveTheBytesThatAreReadBack() throws {
        let long = String(repeating: "é", count: 100_000)
        try insert(("a", #"{ "bb": 1.50, "a": [1e2, "\u00e9\/"] }"#), ("b", "null"), ("c", nil), ("d", "\"\(long)\""))
        let expected = [#"{"a":[100,"é/"],"bb":1.5}"#, "null", nil, "\"\(long)\""]
        #expect(try contents(context) == expected)
        let other = try warehouse.otherProgram()
        #expect(try contents(other) == expected)
        #expect(tables.integer("SELECT count(*) FROM note WHERE content IS NULL") == 1)
    }

    @Test(arguments: [
        ("x", "is no JSON"), ("", "is no JSON"), ("{\"a\":1", "is no JSON"), ("\u{0}", "is no JSON"),
        (#"["\u0000"]"#, "U+0000"),
        ("1e200000", "more digits"),
    ]) func bytesThatAreNotJSONAreRefused(bytes: String, reason: String) throws {
        for count in [1, 2_000] {
            context.performAndWait {
                for _ in 0..<count { _ = context.insert("Note", ["content": Data(bytes.utf8)]) }
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(
                    error?.localizedDescription.contains("'content' of 'Note'") == true, "\(String(describing: error))")
                #expect(error?.localizedDescription.contains(reason) == true)
                context.rollback()
            }
        }
        try insert(("a", "1"))
        try context.performAndWait {
            try context.all("Note").first?.setValue(Data(bytes.utf8), forKey: "content")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("'content' of 'Note'") == true)
        }
        #expect(tables.rows("SELECT content::text, version FROM note") == [["1", "1"]])
    }

    @Test func batchesRefuseBytesThatAreNotJSON() throws {
        try insert(("a", "1"))
        context.performAndWait {
            let insertion = NSBatchInsertRequest(entityName: "Note", objects: [["title": "b", "content": data("x")]])
            let refused = #expect(throws: NSError.self) { try context.execute(insertion) }
            #expect(
                refused?.localizedDescription.contains("'content' of 'Note'") == true, "\(String(describing: refused))")
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.propertiesToUpdate = ["content": data("x")]
            let error = #expect(throws: NSError.self) { try context.execute(update) }
            #expect(error?.localizedDescription.contains("is no JSON") == true, "\(String(describing: error))")
        }
        #expect(tables.rows("SELECT title, content::text FROM note") == [["a", "1"]])
    }

    @Test func theSameValueInOtherWordsIsNoChange() throws {
        try insert(("a", #"{"a":1,"b":2}"#))
        try context.performAndWait {
            let note = try #require(try context.all("Note").first)
            note.setValue(data(#"{"b": 2.0, "a": 1e0}"#), forKey: "content")
            #expect(!note.hasPersistentChangedValues)
            try context.save()
        }
        #expect(tables.integer("SELECT version FROM note") == 1)
    }

    // MARK: Two programs

    @Test func changesOfTwoProgramsAreAConflict() throws {
        try insert(("a", #"{"bb":1,"c":10000000000000000}"#))
        let other = try warehouse.otherProgram()
        let note = try other.performAndWait {
            let note = try #require(try other.all("Note").first)
            #expect(text(note.value(forKey: "content")) == #"{"bb":1,"c":10000000000000000}"#)
            return note
        }
        try context.performAndWait {
            try context.all("Note").first?.setValue(data("[1]"), forKey: "content")
            try context.save()
        }
        try other.performAndWait {
            note.setValue(data("[2]"), forKey: "content")
            let error = #expect(throws: NSError.self) { try other.save() }
            let conflict = (error?.userInfo["conflictList"] as? [NSMergeConflict])?.first
            #expect(text(conflict?.persistedSnapshot?["content"] ?? conflict?.cachedSnapshot?["content"]) == "[1]")
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try other.save()
        }
        #expect(tables.value("SELECT content::text FROM note") == "[2]")
    }

    // MARK: Predicates and results

    @Test func predicatesCompareValues() throws {
        try insert(("a", #"{"bb":1,"c":1.5}"#), ("b", "[1,2]"), ("c", nil), ("d", #""text""#))
        let other = #"{ "c": 1.50, "bb": 1 }"#
        #expect(try titles(NSPredicate(format: "content == %@", data(other) as NSData)) == ["a"])
        #expect(try titles(NSPredicate(format: "content != %@", data(other) as NSData)) == ["b", "c", "d"])
        #expect(
            try titles(NSPredicate(format: "content IN %@", [data("[1,2]"), data(#""text""#), data("7")])) == [
                "b", "d",
            ])
        #expect(try titles(NSPredicate(format: "content IN %@", ["0", "1", "2", "3", "[1, 2]"].map(data))) == ["b"])
        #expect(try titles(NSPredicate(format: "content == nil")) == ["c"])
        #expect(try titles(NSPredicate(format: "content == key OR content == bytes")) == ["c"])
        let error = #expect(throws: NSError.self) {
            try titles(NSPredicate(format: "content == %@", Data([0]) as NSData))
        }
        let sentence = "bytes that are no JSON cannot be compared with JSON"
        #expect(error?.localizedDescription.contains(sentence) == true, "\(String(describing: error))")
    }

    @Test func dictionariesHaveTheValues() throws {
        try insert(("a", #"{"bb":1,"a":2}"#), ("b", #"{"a":2,"bb":1}"#))
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.returnsDistinctResults = true
            let least = NSExpressionDescription(
                "least", NSExpression(forFunction: "min:", arguments: [NSExpression(forKeyPath: "content")]),
                .binaryDataAttributeType)
            request.propertiesToFetch = ["content"]
            let distinct = try context.fetch(request).map { text($0["content"]) }
            #expect(distinct == [#"{"a":2,"bb":1}"#])
            request.propertiesToGroupBy = ["content"]
            request.propertiesToFetch = ["content", least]
            let groups = try context.fetch(request).map { text($0["least"]) }
            #expect(groups == [#"{"a":2,"bb":1}"#])
        }
    }

    @Test func batchesChangeColumns() throws {
        try insert(("a", "[1]"), ("b", nil))
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = NSPredicate(format: "content == %@", data("[1.0]") as NSData)
            update.propertiesToUpdate = [
                "content": data(#"{"new": true}"#), "key": NSExpression(forKeyPath: "content"),
            ]
            update.resultType = .updatedObjectsCountResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            #expect(result?.result as? Int == 1)
        }
        #expect(
            tables.rows("SELECT content->>'new', key::text, version FROM note WHERE title = 'a'") == [
                ["true", "[1]", "2"]
            ])
    }

    @Test func uniqueValuesAreTheSameInOtherWords() throws {
        try context.performAndWait {
            _ = context.insert("Note", ["title": "a", "key": data(#"{"a":1,"b":2}"#)])
            try context.save()
            let again = context.insert("Note", ["title": "b", "key": data(#"{"b":2,"a":1}"#)])
            let error = #expect(throws: NSError.self) { try context.save() }
            let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
            #expect(conflict?.constraint == ["key"], "\(String(describing: error))")
            context.delete(again)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let rows: [[String: Any]] = [
                ["title": "c", "key": data(#"{"b":2, "a":1}"#)], ["title": "d", "key": data("[1]")],
                ["title": "e", "key": data("[ 1.0 ]")],
            ]
            _ = try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
        }
        #expect(tables.column("SELECT title FROM note ORDER BY 1") == ["c", "e"])
    }

    // MARK: Migrations and copies

    private static let automatic: [String: Bool] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]

    private func migrated(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: warehouse.url, options: Self.automatic)
        let context = coordinator.newContext()
        return context
    }

    @Test func aMigrationFillsColumnsOfJSON() throws {
        try insert(("a", "[1]"), ("b", nil))
        let model = Self.model(adding: [Self.json("added", optional: false, default: #"{"b":1,"a":"'"}"#)])
        let content = try #require(model.entitiesByName["Note"]?.attributesByName["content"])
        content.isOptional = false
        content.defaultValue = data("[0]")
        let later = try migrated(model)
        try later.performAndWait {
            let notes = try later.all("Note", by: "title")
            #expect(notes.map { text($0.value(forKey: "content")) } == ["[1]", "[0]"])
            #expect(notes.map { text($0.value(forKey: "added")) } == [#"{"a":"'","b":1}"#, #"{"a":"'","b":1}"#])
        }
        #expect(tables.column("SELECT added->>'b' || (content->>0) FROM note ORDER BY title") == ["11", "10"])
    }

    @Test func aMigrationIntoAnotherTableTakesTheColumnsAlong() throws {
        try insert(("a", "[1]"), ("b", nil))
        let model = Self.model()
        let note = try #require(model.entitiesByName["Note"])
        let paper = NSEntityDescription(
            "Paper", class: "NSManagedObject", [NSAttributeDescription("colour", .stringAttributeType)])
        paper.subentities = [note]
        model.entities = [paper, note]
        let later = try migrated(model)
        #expect(try contents(later) == ["[1]", nil])
        #expect(tables.column("SELECT content->>0 FROM paper ORDER BY title") == ["1", nil])
    }

    @Test func aModelThatDoesNotSayJSONReadsTheColumns() throws {
        try insert(("a", #"{"bb":1,"a":2}"#))
        let plain = Self.model()
        for attribute in plain.entities[0].attributesByName.values { attribute.holdsJSON = false }
        let other = try migrated(plain)
        try other.performAndWait {
            let note = try #require(try other.all("Note").first)
            #expect(text(note.value(forKey: "content")) == #"{"a":2,"bb":1}"#)
            note.setValue(data("[7]"), forKey: "content")
            try other.save()
            note.setValue(Data([1]), forKey: "content")
            let error = #expect(throws: NSError.self) { try other.save() }
            #expect(error?.localizedDescription.contains("'content' of 'Note'") == true)
        }
        #expect(tables.value("SELECT content->>0 FROM note") == "7")
    }

    @Test func storesAreCopied() throws {
        try insert(("a", #"{"bb":1,"a":2}"#), ("b", nil))
        let folder = try TemporaryFolder()
        let server = try WireConnection.server()
        let (file, schema) = (folder.file("notes.sqlite"), server.url(schema: server.newSchemaName()))
        let inFile = try warehouse.coordinator.migratePersistentStore(
            warehouse.store, to: file, options: nil, withType: NSSQLiteStoreType)
        #expect(
            SQLiteFile(file).column("SELECT CAST(ZCONTENT AS TEXT) FROM ZNOTE ORDER BY ZTITLE") == [
                #"{"a":2,"bb":1}"#, nil,
            ])
        _ = try warehouse.coordinator.migratePersistentStore(
            inFile, to: schema, options: nil, withType: NSPostgreSQLStoreType)
        #expect(PostgreSQLTables(schema).column("SELECT content->>'bb' FROM note ORDER BY title") == ["1", nil])
        // From one server to another, without the program's model.
        let replaced = server.url(schema: server.newSchemaName())
        try warehouse.coordinator.replacePersistentStore(
            at: replaced, destinationOptions: nil, withPersistentStoreFrom: schema, sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
        #expect(PostgreSQLTables(replaced).column("SELECT content->>'bb' FROM note ORDER BY title") == ["1", nil])
    }

    // MARK: Tables of others

    private static let documents = """
        CREATE TABLE documents (id bigserial PRIMARY KEY, body jsonb, old bytea, lock_version integer NOT NULL \
        DEFAULT 0);
        INSERT INTO documents (body, old) VALUES ('{"bb": 1.0, "a": "x"}', '{"b":1}')
        """

    private static func documentModel(isJSON: Bool = true) -> NSManagedObjectModel {
        let document = NSEntityDescription("Document", class: "NSManagedObject", [json("body"), json("old")])
        if !isJSON { document.attributesByName["body"]?.holdsJSON = false }
        document.userInfo = ["ocd.table": "documents", "ocd.version": "lock_version"]
        return NSManagedObjectModel([document])
    }

    @Test func tablesOfOthersHaveColumnsOfJSON() throws {
        let shop = try ExternalShop(sql: Self.documents, model: Self.documentModel())
        try shop.context.performAndWait {
            let document = try #require(try shop.context.all("Document").first)
            #expect(text(document.value(forKey: "body")) == #"{"a":"x","bb":1}"#)
            #expect(text(document.value(forKey: "old")) == #"{"b":1}"#)
            document.setValue(data(#"{"new": [1]}"#), forKey: "body")
            document.setValue(data("[2]"), forKey: "old")
            try shop.context.save()
            #expect(try shop.context.all("Document", "body != nil AND old != nil").count == 1)
        }
        #expect(try shop.texts("SELECT body->>'new' || convert_from(old, 'UTF8') FROM documents") == ["[1][2]"])
        let other = try shop.otherProgram()
        try other.performAndWait {
            let bodies = try other.all("Document").map { text($0.value(forKey: "body")) }
            #expect(bodies == [#"{"new":[1]}"#])
        }
    }

    @Test func plainBytesAreNotKeptInColumnsOfJSON() throws {
        let error = #expect(throws: NSError.self) {
            _ = try ExternalShop(sql: Self.documents, model: Self.documentModel(isJSON: false))
        }
        #expect(error?.localizedDescription.contains("jsonb") == true, "\(String(describing: error))")
    }
}
