import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Tasks that are cancelled while the server works for them.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct CancelledTaskTests {
    /// A store whose items cannot be read while a connection holds their table, and which waits for
    /// it as long as it takes.
    private func blockedWarehouse() throws -> (Warehouse, LibPQConnection) {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 3600])
        try warehouse.context.performAndWait {
            for number in 0..<3 { _ = warehouse.context.insert("Item", ["name": "\(number)"]) }
            try warehouse.context.save()
            warehouse.context.reset()
        }
        let blocker = try WireConnection.open()
        try blocker.run("BEGIN; LOCK TABLE \(warehouse.schema).item IN ACCESS EXCLUSIVE MODE")
        return (warehouse, blocker)
    }

    enum Request: CaseIterable {
        case objects, count, references, dictionaries

        func run(_ context: NSManagedObjectContext) throws -> Int {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            switch self {
            case .objects: break
            case .count: return try context.count(for: request)
            case .references: request.resultType = .managedObjectIDResultType
            case .dictionaries: request.resultType = .dictionaryResultType
            }
            return try context.fetch(request).count
        }
    }

    @Test(arguments: Request.allCases) func aFetchEndsWithItsTask(request: Request) async throws {
        let (warehouse, blocker) = try blockedWarehouse()
        let context = warehouse.context
        let task = Task { try await context.perform { try request.run(context) } }
        await #expect(throws: CancellationError.self) { try await warehouse.valueCancelledWhileItWaits(of: task) }
        try blocker.run("ROLLBACK")
        // The connection and the context are as good as before.
        #expect(try await context.perform { try request.run(context) } == 3)
        #expect(try warehouse.store.withPool { $0.openConnections } == 1)
        blocker.close()
    }

    @Test func aFetchWhoseRequestIsLostLeavesAStoreThatWorks() async throws {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        proxy.conduct.holdsCancellations = true
        // So long the answer to the request is waited for, and the fetch for the table.
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 20], through: proxy)
        let context = warehouse.context
        try await context.perform {
            _ = context.insert("Item", ["name": "one"])
            try context.save()
        }
        let blocker = try WireConnection.open()
        try blocker.run("BEGIN; LOCK TABLE \(warehouse.schema).item IN ACCESS EXCLUSIVE MODE")
        let task = Task { try await context.perform { try context.all("Item", "name == 'one'").count } }
        await #expect(throws: CancellationError.self) { try await warehouse.valueCancelledWhileItWaits(of: task) }
        #expect(proxy.cancellations == 1)
        try blocker.run("ROLLBACK")
        #expect(try await context.perform { try context.all("Item", "name == 'one'").count } == 1)
        blocker.close()
    }

    @Test func aFetchOfACancelledTaskIsNotBegun() async throws {
        let (warehouse, blocker) = try blockedWarehouse()
        defer { blocker.close() }
        let context = warehouse.context
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await context.perform { try context.all("Item").count }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Neither saves nor faults are cancelled with their task.
    @Test func aSaveAndAFaultGoOnAlthoughTheirTaskWasCancelled() async throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        let item = try await context.perform {
            let item = Unchecked(context.insert("Item", ["name": "saved"]))
            try context.save()
            context.refresh(item.value, mergeChanges: false)
            return item
        }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await context.perform {
                let name = item.value.value(forKey: "name") as? String
                _ = context.insert("Item", ["name": "of a cancelled task"])
                try context.save()
                return name
            }
        }
        task.cancel()
        #expect(try await task.value == "saved")
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name") == ["of a cancelled task", "saved"])
    }

    @Test func aTaskThatABlockStartsIsNotCancelledWithIt() async throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        let other = try Unchecked(warehouse.otherProgram())
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await context.perform {
                Task { try other.value.performAndWait { try other.value.all("Item").count } }
            }
        }
        task.cancel()
        #expect(try await task.value.value == 0)
    }
}

extension NSPersistentStore {
    fileprivate func withPool<Result>(_ body: (PostgreSQLPool) throws -> Result) throws -> Result {
        try body(#require(self as? PostgreSQLStore).backend().pool)
    }
}
