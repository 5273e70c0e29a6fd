import CoreData

/// Uses a store through the engine and prints what became of it.
enum Opening {
    static func run(path: String, isReadOnly: Bool) throws {
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            let options: [AnyHashable: Any] = [
                NSReadOnlyPersistentStoreOption: isReadOnly, NSPersistentStoreTimeoutOption: 1,
            ]
            try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: path), options: options)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let makers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker"))
                print("names: " + makers.map { $0.value(forKey: "name") as? String ?? "nil" }.joined(separator: ", "))
                if isReadOnly { return }
                for maker in makers { maker.setValue("changed", forKey: "name") }
                try context.save()
                print("saved")
            }
        } catch {
            let error = error as NSError
            print("error \(error.code): \(error.localizedDescription)")
        }
    }

    static func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let maker = NSEntityDescription()
        maker.name = "Maker"
        maker.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [maker]
        return model
    }
}
