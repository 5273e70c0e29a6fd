import CoreData
import TestSupport
import Testing

/// Stores whose metadata name a version whose stage has not ended, as a program that was killed
/// leaves them on a server: opening them ends.
struct UnfinishedStageTests {
    private static let key = "OpenCoreDataUnfinishedStage"

    /// A store of the second version, which names an unfinished stage.
    private func store(_ kind: StoreKind, unfinished checksum: String) throws -> MigratedStore {
        let store = try MigratedStore(kind)
        try store.open(PetVersions.second) { $0.insert("User", ["name": "Ada", "petName": "Rex"]) }
        var metadata = try metadata(store)
        metadata[Self.key] = checksum
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: kind.type, at: store.url)
        #expect(try self.metadata(store)[Self.key] as? String == checksum)
        return store
    }

    private func metadata(_ store: MigratedStore) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: store.kind.type, at: store.url)
    }

    private func stages(
        _ did: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    ) -> NSStagedMigrationManager {
        let custom = NSCustomMigrationStage(
            migratingFrom: PetVersions.first.reference, to: PetVersions.second.reference)
        custom.didMigrateHandler = did
        return NSStagedMigrationManager([custom, NSLightweightMigrationStage([PetVersions.third.versionChecksum])])
    }

    @Test(arguments: StoreKind.persistent, ["unknown", PetVersions.first.versionChecksum])
    func aStageThatIsNotInThePlanIsNotWaitedFor(kind: StoreKind, checksum: String) throws {
        let store = try store(kind, unfinished: checksum)
        var calls = 0
        let stages = stages { _, _ in calls += 1 }
        for _ in 0..<2 { try store.open(PetVersions.second, stages.options) { _ in } }
        #expect(calls == 0)
    }

    @Test(arguments: StoreKind.persistent) func theNextStagesGoOnWithoutIt(kind: StoreKind) throws {
        let store = try store(kind, unfinished: "unknown")
        try store.migrate(to: PetVersions.third, stages { _, _ in }.options)
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == ["Ada -"])
    }

    @Test(arguments: StoreKind.persistent) func aStageIsFinishedOnce(kind: StoreKind) throws {
        let store = try store(kind, unfinished: PetVersions.second.versionChecksum)
        var calls = 0
        let stages = stages { manager, stage in
            calls += 1
            try PetVersions.makePets(manager, stage)
        }
        for _ in 0..<2 { try store.open(PetVersions.second, stages.options) { _ in } }
        #expect(calls == 1)
        #expect(try metadata(store)[Self.key] == nil)
        let pairs = try store.open(PetVersions.second) { try PetVersions.pairs($0) }
        #expect(pairs == ["Ada Rex"])
    }

    @Test(arguments: StoreKind.persistent) func aStageThatNeverEndsIsAnErrorEachTime(kind: StoreKind) throws {
        let store = try store(kind, unfinished: PetVersions.second.versionChecksum)
        var calls = 0
        let stages = stages { _, _ in
            calls += 1
            throw NSError(domain: "Handler", code: 7)
        }
        for _ in 0..<2 {
            let error = errorThrown { try store.open(PetVersions.second, stages.options) { _ in } }
            #expect(error?.domain == "Handler")
        }
        #expect(calls == 2)
        #expect(try metadata(store)[Self.key] != nil)
    }

    @Test func aPlanThatComesBackToAVersionEnds() throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let versions = [PetVersions.first, PetVersions.second, PetVersions.first, PetVersions.third]
        let stages = zip(versions, versions.dropFirst()).map {
            NSCustomMigrationStage(migratingFrom: $0.reference, to: $1.reference)
        }
        try store.migrate(to: PetVersions.third, NSStagedMigrationManager(stages).options)
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == ["Ada -", "Bob -", "Cy -"])
    }

    @Test func aStoreMadeOfAnotherIsOfNoStage() throws {
        let store = try store(.sqlite, unfinished: PetVersions.second.versionChecksum)
        let other = try MigratedStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PetVersions.second)
        let added = try coordinator.addPersistentStore(type: .sqlite, at: store.url, options: [:])
        let copy = try coordinator.migratePersistentStore(added, to: other.url, options: nil, type: .sqlite)
        try coordinator.remove(copy)
        #expect(try metadata(other)[Self.key] == nil)
    }
}
