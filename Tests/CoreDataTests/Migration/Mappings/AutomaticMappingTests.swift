import CoreData
import Synchronization
import TestSupport
import Testing

/// Stores that are migrated by a mapping model of the program's bundles while they are added.
struct AutomaticMappingTests {
    let resources: ResourceFolder
    let store: MigratedStore
    private let former: NSManagedObjectModel
    private let new: NSManagedObjectModel

    init() throws {
        resources = try ResourceFolder()
        store = try MigratedStore()
        // Versions of each test alone: the program searches the files of all.
        let name = "Item\(UUID().uuidString.filter(\.isLetter))"
        former = Self.version(name, text("name"))
        new = Self.version(name, text("name"), text("origin", optional: false))
    }

    private static func version(_ name: String, _ attributes: NSAttributeDescription...) -> NSManagedObjectModel {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let item = entity(name, photo, number("count"))
        item.properties += attributes
        return model(item)
    }

    private var name: String { former.entities[0].name ?? "" }

    private func addMapping(policy: String = "OriginPolicy") throws {
        _ = try MappingFile(
            [
                MappingFile.Mapping(
                    source: name, destination: name, policy: policy, attributes: ["name", "photo", "count"])
            ],
            from: former, to: new, in: resources.url)
    }

    private static let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) })

    private func fill(_ options: [AnyHashable: Any] = MigratedStore.automatic) throws {
        try store.open(former, options) { context in
            for number in 1...2 { context.insert(name, ["name": "i\(number)", "count": number, "photo": Self.photo]) }
        }
    }

    private static var mappedOnly: [AnyHashable: Any] { [NSMigratePersistentStoresAutomaticallyOption: true] }

    @Test(arguments: [true, false])
    func aMappingModelComesBeforeAnInferredOne(infers: Bool) throws {
        try fill()
        try addMapping()
        try store.migrate(to: new, infers ? MigratedStore.automatic : Self.mappedOnly)
        try store.open(new) { context in
            let values = try context.values(name, "origin", as: String.self)
            #expect(values == ["from 1", "from 2"])
            let photos = try context.values(name, "photo", by: "name", as: Data.self)
            #expect(photos == [Self.photo, Self.photo])
        }
    }

    @Test func nothingButTheStoreAndItsFilesIsLeft() throws {
        try fill()
        let before = try external()
        try addMapping()
        try store.migrate(to: new, Self.mappedOnly)
        let files = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path)
        #expect(files.allSatisfy { !$0.contains("migration") }, "\(files)")
        #expect(try external().count == 2)
        #expect(try external().isDisjoint(with: before))
    }

    private func external() throws -> Set<String> {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: store.folder.url.path)
        return Set(paths.filter { $0.contains("_EXTERNAL_DATA/") })
    }

    @Test func anErrorOfThePolicyLeavesTheStoreAndItsFiles() throws {
        try fill()
        let before = try external()
        try addMapping(policy: "CancellingPolicy")
        let error = try store.refusal(new)
        #expect(error.domain == "Cancelled")
        #expect(try external() == before)
        try store.open(former) { context in
            let values = try context.values(name, "photo", by: "name", as: Data.self)
            #expect(values == [Self.photo, Self.photo])
        }
    }

    @Test func metadataOfTheProgramStays() throws {
        try fill()
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
        metadata["origin"] = "import"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: store.url)
        try addMapping()
        try store.migrate(to: new, Self.mappedOnly)
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
        #expect(after["origin"] as? String == "import")
        #expect(after[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
    }

    @Test func aJournalThatIsNoWALIsMigrated() throws {
        let options = Self.mappedOnly.merging([NSSQLitePragmasOption: ["journal_mode": "DELETE"]]) { $1 }
        try fill(options)
        try addMapping()
        try store.migrate(to: new, options)
        #expect(store.file.value("PRAGMA journal_mode") == "delete")
    }

    @Test func aReadOnlyStoreIsNotMigrated() throws {
        try fill()
        try addMapping()
        let error = try store.refusal(
            new, MigratedStore.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        #expect(error.code == NSMigrationError)
    }

    @Test func aStoreThatAnotherProgramWritesIsNotMigrated() throws {
        try fill()
        try addMapping()
        let other = store.file
        other.execute("BEGIN IMMEDIATE")
        let error = try store.refusal(new, Self.mappedOnly.merging([NSPersistentStoreTimeoutOption: 0.05]) { $1 })
        #expect(error.code == NSMigrationManagerDestinationStoreError)
        #expect(error.localizedDescription.contains("locked by another connection of this process"))
        other.execute("ROLLBACK")
        try store.migrate(to: new, Self.mappedOnly)
    }

    @Test func theFormerStoreIsCopiedWhereTheProgramAsks() throws {
        try fill()
        try addMapping()
        let backup = try MigratedStore()
        try store.migrate(
            to: new, Self.mappedOnly.merging([NSPersistentStoreMigrationBackupURLOption: backup.url]) { $1 })
        try backup.open(former, [:]) { context in
            let photos = try context.values(name, "photo", by: "name", as: Data.self)
            #expect(photos == [Self.photo, Self.photo])
        }
    }

    @Test func theProgressIsReported() throws {
        try fill()
        try addMapping()
        let log = Mutex<[Double]>([])
        let description = NSPersistentStoreDescription(url: store.url)
        description.migrationProgressHandler = { fraction in log.withLock { $0.append(fraction) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil)
        let progress = log.withLock { $0 }
        #expect(progress.first == 0)
        #expect(progress.last == 1)
        #expect(progress == progress.sorted())
    }

    @Test func aStoreOfAConfigurationIsMigrated() throws {
        for version in [former, new] {
            version.entities += [entity("Other", text("name"))]
            version.setEntities([version.entities[0]], forConfigurationName: "Items")
        }
        try store.open(former, configuration: "Items") { $0.insert(name, ["name": "i1", "count": 1]) }
        try addMapping()
        try store.open(new, Self.mappedOnly, configuration: "Items") { context in
            let values = try context.values(name, "origin", as: String.self)
            #expect(values == ["from 1"])
        }
        #expect(store.file.column("SELECT Z_NAME FROM Z_PRIMARYKEY") == [name])
    }

    @Test func twoCoordinatorsThatMigrateAtOnceMigrateOnce() throws {
        try fill()
        try addMapping()
        let url = store.url
        let models = Unguarded([new, new.copy() as? NSManagedObjectModel ?? new])
        let errors = Mutex<[NSError]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let error = errorThrown {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: models.value[index])
                let added = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                    options: [NSMigratePersistentStoresAutomaticallyOption: true])
                try coordinator.remove(added)
            }
            if let error { errors.withLock { $0.append(error) } }
        }
        #expect(errors.withLock { $0 } == [])
        #expect(store.file.integer("SELECT count(*) FROM Z\(name.uppercased())") == 2)
    }
}

/// Models for threads that use one each.
private struct Unguarded: @unchecked Sendable {
    let value: [NSManagedObjectModel]
    init(_ value: [NSManagedObjectModel]) { self.value = value }
}
