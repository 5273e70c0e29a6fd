import CoreData
import TestSupport
import Testing

/// What a migration would do, told without doing it.
struct MigrationPlanTests {
    private func plan(_ store: MigratedStore, _ model: NSManagedObjectModel) throws -> StoreMigrationPlan? {
        let description = NSPersistentStoreDescription(url: store.url)
        description.type = store.kind.type
        return try NSPersistentStoreCoordinator(managedObjectModel: model).migrationPlan(for: description)
    }

    private let bundle: ModelBundle
    private let store: MigratedStore

    init() throws {
        let former = entity("Item", text("name"), text("size"))
        bundle = try ModelBundle([
            ("Shop", model(former, entity("Old"), entity("Kept", text("a")))),
            ("Shop 2", model(entity("Item", text("name")), entity("Kept", text("a")))),
            ("Shop 3", model(entity("Thing", was: "Item", text("name"), number("size")), entity("Kept", text("a")))),
        ])
        store = try MigratedStore()
        try store.open(bundle.model("Shop")) { context in
            for name in ["a", "b"] { context.insert("Item", ["name": name, "size": "5"]) }
            context.insert("Kept")
        }
    }

    @Test func everyStepAndEntityIsListed() throws {
        let plan = try #require(try plan(store, bundle.model("Shop 3")))
        #expect(plan.steps.map(\.source.name) == ["Shop", "Shop 2"])
        #expect(plan.steps.map(\.destination.name) == ["Shop 2", "Shop 3"])
        #expect(plan.steps.allSatisfy { $0.mapping == .inferred })
        let first = plan.steps[0].entities
        #expect(first.map { $0.destination ?? $0.source } == ["Item", "Kept", "Old"])
        #expect(first.map(\.action) == [.copiedBySQL, .unchanged, .removed])
        #expect(plan.steps[1].entities.last?.source == "Item")
        #expect(plan.objectCounts == ["Item": 2, "Kept": 1, "Old": 0])
        #expect(plan.usesCopy)
        #expect(plan.requiredBytes ?? 0 > 10_000)
        #expect(plan.detourReasons.count == 1)
        #expect(plan.detourReasons.allSatisfy { $0.contains("Thing.size") })
    }

    @Test func theTextNamesStepsAndCounts() throws {
        let text = "\(try #require(try plan(store, bundle.model("Shop 3"))))"
        for part in ["Shop → Shop 2 → Shop 3", "Item: copied by SQL, 2 objects", "Old: removed", "Item → Thing"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test func nothingIsWritten() throws {
        let files = { try FileManager.default.contentsOfDirectory(atPath: self.store.folder.url.path).sorted() }
        let (before, listed) = (store.content, try files())
        let bytes = try Data(contentsOf: store.url)
        _ = try plan(store, bundle.model("Shop 3"))
        #expect(try Data(contentsOf: store.url) == bytes)
        #expect(store.content == before)
        #expect(try files() == listed)
    }

    @Test func aStoreThatFitsHasNoPlan() throws {
        #expect(try plan(store, bundle.model("Shop")) == nil)
    }

    @Test func aStoreThatDoesNotExistHasNoPlan() throws {
        let other = try MigratedStore()
        #expect(try plan(other, bundle.model("Shop")) == nil)
        #expect(!FileManager.default.fileExists(atPath: other.url.path))
    }

    @Test func aMigrationInOneStepIsInPlace() throws {
        let plan = try #require(try plan(store, bundle.model("Shop 2")))
        #expect(plan.steps.count == 1)
        #expect(!plan.usesCopy)
        #expect(plan.detourReasons.isEmpty)
    }

    @Test func stagesAreSteps() throws {
        let stage = NSCustomMigrationStage(
            migratingFrom: try bundle.model("Shop").reference, to: try bundle.model("Shop 2").reference)
        stage.label = "no sizes"
        let stages = NSStagedMigrationManager([
            stage, NSLightweightMigrationStage([try bundle.model("Shop 3").versionChecksum]),
        ])
        let description = NSPersistentStoreDescription(url: store.url)
        description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try bundle.model("Shop 3"))
        let plan = try #require(try coordinator.migrationPlan(for: description))
        #expect(plan.steps.map(\.isCustomStage) == [true, false])
        #expect(plan.steps.map(\.stageLabel) == ["no sizes", nil])
    }

    @Test func withoutAWayTheErrorNamesEachStep() throws {
        let error = errorThrown { _ = try plan(store, model(entity("Item", number("name")))) }
        #expect(error?.code == NSInferredMappingModelError)
        #expect(error?.localizedDescription.contains("Item.name") == true)
    }

    @Test func aStoreOnAServerHasAPlan() throws {
        guard StoreKind.persistent.contains(.postgreSQL) else { return }
        let store = try MigratedStore(.postgreSQL)
        try store.open(bundle.model("Shop")) { $0.insert("Item", ["name": "a"]) }
        let plan = try #require(try plan(store, bundle.model("Shop 3")))
        #expect(plan.steps.count == 2)
        #expect(plan.objectCounts["Item"] == 1)
        #expect(!plan.usesCopy)
        #expect(plan.requiredBytes == nil)
    }
}
