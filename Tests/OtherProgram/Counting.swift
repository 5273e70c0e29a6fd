import CoreData
import CoreDataPostgreSQL
import TestSupport

/// Raises the numbers of a PostgreSQL store's items while others do.
enum Counting {
    /// Saves so many times: each save raises the number of one item by 1 and of another by 2. Again
    /// where another process was faster.
    static func run(_ url: URL, seed: UInt64, times: Int) throws {
        var generator = SeededGenerator(seed: seed)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        context.stalenessInterval = 0
        var (saved, conflicts) = (0, 0)
        try context.performAndWait {
            while saved < times {
                let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).shuffled(
                    using: &generator)
                for (item, amount) in zip(items, [1, 2]) {
                    item.setValue((item.value(forKey: "stockCount") as? Int ?? 0) + amount, forKey: "stockCount")
                }
                do {
                    try context.save()
                    saved += 1
                } catch let error as CocoaError where error.code == .managedObjectMerge {
                    context.reset()
                    conflicts += 1
                }
            }
        }
        print("saved \(saved), conflicts \(conflicts)")
    }
}
