import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Stores that are made here with the models of other projects.
    struct NewStoreTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test(arguments: LongTests.some(6, of: FixtureModel.all))
        func aStoreOfEachModelKeepsWhatIsWritten(fixture: FixtureModel) throws {
            try write(try fixture.read(), again: { try fixture.read() })
        }

        @Test(arguments: LongTests.some(3, of: StoreAndModel.all.filter { $0.model == nil }))
        func aStoreOfEachStoresModelKeepsWhatIsWritten(fixture: StoreAndModel) throws {
            let original = try fixture.store.copy(to: folder)
            try write(try fixture.readModel(of: original), again: { try fixture.readModel(of: original) })
        }

        @Test func aStoreWithAttributesOfEveryTypeKeepsWhatIsWritten() throws {
            try write(Self.everyType(), again: Self.everyType)
        }

        /// Two rounds of objects of each entity, saved, read, changed, saved and read.
        private func write(_ model: NSManagedObjectModel, again: () throws -> NSManagedObjectModel) throws {
            let url = folder.file("new store.sqlite")
            let stack = try Stack(model, url)
            let maker = ObjectMaker(stack.context)
            var objects: [NSManagedObject] = []
            for _ in 0..<12 {
                for entity in model.concreteEntities { objects.append(try maker.insert(entity)) }
                maker.partners = Array(objects.suffix(2 * model.concreteEntities.count))
            }
            try stack.context.save()
            #expect(!stack.context.hasChanges)
            let made = try compare(stack, maker.assignedByPlace, url, again)
            let invariants = try StoreInvariants(try RawStore(url, model))

            for object in objects.prefix(model.concreteEntities.count * 6) { maker.fill(object) }
            try stack.context.save()
            let changed = try compare(stack, maker.assignedByPlace, url, again)
            #expect(Set(changed.keys) == Set(made.keys))
            try invariants.check(try RawStore(url, model))
            let assigned = maker.assignedByPlace
            try stack.close()
            _ = try compare(try Stack(try again(), url), assigned, url, again)

            let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url).forTesting()
            #expect(cached.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(differences(try Stack(cached, url).states(), changed) == [])
        }

        private func compare(
            _ stack: Stack, _ assigned: [String: ObjectState], _ url: URL, _ again: () throws -> NSManagedObjectModel
        ) throws -> [String: ObjectState] {
            let states = try RawStore(url, stack.model).states()
            #expect(differences(try stack.states(), states) == [])
            let fresh = try Stack(try again(), url)
            #expect(differences(try fresh.states(), states) == [])
            for (place, state) in assigned {
                for (name, value) in state { #expect(states[place]?[name] == value, "\(place).\(name)") }
            }
            return states
        }

        /// Stores that Apple's framework has migrated: the tables that changed were made anew and
        /// stand last.
        private static let migrated = ["SampleModel_V2.sqlite", "CoreDataMigration_Example_2.sqlite"]
        /// Stores of frameworks that did not keep the model in the store.
        private static let withoutModelCache = ["SurfJournalModel.sqlite"]

        @Test(arguments: StoreAndModel.all)
        func aNewStoreHasTheSchemaThatApplesFrameworkMade(fixture: StoreAndModel) throws {
            let original = try fixture.store.copy(to: folder)
            let url = folder.file("new store.sqlite")
            // Opened and closed, so that only the format counts.
            try Stack(try fixture.readModel(of: original), url, options: try historyOption(original)).close()
            let (made, expected) = (SQLiteFile(url), SQLiteFile(original))
            // A renamed entity keeps its former name in a store that was migrated.
            let entities = "SELECT Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY rowid"
            #expect(try made.cells(entities) == expected.cells(entities))
            #expect(try made.cells("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT >= 16000").isEmpty)
            let name = original.lastPathComponent
            var statements = try statements(made)
            if Self.withoutModelCache.contains(name) { statements.removeAll { $0.contains("TABLE Z_MODELCACHE ") } }
            if Self.migrated.contains(name) {
                #expect(try statements.sorted() == self.statements(expected).sorted())
            } else {
                #expect(try statements == self.statements(expected))
            }
        }

        /// The statements that make a store, in their order, but with the indexes of each table
        /// sorted: those of attributes that are marked as indexed come in no order that their model
        /// explains.
        private func statements(_ database: SQLiteFile) throws -> [String] {
            var result: [String] = []
            var indexes: [String] = []
            let rows = try database.strings(
                "SELECT type || '|' || tbl_name || '|' || sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
            for row in rows {
                let table = { (row: String) in row.split(separator: "|", maxSplits: 2)[1] }
                if let last = indexes.last, table(last) != table(row) || !row.hasPrefix("index|") {
                    result += indexes.sorted()
                    indexes = []
                }
                if row.hasPrefix("index|") { indexes.append(row) } else { result.append(row) }
            }
            return result + indexes.sorted()
        }

        private func historyOption(_ original: URL) throws -> [AnyHashable: Any]? {
            let tables = try SQLiteFile(original).strings("SELECT name FROM sqlite_master")
            return tables.contains("ACHANGE") ? [NSPersistentHistoryTrackingKey: true] : nil
        }

        /// Two entities with attributes of every type, and relationships of every kind to
        /// themselves and each other.
        static func everyType() -> NSManagedObjectModel {
            let types: [(String, NSAttributeType)] = [
                ("aShort", .integer16AttributeType), ("aLong", .integer32AttributeType),
                ("aVeryLong", .integer64AttributeType), ("aDecimal", .decimalAttributeType),
                ("aDouble", .doubleAttributeType), ("aFloat", .floatAttributeType), ("aString", .stringAttributeType),
                ("aTruth", .booleanAttributeType), ("aDate", .dateAttributeType),
                ("someData", .binaryDataAttributeType),
                ("anIdentifier", .UUIDAttributeType), ("anAddress", .URIAttributeType),
                ("aThing", .transformableAttributeType),
            ]
            let node = NSEntityDescription()
            node.name = "Node"
            node.properties = types.map { name, type in
                let attribute = NSAttributeDescription(name, type)
                if type == .transformableAttributeType { attribute.valueTransformerName = "StoredBytesOfFixtureTests" }
                return attribute
            }
            let large = NSAttributeDescription("largeData", .binaryDataAttributeType)
            large.allowsExternalBinaryDataStorage = true
            let required = NSAttributeDescription("required", .stringAttributeType, optional: false)
            node.properties += [large, required]
            let leaf = NSEntityDescription()
            leaf.name = "Leaf"
            leaf.properties = [NSAttributeDescription("veins", .integer64AttributeType)]
            node.subentities = [leaf]
            relate(node, "children", toMany: true, ordered: true, node, inverse: "parent")
            relate(node, "friends", toMany: true, node, inverse: "friendsOf", inverseToMany: true)
            relate(node, "favorites", toMany: true, ordered: true, leaf, inverse: "favoriteOf", inverseToMany: true)
            relate(node, "partner", leaf, inverse: "partnerOf")
            let model = NSManagedObjectModel()
            model.entities = [node, leaf]
            return model.forTesting()
        }
    }
}
