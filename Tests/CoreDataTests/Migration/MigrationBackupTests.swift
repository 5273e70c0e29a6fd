import CoreData
import TestSupport
import Testing

/// Copies of former stores, which a program asks for when it adds a store that has to be migrated.
struct MigrationBackupTests {
    let store: MigratedStore
    let backup: MigratedStore

    init() throws {
        store = try MigratedStore()
        backup = try MigratedStore()
        try store.open(Self.version()) { $0.insert("Item", ["name": "bolt", "photo": Self.photo]) }
    }

    private static let photo = Data(repeating: 7, count: 200_000)

    private static func version(_ extra: NSAttributeDescription...) -> NSManagedObjectModel {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let item = entity("Item", text("name"), photo)
        item.properties += extra
        return model(item)
    }

    private func options(_ url: URL) -> [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentStoreMigrationBackupURLOption: url]) { $1 }
    }

    @Test func theFormerStoreIsCopiedWithItsFiles() throws {
        try store.open(Self.version(text("unit"))) { _ in }
        let new = Self.version(text("unit"), text("colour"))
        try store.migrate(to: new, options(backup.url))
        try backup.open(Self.version(text("unit")), [:]) { context in
            let photos = try context.values("Item", "photo", by: "name", as: Data.self)
            #expect(photos == [Self.photo])
        }
    }

    @Test func aStoreThatFitsIsNotCopied() throws {
        try store.open(Self.version(), options(backup.url)) { _ in }
        #expect(!FileManager.default.fileExists(atPath: backup.url.path))
    }

    @Test func aLaterMigrationReplacesTheCopy() throws {
        try store.migrate(to: Self.version(text("unit")), options(backup.url))
        try store.migrate(to: Self.version(text("colour")), options(backup.url))
        #expect(backup.file.rows("SELECT ZNAME, ZUNIT FROM ZITEM") == [["bolt", nil]])
    }

    @Test func withoutACopyThereIsNoMigration() throws {
        let nowhere = URL(fileURLWithPath: "/proc/none/store.sqlite")
        let error = try store.refusal(Self.version(text("unit")), options(nowhere))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains(nowhere.path))
    }

    @Test func theStoreItselfIsNoPlaceForItsCopy() throws {
        let error = try store.refusal(Self.version(text("unit")), options(store.url))
        #expect(error.localizedDescription.contains("the store itself"))
    }

    @Test func theProgressIsAFoundationProgress() throws {
        let description = NSPersistentStoreDescription(url: store.url)
        let progress = Progress(totalUnitCount: 1_000)
        description.migrationProgressHandler = { progress.completedUnitCount = Int64($0 * 1_000) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(text("unit")))
        coordinator.addPersistentStore(with: description) { _, _ in }
        #expect(progress.isFinished)
    }

    @Test(arguments: [true, false]) func aFileThatIsNoStoreIsNotReplaced(inStages: Bool) throws {
        let new = Self.version(text("unit"))
        var options = options(backup.url)
        if inStages {
            let stage = NSCustomMigrationStage(migratingFrom: Self.version().reference, to: new.reference)
            options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
        }
        let letter = Data("a letter".utf8)
        try letter.write(to: backup.url)
        let error = try store.refusal(new, options)
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains(backup.url.path))
        #expect(try Data(contentsOf: backup.url) == letter)
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup.folder.url.path).count == 1)
        try FileManager.default.removeItem(at: backup.url)
        try store.migrate(to: new, options)
        #expect(backup.file.column("SELECT ZNAME FROM ZITEM") == ["bolt"])
    }

    @Test func aFolderIsNotReplaced() throws {
        try FileManager.default.createDirectory(at: backup.url, withIntermediateDirectories: true)
        let error = try store.refusal(Self.version(text("unit")), options(backup.url))
        #expect(error.code == NSMigrationError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup.url.path).isEmpty)
    }

    @Test func aCopyStaysWhenTheMigrationFails() throws {
        try store.open(Self.version()) { $0.insert("Item", ["name": "bolt"]) }
        let unique = Self.version(text("unit"))
        unique.entities[0].uniquenessConstraints = [["name"]]
        let error = try store.refusal(unique, options(backup.url))
        #expect(error.code == NSMigrationConstraintViolationError)
        let names = try backup.open(Self.version(), [:]) { try $0.values("Item", "name", as: String.self) }
        #expect(names == ["bolt", "bolt"])
    }
}
