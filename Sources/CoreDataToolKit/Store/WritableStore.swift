import CoreData

/// A store opened for changes through Core Data.
///
/// History is recorded where the store has one.
final class WritableStore {
    let model: StoreModel
    let url: URL
    let store: NSPersistentStore
    let context: NSManagedObjectContext

    /// - Parameter modelPath: the model of a store that carries none.
    /// - Throws: `ToolError` when the store is damaged or carries no model, or an error of Core
    ///   Data.
    init(path: String, modelPath: String?) throws {
        (model, url) = try Self.model(path, modelPath)
        // Version hashes are ignored: transformable attributes are written as bytes. The store
        // keeps the hashes of its own model.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let options: [AnyHashable: Any] = [
            NSIgnorePersistentStoreVersioningOption: true,
            NSPersistentStoreTimeoutOption: SQLiteReader.timeout,
            HistoryTracking.continuingOption: true,
        ]
        store = try model.coordinator.addPersistentStore(
            type: .sqlite, configuration: model.configuration, at: url, options: options)
        store.metadata = metadata
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = model.coordinator
        context.transactionAuthor = "coredata"
    }

    /// Reads the model of a store, and closes the store again.
    ///
    /// - Parameter modelPath: the model of a store that carries none.
    private static func model(_ path: String, _ modelPath: String?) throws -> (StoreModel, URL) {
        var readable = try ReadableStore(path: path, modelPath: nil)
        defer { readable.file.close() }
        if let modelPath, readable.model.origin == .tables {
            readable.file.close()
            readable = try ReadableStore(path: path, modelPath: modelPath)
        }
        guard readable.model.origin != .tables else {
            throw ToolError(
                "The store '\(path)' carries no model, and one inferred from tables is too little to change it by. "
                    + "Name the model that it was made with: --model FILE.")
        }
        guard readable.survey.mends.isEmpty else {
            throw ToolError(
                "The store '\(path)' is not as its model says, so nothing is written: "
                    + readable.problems.prefix(3).joined(separator: " "))
        }
        return (readable.model, readable.file.originalURL)
    }

    /// Makes an empty store.
    ///
    /// - Parameter modelPath: a model file, or a store that carries a model.
    static func make(at path: String, modelPath: String) throws {
        let model = try NamedModel(path: modelPath, version: nil).model
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: path))
        try coordinator.remove(store)
    }

    /// Closes the store.
    func close() throws {
        context.performAndWait { context.reset() }
        try model.coordinator.remove(store)
    }
}
