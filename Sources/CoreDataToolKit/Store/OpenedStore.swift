import CoreData

/// A store opened for reading through Core Data.
final class OpenedStore {
    let store: ReadableStore
    let context: NSManagedObjectContext
    /// The entity whose objects are wanted.
    let entity: NSEntityDescription

    var model: StoreModel { store.model }

    /// Opens a store.
    ///
    /// - Parameter entity: the name of the entity that is wanted, whatever its case.
    /// - Throws: `ToolError`, or what Core Data says.
    init(path: String, modelPath: String?, entity name: String) throws {
        store = try ReadableStore(path: path, modelPath: modelPath, entity: name)
        entity = try store.entity(named: name)
        // The store's own model fits by definition, and transformable attributes are read as bytes: hashes do not count.
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
            NSPersistentStoreTimeoutOption: SQLiteReader.timeout, StoreInspection.immutableFileOption: store.file.isImmutable,
        ]
        try store.model.coordinator.addPersistentStore(
            type: .sqlite, configuration: store.model.configuration, at: store.file.url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = store.model.coordinator
    }
}
