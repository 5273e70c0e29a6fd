import CoreData
import Dispatch
import Foundation
import TestSupport

/// Uses a main-queue context where the main program is not asynchronous, and prints the authors
/// that it made. A signal ends the program after a minute.
enum MainQueue {
    /// - Parameter how: What runs the main queue: `dispatch`, `run-loop` or `none`.
    static func run(_ how: String) throws {
        alarm(60)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let view = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        view.persistentStoreCoordinator = coordinator
        let background = coordinator.newContext()
        view.performAndWait {
            view.author("Ada")
            background.performAndWait { view.performAndWait { _ = view.author("Ida") } }
        }
        if how == "none" { return finish(view) }
        Thread.detachNewThread {
            view.performAndWait { _ = view.author("Ina") }
            let child = view.newChild()
            child.performAndWait {
                child.author("Uma")
                try? child.save()
            }
            view.perform {
                finish(view)
                exit(0)
            }
        }
        if how == "dispatch" { dispatchMain() }
        RunLoop.main.run()
    }

    private static func finish(_ view: NSManagedObjectContext) {
        let names = (try? view.names()) ?? []
        print(names.map { $0 ?? "nil" }.joined(separator: ", "))
    }
}
