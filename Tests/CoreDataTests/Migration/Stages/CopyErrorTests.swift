import CoreData
import TestSupport
import Testing

/// Errors of a migration that is carried out in a copy: they name the store, as the program does
/// not know the copy.
struct CopyErrorTests {
    private static func version(_ extra: NSAttributeDescription..., unique: Bool = false) -> NSManagedObjectModel {
        let item = entity("Parcel", text("name"))
        item.properties += extra
        if unique { item.uniquenessConstraints = [["name"]] }
        return model(item)
    }

    /// The last of two stages cannot be carried out.
    private let versions = [version(), version(text("note")), version(text("note"), text("label"), unique: true)]

    private var options: [AnyHashable: Any] {
        NSStagedMigrationManager(
            zip(versions, versions.dropFirst()).map {
                NSCustomMigrationStage(migratingFrom: $0.reference, to: $1.reference)
            }
        ).options
    }

    /// All texts and URLs of an error.
    private func texts(_ error: NSError) -> [String] {
        [error.localizedDescription]
            + error.userInfo.values.flatMap { value -> [String] in
                switch value {
                case let text as String: [text]
                case let url as URL: [url.path]
                case let error as NSError: texts(error)
                case let errors as [NSError]: errors.flatMap(texts)
                default: []
                }
            }
    }

    private func expectNoCopy(in error: NSError) {
        let copies = texts(error).filter { $0.contains(".migration") }
        #expect(copies.isEmpty)
    }

    @Test func aFailedStageNamesTheStore() throws {
        let store = try MigratedStore()
        try store.open(versions[0]) { context in
            for _ in 0..<2 { context.insert("Parcel", ["name": "p"]) }
        }
        let error = try store.refusal(versions[2], options)
        #expect(error.code == NSMigrationConstraintViolationError)
        #expect(error.localizedDescription.contains(store.url.path), "\(error.localizedDescription)")
        expectNoCopy(in: error)
        let files = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path)
        #expect(files.allSatisfy { !$0.contains("migration") }, "\(files)")
    }

    @Test(arguments: FileStoreType.allCases) func aFailedStageLeavesTheFile(type: FileStoreType) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("parcels")
        let stack = try FileStoreStack(versions[0], type, at: url)
        for _ in 0..<2 { _ = stack.insert("Parcel", ["name": "p"]) }
        try stack.context.save()
        try stack.coordinator.remove(stack.store)
        let before = try Data(contentsOf: url)
        let error = try #require(errorThrown { _ = try FileStoreStack(versions[2], type, at: url, options: options) })
        expectNoCopy(in: error)
        #expect(try Data(contentsOf: url) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["parcels"])
    }
}
