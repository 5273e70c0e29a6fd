import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Stores of Apple's framework, brought to the other versions of their models.
    struct MigrationTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private static var automatic: [AnyHashable: Any] {
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        }

        /// The names of a store and of a version of its model.
        private static func step(_ store: FixtureStore, _ model: FixtureModel) -> String {
            func name(_ path: String) -> String {
                URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            }
            return "\(name(store.path)) to \(name(model.path))"
        }

        /// The steps whose changes follow no pattern: they take a to-one relationship back in.
        private static let refused: Set<String> = [
            "Bookmarks_V5 to BookmarksModel 2", "Bookmarks_V5 to BookmarksModel 3",
            "Bookmarks_V5 to BookmarksModel",
        ]

        /// Steps that take a required attribute back in, of which objects have no value.
        private static let refusedForTheirObjects: Set<String> = ["SampleModel_V2 to SampleModel"]

        /// All steps from a store's model to another version of it, drawn in Xcode.
        private func steps(of store: FixtureStore) throws -> [(own: NSManagedObjectModel, other: FixtureModel)] {
            let original = try store.copy(to: folder)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: original)
            guard let fixture = try store.models(fitting: metadata).first(where: { $0.path.hasSuffix(".xcdatamodel") })
            else { return [] }
            let family = URL(fileURLWithPath: fixture.path).deletingLastPathComponent().path
            return try FixtureModel.all.compactMap { other in
                guard URL(fileURLWithPath: other.path).deletingLastPathComponent().path == family else { return nil }
                let own = try fixture.read()
                if try other.read().entityVersionHashesByName == own.entityVersionHashesByName { return nil }
                return (own, other)
            }
        }

        @Test(arguments: FixtureStore.some) func simpleChangesKeepEveryValue(store: FixtureStore) throws {  // 278
            for (own, other) in try steps(of: store) {
                let step = Self.step(store, other)
                let url = try store.copy(to: folder)
                let former = try Stack(own, url)
                let new = try other.read()
                let mapping: NSMappingModel
                do {
                    mapping = try NSMappingModel.inferredMappingModel(forSourceModel: own, destinationModel: new)
                } catch {
                    #expect(Self.refused.contains(step), "\(step): \(error)")
                    #expect((error as NSError).code == NSInferredMappingModelError)
                    try former.close()
                    continue
                }
                #expect(!Self.refused.contains(step), "\(step)")
                if Self.refusedForTheirObjects.contains(step) {
                    try former.close()
                    let content = try SQLiteFile(url).cells("SELECT * FROM ZPERSON")
                    let error = #expect(throws: CocoaError.self) { try Stack(new, url, options: Self.automatic) }
                    #expect(error?.code == .migration)
                    #expect(!content.isEmpty)
                    #expect(try SQLiteFile(url).cells("SELECT * FROM ZPERSON") == content)
                    continue
                }
                var expected: [String: [String: String]] = [:]
                for entity in mapping.entityMappings {
                    guard let source = entity.sourceEntityName.flatMap({ own.entitiesByName[$0] }),
                        let destination = entity.destinationEntityName
                    else { continue }
                    for object in try former.objects(source) {
                        var values: [String: String] = [:]
                        for property in entity.attributeMappings ?? [] {
                            guard let name = property.name, let path = property.valueExpression?.description else {
                                continue
                            }
                            values[name] = text(object.value(forKey: String(path.dropFirst("$source.".count))))
                        }
                        expected["\(destination)/p\(object.key)"] = values
                    }
                }
                try former.close()

                let stack = try Stack(new, url, options: Self.automatic)
                var found = 0
                for entity in new.concreteEntities {
                    for object in try stack.objects(entity) {
                        found += 1
                        let values = try #require(expected[object.place], "\(step): \(object.place) came from nowhere")
                        for (name, value) in values {
                            #expect(text(object.value(forKey: name)) == value, "\(step): \(object.place).\(name)")
                        }
                    }
                }
                #expect(found == expected.count, "\(step)")
                try stack.close()
                let raw = SQLiteFile(url)
                #expect(try raw.strings("PRAGMA integrity_check") == ["ok"])
                #expect(try raw.cells("PRAGMA foreign_key_check").isEmpty)
                // The same tables and columns as a new store has.
                let fresh = folder.file("fresh-\(UUID().uuidString).sqlite")
                try Stack(other.read(), fresh).close()
                #expect(raw.schemaByName() == SQLiteFile(fresh).schemaByName(), "\(step)")
            }
        }

        private func text(_ value: Any?) -> String {
            switch value {
            case let data as Data: data.base64EncodedString()
            case let number as NSNumber: number.stringValue
            case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
            case let value?: "\(value)"
            case nil: "nil"
            }
        }

        /// Books and pages with a history of 5,468 changes, triggers for a derived attribute,
        /// uniqueness constraints.
        @Test func historyDerivedAttributesAndConstraintsOfAStoreSurvive() throws {
            let store = try #require(FixtureStore.all.first { $0.path.hasSuffix("SampleModel2_V1.sqlite") })
            let url = try store.copy(to: folder)
            let own = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url).forTesting()
            let raw = SQLiteFile(url)
            let changes =
                "SELECT n.Z_NAME, c.ZENTITYPK, c.ZCHANGETYPE, c.ZTRANSACTIONID FROM ACHANGE c JOIN Z_PRIMARYKEY n ON "
                + "n.Z_ENT = c.ZENTITY "
                + "ORDER BY c.Z_PK"
            let history = try raw.cells(changes)
            let former = try Stack(own, url)
            let counts = try former.objects(try #require(own.entitiesByName["Book"])).map {
                "\($0.value(forKey: "pagesCount") ?? "")"
            }
            try former.close()
            #expect(counts.contains { (Int($0) ?? 0) > 10 })

            let new = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url).forTesting()
            let added = NSEntityDescription()
            added.name = "Aaa"
            let book = try #require(new.entitiesByName["Book"])
            let note = NSAttributeDescription("note", .stringAttributeType, optional: false, default: "none")
            let constraints = book.uniquenessConstraints
            book.properties += [note]
            book.uniquenessConstraints = constraints
            new.entities += [added]
            let stack = try Stack(new, url, options: Self.automatic)
            #expect(try raw.cells(changes) == history)
            #expect(raw.integer("SELECT count(*) FROM ACHANGE WHERE ZENTITY = 1") == 0)
            #expect(try raw.strings("PRAGMA integrity_check") == ["ok"])
            let books = try stack.objects(book)
            #expect(books.map { "\($0.value(forKey: "pagesCount") ?? "")" } == counts)
            #expect(books.allSatisfy { $0.value(forKey: "note") as? String == "none" })
            let first = try #require(books.first)
            let page = try #require((first.value(forKey: "pages") as? Set<NSManagedObject>)?.first)
            let before = try #require(first.value(forKey: "pagesCount") as? Int)
            stack.context.delete(page)
            try stack.context.save()
            stack.context.refreshAllObjects()
            #expect(first.value(forKey: "pagesCount") as? Int == before - 1)
            try stack.close()
        }

        /// Both stores are there: one that Apple's framework migrated in place, and the one that it
        /// came from.
        @Test func theResultIsThatOfApplesMigration() throws {  // 280
            let stores = FixtureStore.all.filter { $0.path.contains("SampleModel_V") }
            let first = try #require(stores.first { $0.path.hasSuffix("V1.sqlite") }).copy(to: folder)
            let second = try #require(stores.first { $0.path.hasSuffix("V2.sqlite") }).copy(to: folder)
            let version = try #require(
                FixtureModel.all.first {
                    $0.path.hasSuffix("SampleModel/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel")
                })
            try Stack(version.read(), first, options: Self.automatic).close()
            let ours = SQLiteFile(first), apples = SQLiteFile(second)
            for table in ["ZCAR", "ZPERSON"] {
                let columns = try apples.columns(of: table).sorted()
                #expect(try ours.columns(of: table).sorted() == columns)
                let rows = "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY Z_PK"
                #expect(try ours.cells(rows) == apples.cells(rows), "\(table)")
            }
            let numbers = "SELECT Z_ENT, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"
            #expect(try ours.cells(numbers) == apples.cells(numbers))
        }
    }
}
