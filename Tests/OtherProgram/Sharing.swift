import CSQLite
import CoreData
import Foundation
import TestSupport

/// Uses a store of makers at the same time as other programs.
enum Sharing {
    /// Keeps a lock of the store until standard input ends.
    ///
    /// - Parameter how: `writing`, with changes; `exclusive`, of the whole file; or `reading`.
    static func hold(_ how: String, path: String) throws {
        let holder = SQLiteFile(URL(fileURLWithPath: path), flags: SQLITE_OPEN_READWRITE)
        switch how {
        case "reading": try holder.run("BEGIN; SELECT count(*) FROM ZMAKER")
        case "exclusive":
            try holder.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE ZMAKER SET ZNAME = 'half done'")
        default: try holder.run("BEGIN IMMEDIATE; UPDATE ZMAKER SET ZNAME = 'half done'")
        }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while readLine() != nil {}
    }

    /// Saves so many times without a pause, and prints how often that went well.
    static func save(path: String, times: Int) throws {
        let context = try open(path, Opening.model(), timeout: 20)
        let saved = try context.performAndWait {
            for number in 0..<times {
                let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
                maker.setValue("\(getpid()) \(number)", forKey: "name")
                try context.save()
            }
            return times
        }
        print("saved \(saved)")
    }

    /// Says that it begins, migrates the store to a model with one attribute more, and prints the
    /// number of makers.
    static func migrate(path: String) throws {
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        let model = Opening.model()
        let town = NSAttributeDescription("town", .stringAttributeType)
        model.entities[0].properties.append(town)
        let context = try open(path, model, timeout: 60)
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Maker"))
        }
        print("opened \(count)")
    }

    private static func open(_ path: String, _ model: NSManagedObjectModel, timeout: Int) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [
            NSPersistentStoreTimeoutOption: timeout, NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: path), options: options)
        return coordinator.newContext()
    }
}
