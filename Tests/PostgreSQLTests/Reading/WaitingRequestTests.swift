import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Requests that wait for the server, and tasks that have nothing to do with them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WaitingRequestTests {
    enum Request: CaseIterable {
        case fetch, fault, save

        func run(_ context: NSManagedObjectContext, _ known: NSManagedObjectID) throws {
            switch self {
            case .fetch: _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            case .fault: _ = try context.existingObject(with: known).value(forKey: "name")
            case .save:
                _ = context.insert("Item", ["name": "new"])
                try context.save()
            }
        }
    }

    /// More than there are threads that tasks share.
    private static let count = ProcessInfo.processInfo.activeProcessorCount + 4

    /// Tasks of one priority share threads, and tests hold those of theirs.
    private static let priority = TaskPriority.utility

    /// Whether something comes to pass so often, of which somebody signals each time. Who waits for
    /// ever would say nothing.
    private func happens(_ event: DispatchSemaphore, _ times: Int = 1) -> Bool {
        let deadline = DispatchTime.now() + .seconds(120)
        return (0..<times).allSatisfy { _ in event.wait(timeout: deadline) == .success }
    }

    @Test(arguments: Request.allCases) func requestsThatWaitHoldNoThreadThatTasksShare(request: Request) async throws {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 3600])
        let known = try warehouse.context.performAndWait {
            let item = warehouse.context.insert("Item", ["name": "old"])
            try warehouse.context.save()
            return item.objectID
        }
        // Reads no row that the save has left in memory.
        let readers = NSPersistentStoreCoordinator(managedObjectModel: warehouse.coordinator.managedObjectModel)
        let store = try readers.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: warehouse.url,
            options: [NSPersistentStoreTimeoutOption: 3600])
        let id = try #require(readers.managedObjectID(forURIRepresentation: known.uriRepresentation()))
        let blocker = try WireConnection.open()
        defer { blocker.close() }
        try blocker.run("BEGIN; LOCK TABLE \(warehouse.schema).item IN ACCESS EXCLUSIVE MODE")

        let (begun, ended) = (DispatchSemaphore(value: 0), Counter())
        let tasks = (0..<Self.count).map { _ in
            let context = readers.newContext()
            return Task.detached(priority: Self.priority) {
                try await context.perform {
                    begun.signal()
                    try request.run(context, id)
                }
                ended.increase()
            }
        }
        // As many blocks run at once, each of which waits for the table or for a connection of the
        // store.
        #expect(happens(begun, Self.count))
        let isServed = DispatchSemaphore(value: 0)
        Task.detached(priority: Self.priority) { isServed.signal() }
        #expect(happens(isServed))
        #expect(ended.value == 0)
        try blocker.run("ROLLBACK")
        for task in tasks { try await task.value }
        #expect(ended.value == Self.count)
        let rows = try warehouse.texts("SELECT count(*) FROM item")
        #expect(rows == ["\(request == .save ? Self.count + 1 : 1)"])
        try readers.remove(store)
    }
}
