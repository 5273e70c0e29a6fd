import CoreData
import TestSupport
import Testing

/// Stores of SQLite that a program opens through a link: the link stays, and the files of the store
/// lie beside the file that it leads to.
struct LinkedStoreMigrationTests {
    /// How a migration is carried out: where the store is, or in a copy that replaces it.
    enum Way: CaseIterable {
        case inferred, inStages, byPolicy
    }

    private static let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private static func version(_ extra: NSAttributeDescription...) -> NSManagedObjectModel {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let item = entity("Item", text("name"), number("count"), photo)
        item.properties += extra
        return model(item)
    }

    private let former = Self.version()
    private let new = Self.version(text("origin"))
    private let store: MigratedStore
    private let links: TemporaryFolder
    private let link: URL

    init() throws {
        store = try MigratedStore()
        links = try TemporaryFolder()
        link = links.file("link.sqlite")
        try store.open(former) { $0.insert("Item", ["name": "bolt", "count": 4, "photo": Self.photo]) }
        let path = "../\(store.folder.url.lastPathComponent)/\(store.url.lastPathComponent)"
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: path)
    }

    private func options(_ way: Way) -> [AnyHashable: Any] {
        switch way {
        case .inferred: return MigratedStore.automatic
        case .inStages:
            return NSStagedMigrationManager([
                NSCustomMigrationStage(migratingFrom: former.reference, to: new.reference)
            ]).options
        case .byPolicy:
            let names = ["name", "count", "photo"]
            let mapping = NSMappingModel()
            mapping.entityMappings = [
                CoreDataTests.mapping(
                    "ItemToItem", from: "Item", to: "Item",
                    attributes: Dictionary(uniqueKeysWithValues: names.map { ($0, "$source.\($0)") }),
                    policy: OriginPolicy.self)
            ]
            mapping.entityMappings[0].sourceEntityVersionHash = former.entities[0].versionHash
            mapping.entityMappings[0].destinationEntityVersionHash = new.entities[0].versionHash
            return [NSMigratePersistentStoresAutomaticallyOption: true, "OpenCoreDataMappingModels": [mapping]]
        }
    }

    /// Opens the store through the link, and lets `body` use a context.
    private func open(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: link, options: options)
        try body(coordinator.newContext())
        try coordinator.remove(added)
    }

    private func expectOnlyTheLink() throws {
        let kind = try FileManager.default.attributesOfItem(atPath: link.path)[.type] as? FileAttributeType
        #expect(kind == .typeSymbolicLink)
        #expect(try FileManager.default.contentsOfDirectory(atPath: links.url.path) == ["link.sqlite"])
        let files = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path)
        #expect(files.allSatisfy { !$0.contains("migration") }, "\(files)")
    }

    @Test(arguments: Way.allCases) func aStoreIsMigratedThroughALink(way: Way) throws {
        let identifier =
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[
                NSStoreUUIDKey] as? String
        try open(new, options(way)) { context in
            let item = try #require(try context.objects("Item").first)
            #expect(item.value(forKey: "photo") as? Data == Self.photo)
            #expect(item.value(forKey: "origin") as? String == (way == .byPolicy ? "from 4" : nil))
            #expect(item.objectID.uriRepresentation().host == identifier)
        }
        try expectOnlyTheLink()
        try store.expectSoundness(new, #_sourceLocation)
        try store.open(new, [:]) { context in
            let photos = try context.values("Item", "photo", as: Data.self)
            #expect(photos == [Self.photo])
        }
    }

    @Test(arguments: Way.allCases) func theCopyOfALinkedStoreIsTheStore(way: Way) throws {
        let backup = try MigratedStore()
        try open(new, options(way).merging([NSPersistentStoreMigrationBackupURLOption: backup.url]) { $1 }) { _ in }
        let kind = try FileManager.default.attributesOfItem(atPath: backup.url.path)[.type] as? FileAttributeType
        #expect(kind == .typeRegular)
        try backup.open(former, [:]) { context in
            let photos = try context.values("Item", "photo", as: Data.self)
            #expect(photos == [Self.photo])
        }
    }

    @Test func aSaveThroughALinkIsInTheStore() throws {
        let other = Data(Self.photo.reversed())
        try open(former) { context in
            context.insert("Item", ["name": "nut", "photo": other])
            try context.save()
        }
        try expectOnlyTheLink()
        try store.open(former, [:]) { context in
            let photos = try context.values("Item", "photo", by: "name", as: Data.self)
            #expect(photos == [Self.photo, other])
        }
    }
}
