import CoreData

/// An empty store that the engine makes of a model: what a damaged store has lost of its own tables
/// is taken from it.
final class StoreTemplate {
    let schema: DamagedSchema
    let reader: SQLiteReader
    private let folder: PrivateFolder

    /// - Throws: an error of Core Data when the model makes no store.
    init(_ original: NSManagedObjectModel) throws {
        let model = original.copy() as? NSManagedObjectModel ?? original
        model.forgetClasses()
        folder = try PrivateFolder()
        let url = folder.file("template.sqlite")
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        try coordinator.remove(store)
        reader = try SQLiteReader(path: url.path, isImmutable: false)
        schema = try DamagedSchema(reader)
    }
}
