import CoreData

/// Changes objects of any store, whose model it takes from the store itself.
enum Changing {
    /// Sets an integer attribute of the objects with a name, and deletes those with another one.
    static func run(
        _ url: URL, entity: String, name: String, attribute: String, to number: Int, deleting deletedName: String
    ) throws {
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        // The classes of the program that made the store are not here.
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                switch object.value(forKey: "name") as? String {
                case name: object.setValue(number, forKey: attribute)
                case deletedName: context.delete(object)
                default: break
                }
            }
            try context.save()
        }
        print("saved")
    }
}
