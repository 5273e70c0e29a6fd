import CoreData
import Synchronization
import TestSupport
import Testing

/// Stores that are migrated in stages, with the program's handlers between them.
struct StagedMigrationTests {
    private func petStages(
        will: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? = nil,
        did: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? = PetVersions.makePets
    ) -> NSStagedMigrationManager {
        let custom = NSCustomMigrationStage(
            migratingFrom: PetVersions.first.reference, to: PetVersions.second.reference)
        custom.willMigrateHandler = will
        custom.didMigrateHandler = did
        return NSStagedMigrationManager([custom, NSLightweightMigrationStage([PetVersions.third.versionChecksum])])
    }

    @Test("294: Stages run in order, with containers of the versions.", arguments: StoreKind.persistent)
    func stagesRunInOrder(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try PetVersions.fill(store)
        var calls: [String] = []
        func entities(_ manager: NSStagedMigrationManager) -> String {
            manager.container?.managedObjectModel.entities.compactMap(\.name).sorted().joined(separator: " ") ?? "none"
        }
        let stages = petStages(
            will: { manager, stage in
                calls.append("will \(entities(manager)) \(stage.label ?? "")")
            },
            did: { manager, stage in
                calls.append("did \(entities(manager))")
                try PetVersions.makePets(manager, stage)
            })
        stages.stages[0].label = "pets"
        try store.migrate(to: PetVersions.third, stages.options)
        #expect(calls == ["will User pets", "did Pet User"])
        #expect(stages.container == nil)
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == PetVersions.expected)
    }

    @Test("294: A migration begins with the stage of the store's version.", arguments: StoreKind.persistent)
    func earlierStagesAreLeftOut(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(PetVersions.second) { context in
            context.insert("User", ["name": "Ada", "petName": "Rex"])
        }
        try store.migrate(to: PetVersions.third, petStages().options)
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == ["Ada -"])
    }

    @Test(arguments: StoreKind.allCases) func aStoreThatFitsCallsNoHandler(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        var calls = 0
        let stages = petStages(will: { _, _ in calls += 1 }, did: { _, _ in calls += 1 })
        for _ in 0..<2 { try store.open(PetVersions.third, stages.options) { _ in } }
        #expect(calls == 0)
    }

    @Test func whatAWillHandlerSavesIsMigrated() throws {
        let former = model(entity("Item", text("name")))
        let new = model(entity("Item", text("name", optional: false)))
        let store = try MigratedStore()
        try store.open(former) { $0.insert("Item") }
        let stage = NSCustomMigrationStage(migratingFrom: former.reference, to: new.reference)
        stage.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                for item in try context.objects("Item") { item.setValue("none", forKey: "name") }
                try context.save()
            }
        }
        let error = try store.refusal(new)
        #expect(error.code == NSMigrationError)
        try store.migrate(to: new, NSStagedMigrationManager([stage]).options)
        let names = try store.open(new) { try $0.values("Item", "name", as: String.self) }
        #expect(names == ["none"])
    }

    @Test("295: A handler that throws ends the migration, and a file is as it was.", arguments: [true, false])
    func aHandlerThatThrowsEndsTheMigration(isWill: Bool) throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        func fail(_ manager: NSStagedMigrationManager, _ stage: NSCustomMigrationStage) throws {
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                context.insert("User", ["name": "lost"])
                try context.save()
            }
            throw NSError(domain: "Handler", code: 7)
        }
        let stages = isWill ? petStages(will: fail) : petStages(did: fail)
        let error = try store.refusal(PetVersions.third, stages.options)
        #expect(error.domain == "Handler")
        #expect(error.code == 7)
        let files = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path)
        #expect(files.allSatisfy { !$0.contains("migration") }, "\(files)")
    }

    @Test(arguments: StoreKind.persistent) func theNextOpeningGoesOnAfterAFailure(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try PetVersions.fill(store)
        let failing = petStages(did: { _, _ in throw NSError(domain: "Handler", code: 7) })
        let error = errorThrown { try store.open(PetVersions.third, failing.options) { _ in } }
        #expect(error?.domain == "Handler")
        try store.migrate(to: PetVersions.third, petStages().options)
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == PetVersions.expected)
    }

    /// The last stage of a store on a server ends with a handler.
    @Test(arguments: StoreKind.persistent) func anUnfinishedLastStageIsFinished(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try PetVersions.fill(store)
        func stages(_ did: @escaping (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)
            -> NSStagedMigrationManager
        {
            let stage = NSCustomMigrationStage(
                migratingFrom: PetVersions.first.reference, to: PetVersions.second.reference)
            stage.didMigrateHandler = did
            return NSStagedMigrationManager([stage])
        }
        let failing = stages { _, _ in throw NSError(domain: "Handler", code: 7) }
        let error = errorThrown { try store.open(PetVersions.second, failing.options) { _ in } }
        #expect(error?.domain == "Handler")
        try store.migrate(to: PetVersions.second, stages(PetVersions.makePets).options)
        let pairs = try store.open(PetVersions.second) { try PetVersions.pairs($0) }
        #expect(pairs == PetVersions.expected)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: store.url)
        #expect(metadata.keys.allSatisfy { !$0.contains("Unfinished") })
    }

    private func ids(_ store: MigratedStore, _ model: NSManagedObjectModel) throws -> [URL] {
        try store.open(model) { context in
            try context.objects("User", by: "name").map { $0.objectID.uriRepresentation() }
        }
    }

    @Test func objectsKeepTheirIDs() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let before = try ids(store, PetVersions.first)
        try store.migrate(to: PetVersions.third, petStages().options)
        let after = try ids(store, PetVersions.third)
        #expect(after == before)
    }

    @Test("295: A way back is refused with 134506.", arguments: StoreKind.persistent)
    func aWayBackIsRefused(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(PetVersions.third) { $0.insert("User", ["name": "Ada"]) }
        let error = try store.refusal(PetVersions.first, petStages().options)
        #expect(error.code == NSStagedMigrationBackwardMigrationError)
    }

    @Test func aVersionThatNoStageNamesIsRefused() throws {
        let store = try MigratedStore()
        let unknown = model(entity("User", text("name"), text("petName"), text("age")))
        try store.open(unknown) { $0.insert("User", ["name": "Ada"]) }
        let error = try store.refusal(PetVersions.third, petStages().options)
        #expect(error.code == NSManagedObjectModelReferenceNotFoundError)
        #expect(error.localizedDescription.contains(unknown.versionChecksum))
    }

    @Test func aModelThatNoStageNamesIsRefused() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let unknown = model(entity("User", text("name"), text("petName"), text("age")))
        let error = try store.refusal(unknown, petStages().options)
        #expect(error.code == NSManagedObjectModelReferenceNotFoundError)
        #expect(error.localizedDescription.contains(unknown.versionChecksum))
    }

    @Test func aLightweightStageWithoutItsModelIsRefused() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let stages = NSStagedMigrationManager([
            NSLightweightMigrationStage([PetVersions.first.versionChecksum, "unknown"]),
            NSCustomMigrationStage(migratingFrom: PetVersions.second.reference, to: PetVersions.third.reference),
        ])
        try store.migrate(to: PetVersions.third, stages.options)
        let other = try MigratedStore()
        try PetVersions.fill(other)
        let missing = NSManagedObjectModelReference(model: PetVersions.third, versionChecksum: "another")
        let error = try other.refusal(
            PetVersions.third,
            NSStagedMigrationManager([
                NSCustomMigrationStage(migratingFrom: PetVersions.first.reference, to: missing)
            ]).options)
        #expect(error.code == NSManagedObjectModelReferenceNotFoundError)
    }

    @Test func aReadOnlyStoreIsNotMigratedInStages() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let options = petStages().options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        let error = try store.refusal(PetVersions.third, options)
        #expect(error.code == NSMigrationError)
    }

    @Test func withoutAutomaticMigrationStagesAreNotUsed() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let error = try store.refusal(
            PetVersions.third, [NSPersistentStoreStagedMigrationManagerOptionKey: petStages()])
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func externalFilesMoveAlong() throws {
        func version(_ properties: NSPropertyDescription...) -> NSManagedObjectModel {
            let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
            photo.allowsExternalBinaryDataStorage = true
            let item = entity("Item", photo)
            item.properties += properties
            return model(item)
        }
        let versions = [version(), version(text("name")), version(text("name"), text("note"))]
        let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        let store = try MigratedStore()
        try store.open(versions[0]) { $0.insert("Item", ["photo": photo]) }
        let stages = zip(versions, versions.dropFirst()).map {
            NSCustomMigrationStage(migratingFrom: $0.reference, to: $1.reference)
        }
        try store.migrate(to: versions[2], NSStagedMigrationManager(stages).options)
        let photos = try store.open(versions[2]) { try $0.values("Item", "photo", by: "name", as: Data.self) }
        #expect(photos == [photo])
    }

    @Test func theProgressOfAllStepsIsReported() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let log = Mutex<[Double]>([])
        let description = NSPersistentStoreDescription(url: store.url)
        description.setOption(petStages(), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        description.migrationProgressHandler = { fraction in log.withLock { $0.append(fraction) } }
        var failure: (any Error)?
        NSPersistentStoreCoordinator(managedObjectModel: PetVersions.third)
            .addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil)
        let progress = log.withLock { $0 }
        #expect(progress.first == 0)
        #expect(progress.last == 1)
        #expect(progress == progress.sorted())
        #expect(progress.contains { $0 > 0.5 })
    }
}
