import SafeCoreData
import TestSupport

/// A store of a model of classes in a folder of its own, and contexts on it.
final class EntityStack {
    let folder: TemporaryFolder
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let url: URL

    convenience init(_ entities: any EntityObject.Type...) throws {
        try self.init(model: NSManagedObjectModel(entityClasses: entities))
    }

    init(model: NSManagedObjectModel) throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        context = Self.context(of: coordinator)
    }

    /// The contexts made, which live as long as the stack: objects are of no use without their
    /// context.
    private var contexts: [NSManagedObjectContext] = []

    /// A context that has seen nothing yet.
    func freshContext() -> NSManagedObjectContext {
        let context = Self.context(of: coordinator)
        contexts.append(context)
        return context
    }

    /// The file as the sqlite3 library sees it.
    var file: SQLiteFile { SQLiteFile(url) }

    private static func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = coordinator.newContext()
        return context
    }
}

extension NSManagedObjectContext {
    /// The objects of a class, fetched.
    func all<Object: EntityObject>(_ type: Object.Type) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: Object.describeEntity().name)
        return try fetch(request)
    }
}
