import CoreData

/// A store opened for reading through Core Data.
final class OpenedStore {
    let store: ReadableStore
    let context: NSManagedObjectContext
    let entity: NSEntityDescription

    var model: StoreModel { store.model }

    /// - Parameter entity: the name of the requested entity, in any case.
    /// - Throws: `ToolError`, or an error of Core Data.
    init(path: String, modelPath: String?, entity name: String) throws {
        store = try ReadableStore(path: path, modelPath: modelPath, entity: name)
        entity = try store.entity(named: name)
        // Version hashes are ignored: the store's own model always fits, and transformable
        // attributes are read as bytes.
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
            NSPersistentStoreTimeoutOption: SQLiteReader.timeout,
            StoreInspection.immutableFileOption: store.file.isImmutable,
        ]
        try store.model.coordinator.addPersistentStore(
            type: .sqlite, configuration: store.model.configuration, at: store.file.url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = store.model.coordinator
    }
}
