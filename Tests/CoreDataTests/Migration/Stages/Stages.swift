import CoreData
import TestSupport

/// Three versions of a model: pets become objects of their own, and the former names go.
enum PetVersions {
    static var first: NSManagedObjectModel { model(entity("User", text("name"), text("petName"))) }

    static var second: NSManagedObjectModel { third(text("petName")) }

    static var third: NSManagedObjectModel { third(nil) }

    private static func third(_ petName: NSAttributeDescription?) -> NSManagedObjectModel {
        let user = entity("User", text("name"))
        if let petName { user.properties += [petName] }
        let pet = entity("Pet", text("name", optional: false))
        relate(user, "pet", pet, inverse: "owner")
        return model(user, pet)
    }

    /// Makes the pets of the second version.
    static func makePets(_ manager: NSStagedMigrationManager, _ stage: NSCustomMigrationStage) throws {
        guard let context = manager.container?.newBackgroundContext() else { return }
        try context.performAndWait {
            for user in try context.objects("User") {
                guard let name = user.value(forKey: "petName") as? String else { continue }
                user.setValue(context.insert("Pet", ["name": name]), forKey: "pet")
            }
            try context.save()
        }
    }

    static func fill(_ store: MigratedStore) throws {
        try store.open(first) { context in
            context.insert("User", ["name": "Ada", "petName": "Rex"])
            context.insert("User", ["name": "Bob"])
            context.insert("User", ["name": "Cy", "petName": "Tom"])
        }
    }

    /// The names of the users and their pets.
    static func pairs(_ context: NSManagedObjectContext) throws -> [String] {
        try context.objects("User", by: "name").map { user in
            let pet = user.value(forKey: "pet") as? NSManagedObject
            return "\(user.value(forKey: "name") ?? "") \(pet?.value(forKey: "name") ?? "-")"
        }
    }

    static let expected = ["Ada Rex", "Bob -", "Cy Tom"]
}

extension NSManagedObjectModel {
    var reference: NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: self, versionChecksum: versionChecksum)
    }
}

extension NSStagedMigrationManager {
    var options: [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentStoreStagedMigrationManagerOptionKey: self]) { $1 }
    }
}

/// A compiled model with several versions in a folder of its own.
struct ModelBundle {
    let folder: TemporaryFolder
    let url: URL

    init(_ versions: [(name: String, model: NSManagedObjectModel)]) throws {
        folder = try TemporaryFolder()
        url = folder.file("Bundle.momd")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, model) in versions {
            try model.archivedModel().write(to: url.appendingPathComponent("\(name).mom"))
        }
    }

    func model(_ version: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(reading: url, version: version)
    }
}
