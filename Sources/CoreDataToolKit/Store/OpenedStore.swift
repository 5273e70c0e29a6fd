import CoreData

/// A store opened for reading through Core Data.
final class OpenedStore {
    let file: StoreFile
    let contents: StoreContents
    let model: StoreModel
    let context: NSManagedObjectContext

    /// Opens a store.
    ///
    /// - Throws: `ToolError`, or what Core Data says.
    init(path: String, modelPath: String?) throws {
        file = try StoreFile(path: path)
        let reader: SQLiteReader
        do {
            reader = try file.reader()
            contents = try StoreContents(file, reader: reader)
            model = try StoreModel(contents, reader: reader, modelPath: modelPath)
        } catch let failure as SQLiteReader.Failure {
            throw StoreContents.error(failure, file)
        }
        let coordinator = try NSPersistentStoreCoordinator(validating: model.model)
        // The store's own model fits by definition, and transformable attributes are read as bytes: hashes do not count.
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
            NSPersistentStoreTimeoutOption: SQLiteReader.timeout, StoreInspection.immutableFileOption: file.isImmutable,
        ]
        try coordinator.addPersistentStore(type: .sqlite, at: file.url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    /// The entity of a name, whatever its case.
    ///
    /// - Throws: `ToolError` with near names.
    func entity(named name: String) throws -> NSEntityDescription {
        let names = model.model.entities.compactMap(\.name).sorted()
        if let entity = model.model.entitiesByName[name] { return entity }
        let near = names.filter { $0.lowercased() == name.lowercased() }
        if near.count == 1, let entity = model.model.entitiesByName[near[0]] { return entity }
        throw ToolError(
            "The store '\(file.originalURL.path)' has no entity '\(name)'. "
                + NearNames.advice(for: name, among: names, kind: "entity"))
    }
}
