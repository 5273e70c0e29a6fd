import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Stores of Apple's framework that go through all versions of their projects, in stages.
    struct StagedFixtureTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func store(_ name: String) throws -> URL {
            let store = try #require(FixtureStore.all.first { $0.path.hasSuffix(name) })
            return try store.copy(to: folder)
        }

        private func model(_ bundle: URL, _ version: String) throws -> NSManagedObjectModel {
            try NSManagedObjectModel(reading: bundle, version: version).forTesting()
        }

        private func reference(_ bundle: URL, _ version: String) throws -> NSManagedObjectModelReference {
            let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: bundle)
            return NSManagedObjectModelReference(
                fileURL: bundle, versionChecksum: try #require(checksums[version]))
        }

        private func migrate(
            _ url: URL, to model: NSManagedObjectModel, _ stages: [NSMigrationStage], _ mapping: NSMappingModel? = nil
        ) throws {
            var options: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages),
            ]
            options[StoreMigration.mappingModelsOption] = mapping.map { [$0] }
            try Stack(model, url, options: options).close()
            #expect(SQLiteFile(url).value("PRAGMA integrity_check") == "ok")
            #expect(SQLiteFile(url).rows("PRAGMA foreign_key_check").isEmpty)
        }

        /// The project's stages: pets become objects after the first step, and their former names
        /// go in the second.
        @Test(arguments: ["SampleModel3.xcdatamodeld", "Fixtures/SampleModel3.momd"])
        func petsBecomeObjects(model name: String) throws {
            let bundle = Fixtures.url("CoreDataPlus/SampleModel3/" + name)
            let url = try store("SampleModel3_V1.sqlite")
            let before = SQLiteFile(url).rows("SELECT Z_PK, ZNAME, ZPETNAME FROM ZUSER ORDER BY 1")
            let custom = NSCustomMigrationStage(
                migratingFrom: try reference(bundle, "SampleModel3"), to: try reference(bundle, "SampleModel3_v2"))
            custom.didMigrateHandler = { manager, _ in
                let context = try #require(manager.container?.newBackgroundContext())
                try context.performAndWait {
                    for user in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "User")) {
                        guard let name = user.value(forKey: "petName") as? String else { continue }
                        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
                        pet.setValue(name, forKey: "name")
                        user.setValue(pet, forKey: "pet")
                    }
                    try context.save()
                }
            }
            let last = NSLightweightMigrationStage([try reference(bundle, "SampleModel3_v3").versionChecksum])
            try migrate(url, to: model(bundle, "SampleModel3_v3"), [custom, last])
            let after = SQLiteFile(url).rows(
                "SELECT u.Z_PK, u.ZNAME, p.ZNAME FROM ZUSER u LEFT JOIN ZPET p ON p.ZOWNER = u.Z_PK ORDER BY 1")
            #expect(after == before)
            #expect(!before.isEmpty)
            let former = "SELECT count(*) FROM pragma_table_info('ZUSER') WHERE name = 'ZPETNAME'"
            #expect(SQLiteFile(url).integer(former) == 0)
        }

        /// A lightweight step, then one by the project's mapping model and policy.
        @Test func carsGetTheirMakers() throws {
            let sample = "CoreDataPlus/SampleModel/"
            let bundle = Fixtures.url(sample + "SampleModel.xcdatamodeld")
            let url = try store("SampleModel_V1.sqlite")
            let cars = "c.Z_PK, c.ZNUMBERPLATE, c.ZMODEL, c.ZMARKEDFORDELETIONASOF, c.ZISLIMITEDEDITION"
            let owner = "LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER"
            let before = SQLiteFile(url).rows(
                "SELECT \(cars), p.ZFIRSTNAME, p.ZLASTNAME, c.ZMAKER FROM ZCAR c \(owner) ORDER BY 2")
            let people = "SELECT ZFIRSTNAME, ZLASTNAME, ZUPDATEDAT FROM ZPERSON ORDER BY 1, 2"
            let peopleBefore = SQLiteFile(url).rows(people)
            let stages: [NSMigrationStage] = [
                NSLightweightMigrationStage([try reference(bundle, "SampleModel").versionChecksum]),
                NSCustomMigrationStage(
                    migratingFrom: try reference(bundle, "SampleModel2"), to: try reference(bundle, "SampleModel3")),
            ]
            let mapping = try NSMappingModel(reading: Fixtures.url(sample + "MappingModels/V2toV3.xcmappingmodel"))
            try migrate(url, to: model(bundle, "SampleModel3"), stages, mapping)
            let after = SQLiteFile(url).rows(
                "SELECT \(cars), p.ZFIRSTNAME, p.ZLASTNAME, m.ZNAME FROM ZCAR c \(owner) "
                    + "LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 2")
            #expect(after.map { $0.dropFirst() } == before.map { $0.dropFirst() })
            #expect(SQLiteFile(url).rows(people) == peopleBefore)
        }

        private static let revised = "CoreDataMigrationRevised/model/"

        /// From each version of the store to each later one: a renamed attribute, the project's
        /// mapping model from the second to the third version, a new attribute with a default.
        @Test(arguments: [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)])
        func postsGetSections(first: Int, last: Int) throws {
            let bundle = Fixtures.url(Self.revised + "Model/CoreDataMigration_Example.xcdatamodeld")
            func name(_ version: Int) -> String { "CoreDataMigration_Example" + (version == 1 ? "" : " \(version)") }
            let url = try store("CoreDataMigration_Example_\(first).sqlite")
            let file = SQLiteFile(url)
            let posts = { (version: Int) in
                file.rows(
                    "SELECT ZPOSTID, ZDATE, \(version == 1 ? "ZCOLOR" : "ZHEXCOLOR") FROM ZPOST ORDER BY 1")
            }
            let bodies = { (version: Int) in
                version < 3
                    ? file.rows("SELECT ZPOSTID, substr(ZCONTENT, 1, 4) || '...', ZCONTENT, 0 FROM ZPOST ORDER BY 1")
                    : file.rows(
                        "SELECT p.ZPOSTID, s.ZTITLE, s.ZBODY, s.ZINDEX FROM ZSECTION s "
                            + "JOIN ZPOST p ON p.Z_PK = s.ZPOST ORDER BY 1, 4")
            }
            let (postsBefore, bodiesBefore) = (posts(first), bodies(first))
            let stages: [NSMigrationStage] = [
                NSLightweightMigrationStage([try reference(bundle, name(1)).versionChecksum]),
                NSCustomMigrationStage(
                    migratingFrom: try reference(bundle, name(2)), to: try reference(bundle, name(3))),
                NSLightweightMigrationStage([try reference(bundle, name(4)).versionChecksum]),
            ]
            let mapping = try NSMappingModel(
                reading: Fixtures.url(Self.revised + "Migration/Mappings/Migration2to3ModelMapping.xcmappingmodel"))
            try migrate(url, to: model(bundle, name(last)), stages, mapping)
            #expect(posts(last) == postsBefore)
            #expect(postsBefore.count >= 10)
            #expect(bodies(last) == bodiesBefore)
            if last == 4 {
                #expect(file.integer("SELECT count(*) FROM ZPOST WHERE ZSOFTDELETED = 0") == postsBefore.count)
            }
        }

        /// A given mapping model is used on the way, though the last version could be inferred.
        @Test func aGivenMappingModelChoosesTheWay() throws {
            let bundle = Fixtures.url(Self.revised + "Model/CoreDataMigration_Example.xcdatamodeld")
            let url = try store("CoreDataMigration_Example_1.sqlite")
            let mapping = try NSMappingModel(
                reading: Fixtures.url(Self.revised + "Migration/Mappings/Migration2to3ModelMapping.xcmappingmodel"))
            let description = NSPersistentStoreDescription(url: url)
            description.setOption([mapping] as NSArray, forKey: StoreMigration.mappingModelsOption)
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: try model(bundle, "CoreDataMigration_Example 4"))
            let plan = try #require(try coordinator.migrationPlan(for: description))
            #expect(plan.steps.map { $0.destination.name.last } == ["2", "3", "4"])
            #expect(plan.steps.map(\.mapping) == [.inferred, .mappingModel, .inferred])
        }

        /// All versions in one lightweight stage; the tables are those of a new store.
        @Test(arguments: ["Bookmarks_V1.sqlite", "Bookmarks_V5.sqlite"]) func bookmarksKeepTheirFolders(
            store name: String
        ) throws {
            let bundle = Fixtures.url("DuckDuckGoBookmarks/BookmarksModel.xcdatamodeld")
            let url = try store(name)
            let rows =
                "SELECT Z_PK, ZTITLE, ZURL, ZUUID, ZISFOLDER, ZPARENT, Z_FOK_PARENT FROM ZBOOKMARKENTITY ORDER BY 1"
            let before = SQLiteFile(url).rows(rows)
            let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: bundle)
            let names = checksums.keys.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            let stage = NSLightweightMigrationStage(names.compactMap { checksums[$0] })
            try migrate(url, to: model(bundle, "BookmarksModel 6"), [stage])
            #expect(SQLiteFile(url).rows(rows) == before)
            #expect(!before.isEmpty)
        }

        @Test func doseEventsStay() throws {
            let bundle = Fixtures.url("LoopKit/model/LoopKit/Persistence/Model.xcdatamodeld")
            let url = try store("Model.sqlite.v1.original.sqlite")
            let events = "SELECT Z_PK, ZCREATEDAT, ZDATE, ZTYPE, ZUNIT, ZVALUE, ZRAW, ZTITLE FROM ZPUMPEVENT ORDER BY 1"
            let reservoir = "SELECT Z_PK, ZCREATEDAT, ZDATE, ZVOLUME, ZRAW FROM ZRESERVOIR ORDER BY 1"
            let before = [events, reservoir].map { SQLiteFile(url).rows($0) }
            let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: bundle)
            let stage = NSLightweightMigrationStage(["Model", "Modelv4"].compactMap { checksums[$0] })
            try migrate(url, to: model(bundle, "Modelv4"), [stage])
            #expect([events, reservoir].map { SQLiteFile(url).rows($0) } == before)
            #expect(before.allSatisfy { !$0.isEmpty })
        }
    }
}

/// Makes the content of each post a section.
final class Post2ToPost3MigrationPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let body = sInstance.value(forKey: "content") as? String
        let section = NSEntityDescription.insertNewObject(forEntityName: "Section", into: manager.destinationContext)
        section.setValue(body.map { "\($0.prefix(4))..." }, forKey: "title")
        section.setValue(body, forKey: "body")
        section.setValue(0, forKey: "index")
        section.setValue(made.first, forKey: "post")
    }
}
