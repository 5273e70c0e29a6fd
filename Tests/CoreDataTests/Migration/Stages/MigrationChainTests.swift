import CoreData
import TestSupport
import Testing

/// Stores whose version leads to the coordinator's model only over other versions of its bundle.
struct MigrationChainTests {
    /// An attribute goes in the second version, and comes back with another type in the third.
    private static func versions() -> [(name: String, model: NSManagedObjectModel)] {
        [
            ("Shop", model(entity("Item", text("name"), text("size")))),
            ("Shop 2", model(entity("Item", text("name")))),
            ("Shop 10", model(entity("Item", text("name"), number("size")))),
        ]
    }

    private func fill(_ store: MigratedStore, _ bundle: ModelBundle) throws {
        try store.open(bundle.model("Shop")) { context in
            for name in ["a", "b"] { context.insert("Item", ["name": name, "size": "5"]) }
        }
    }

    @Test(arguments: StoreKind.persistent) func aWayOverAnotherVersionIsFound(kind: StoreKind) throws {
        let bundle = try ModelBundle(Self.versions())
        let store = try MigratedStore(kind)
        try fill(store, bundle)
        try store.migrate(to: bundle.model("Shop 10"))
        try store.open(bundle.model("Shop 10")) { context in
            let names = try context.values("Item", "name", as: String.self)
            #expect(names == ["a", "b"])
            let sizes = try context.values("Item", "size", by: "name", as: Int.self)
            #expect(sizes == [nil, nil])
        }
    }

    @Test func withoutTheBundleThereIsNoWay() throws {
        let store = try MigratedStore()
        let versions = Self.versions()
        try store.open(versions[0].model) { $0.insert("Item", ["name": "a"]) }
        let error = try store.refusal(versions[2].model)
        #expect(error.code == NSInferredMappingModelError)
    }

    @Test func aFailureNamesEachStepThatWasTried() throws {
        var versions = Self.versions()
        versions[1].model = model(entity("Item", text("name"), number("size", .doubleAttributeType)))
        let bundle = try ModelBundle(versions)
        let store = try MigratedStore()
        try fill(store, bundle)
        let error = try store.refusal(bundle.model("Shop 10"))
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.localizedDescription.contains("from 'Shop' to 'Shop 2': Item.size"))
    }

    /// The way back over the first version would lose what the newer two have in common.
    @Test func aWayOverAnOlderVersionIsNotTaken() throws {
        let versions = [
            ("V1", model(entity("Item", text("name")))),
            ("V2", model(entity("Item", text("name"), text("size"), text("note")))),
            ("V3", model(entity("Item", text("name"), number("size"), text("note")))),
        ]
        let bundle = try ModelBundle(versions)
        let store = try MigratedStore()
        try store.open(bundle.model("V2")) { $0.insert("Item", ["name": "a", "size": "1", "note": "x"]) }
        let error = try store.refusal(bundle.model("V3"))
        #expect(error.code == NSInferredMappingModelError)
    }

    @Test func theFewestStepsAreTaken() throws {
        var versions = Self.versions()
        versions.insert(("Shop 3", model(entity("Item", text("name"), text("note")))), at: 2)
        let bundle = try ModelBundle(versions)
        let store = try MigratedStore()
        try fill(store, bundle)
        let description = NSPersistentStoreDescription(url: store.url)
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: bundle.model("Shop 10"))
            .migrationPlan(for: description)
        #expect(plan?.steps.map(\.destination.name) == ["Shop 2", "Shop 10"])
    }

    /// The second version has a mapping model to the third.
    @Test func aStepMayHaveAMappingModel() throws {
        let name = "Item\(UUID().uuidString.filter(\.isLetter))"
        let versions = [
            ("V1", model(entity(name, text("photo"), number("count")))),
            ("V2", model(entity(name, number("count")))),
            ("V3", model(entity(name, number("count"), number("photo"), text("origin", optional: false)))),
        ]
        let resources = try ResourceFolder()
        _ = try MappingFile(
            [MappingFile.Mapping(source: name, destination: name, policy: "OriginPolicy", attributes: ["count"])],
            from: versions[1].1, to: versions[2].1, in: resources.url)
        let bundle = try ModelBundle(versions)
        let store = try MigratedStore()
        try store.open(bundle.model("V1")) { $0.insert(name, ["photo": "x", "count": 4]) }
        try store.migrate(to: bundle.model("V3"))
        let origins = try store.open(bundle.model("V3")) { try $0.values(name, "origin", as: String.self) }
        #expect(origins == ["from 4"])
    }

    @Test func twoCoordinatorsThatMigrateAtOnceMigrateOnce() throws {
        let bundle = try ModelBundle(Self.versions())
        let store = try MigratedStore()
        try fill(store, bundle)
        let (file, url) = (bundle.url, store.url)
        let results = [0, 1].map { _ in
            OtherThread { () -> NSError? in
                errorThrown {
                    let coordinator = NSPersistentStoreCoordinator(
                        managedObjectModel: try NSManagedObjectModel(reading: file, version: "Shop 10"))
                    let added = try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: MigratedStore.automatic)
                    try coordinator.remove(added)
                }
            }
        }
        for result in results { try #expect(result.value() == nil) }
        #expect(store.file.integer("SELECT count(*) FROM ZITEM") == 2)
    }
}
