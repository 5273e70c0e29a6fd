import CoreData

/// A store opened for reading through Core Data.
final class OpenedStore {
    let store: ReadableStore
    let context: NSManagedObjectContext

    var model: StoreModel { store.model }

    /// - Parameters:
    ///   - entity: the name of the only entity whose rows are needed, in any case; nil for all.
    ///   - isSampled: whether few rows of large tables are searched for contradictions.
    /// - Throws: `ToolError`, or an error of Core Data.
    init(path: String, modelPath: String?, entity: String? = nil, isSampled: Bool = false) throws {
        store = try ReadableStore(path: path, modelPath: modelPath, entity: entity, isSampled: isSampled)
        // An unknown entity is named before anything is opened.
        if let entity { _ = try store.entity(named: entity) }
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

    /// Closes the engine's connections, and removes a private copy.
    func close() {
        context.performAndWait { context.reset() }
        for opened in model.coordinator.persistentStores { try? model.coordinator.remove(opened) }
        store.file.close()
    }
}
