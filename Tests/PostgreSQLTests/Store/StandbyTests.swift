import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store for reading on a server that follows another one: it lets nobody listen.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct StandbyTests {
    @Test func changesAreFollowedByAsking() throws {
        let primary = try PostgreSQLServer()
        let warehouse = try Warehouse(on: primary)
        let item = try warehouse.context.performAndWait {
            let item = warehouse.context.insert("Item", ["name": "before"])
            try warehouse.context.save()
            return item
        }
        let standby = try PostgreSQLServer(standbyOf: primary)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let url = standby.url(schema: warehouse.schema)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        let context = coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        let told = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in
            told.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let theirs = try context.performAndWait { try context.all("Item")[0] }
        for round in 1...(LongTests.areEnabled ? 3 : 1) {
            try warehouse.context.performAndWait {
                item.setValue("\(round)", forKey: "name")
                try warehouse.context.save()
            }
            func hasFollowed() -> Bool {
                context.performAndWait { theirs.value(forKey: "name") as? String == "\(round)" }
            }
            #expect(wait(upTo: 30) { hasFollowed() }, "round \(round)")
            // Observers hear of it after the context.
            #expect(wait(upTo: 30) { told.withLock { $0 } >= round })
        }
        let said = Warnings.all.filter { $0.contains(StoreName.path(url)) && $0.contains("every second") }
        #expect(said.count == 1, "\(said)")
        #expect(said.first?.contains("recovery") == true, "\(said)")
    }
}
