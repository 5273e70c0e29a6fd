import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A server that ends connections, and writers that meet.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct StoreFaultTests {
    /// Ends the connections of stores that are in the middle of something in a schema.
    ///
    /// - Returns: how many.
    private static func endConnections(_ schema: String, by connection: LibPQConnection) throws -> Int {
        try connection.texts(
            """
            SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE application_name = 'OpenCoreData' \
            AND pid IN (SELECT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relnamespace = \
            '\(schema)'::regnamespace)
            """
        ).count { $0 == "true" }
    }

    @Test func connectionsThatWereLostAreMadeAnew() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try context.performAndWait {
            for round in 1...5 {
                _ = context.insert("Item", ["name": "\(round)"])
                try context.save()
                let backend = try #require(warehouse.store as? PostgreSQLStore).backend()
                _ = try backend.pool.withConnection { connection in
                    let process = connection.wire.facts.backendProcessID
                    _ = try warehouse.texts("SELECT pg_terminate_backend(\(process), 10000)")
                }
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == round)
            }
        }
    }

    @Test func aSaveSucceedsAlthoughAllConnectionsWereLost() throws {
        let warehouse = try Warehouse()
        let pool = try #require(warehouse.store as? PostgreSQLStore).backend().pool
        try warehouse.context.performAndWait {
            for round in 1...3 {
                let processes = try processesOfConnections(5, of: pool)
                #expect(Set(processes).count == 5)
                for process in processes { _ = try warehouse.texts("SELECT pg_terminate_backend(\(process), 10000)") }
                _ = warehouse.context.insert("Item", ["name": "\(round)"])
                try warehouse.context.save()
            }
        }
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name") == ["1", "2", "3"])
    }

    /// The server's processes of so many connections, all of which are then free.
    private func processesOfConnections(_ count: Int, of pool: PostgreSQLPool) throws -> [Int32] {
        if count == 0 { return [] }
        return try pool.withConnection { connection in
            [Int32(connection.wire.facts.backendProcessID)] + (try processesOfConnections(count - 1, of: pool))
        }
    }

    /// How many connections a run ends. Each spoils a save at most, and there are more saves than
    /// that.
    private static let wantedEnds = 8
    private static let fewestSaves = 25

    /// The connection is lost at a random moment: a save that was reported as done is there, once,
    /// and one that was reported as failed is not.
    @Test(arguments: 0..<(LongTests.areEnabled ? 200 : 12)) func aSaveIsDoneOnceOrNotAtAll(seed: Int) throws {
        let warehouse = try Warehouse()
        let (isEnded, ends) = (Flag(), Counter())
        let schema = warehouse.schema
        let killer = OtherThread {
            var generator = SeededGenerator(seed: UInt64(seed))
            let connection = try WireConnection.open()
            defer { connection.close() }
            while !isEnded.isRaised, ends.value < Self.wantedEnds {
                _ = wait(upTo: Double.random(in: 0...0.01, using: &generator)) { isEnded.isRaised }
                try ends.increase(by: Self.endConnections(schema, by: connection))
            }
        }
        var saved: [String] = []
        warehouse.context.performAndWait {
            var number = 0
            // Who ends connections may meet none for long.
            while number < Self.fewestSaves || ends.value < Self.wantedEnds && number < 2000 && !killer.isOver {
                let name = "\(number)"
                // Some saves are a few statements, others a copy.
                let count = number % 3 == 0 ? 80 : 1
                for _ in 0..<count { _ = warehouse.context.insert("Item", ["name": name]) }
                do {
                    try warehouse.context.save()
                    saved += Array(repeating: name, count: count)
                } catch {
                    let error = error as NSError
                    #expect(error.domain == NSCocoaErrorDomain, "\(error)")
                    warehouse.context.reset()
                }
                number += 1
            }
        }
        isEnded.raise()
        try killer.value()
        #expect(ends.value > 0)
        #expect(!saved.isEmpty)
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name").compactMap { $0 } == saved.sorted())
    }

    @Test func eightWritersCountExactly() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for _ in 0..<5 { _ = warehouse.context.insert("Item", [:]) }
            try warehouse.context.save()
        }
        let writers = try (0..<8).map { _ in try warehouse.otherProgram() }
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            let context = writers[index]
            context.performAndWait { context.countItems(times: 10) }
        }
        #expect(try warehouse.texts("SELECT stock_count FROM item") == Array(repeating: "80", count: 5))
    }

    @Test func aStoreWithoutFreeConnectionsSaysSo() throws {
        let warehouse = try Warehouse(options: [
            NSPersistentStoreConnectionPoolMaxSizeKey: 1, NSPersistentStoreTimeoutOption: 0.2,
        ])
        let pool = try #require(warehouse.store as? PostgreSQLStore).backend().pool
        try pool.withConnection { _ in
            let error = try #require(throws: NSError.self) { try pool.withConnection { _ in } }
            #expect(error.code == CocoaError.Code.persistentStoreTimeout.rawValue)
            #expect(error.localizedDescription.contains("1 connections"))
        }
    }

    @Test func rowsThatAnotherProgramHoldsAreWaitedForInVain() throws {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 0.3])
        try warehouse.context.performAndWait {
            let item = warehouse.context.insert("Item", ["name": "held"])
            try warehouse.context.save()
            let connection = try WireConnection.open()
            try connection.run("BEGIN; UPDATE \(warehouse.schema).item SET stock_count = 5")
            item.setValue("mine", forKey: "name")
            let error = try #require(throws: NSError.self) { try warehouse.context.save() }
            #expect(error.code == CocoaError.Code.persistentStoreTimeout.rawValue, "\(error)")
            try connection.run("ROLLBACK")
            try warehouse.context.save()
            connection.close()
            #expect(try warehouse.texts("SELECT name FROM item") == ["mine"])
        }
    }
}

/// Something that one thread says to others.
private final class Flag: Sendable {
    private let raised = Mutex(false)

    var isRaised: Bool { raised.withLock { $0 } }
    func raise() { raised.withLock { $0 = true } }
}
