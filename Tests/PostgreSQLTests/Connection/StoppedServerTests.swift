import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A server that stops, with and without coming back.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct StoppedServerTests {
    private let server: PostgreSQLServer

    init() throws {
        server = try PostgreSQLServer()
        // The tests' servers do not wait for the disk unless they are told.
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("ALTER DATABASE \(server.database) SET synchronous_commit = on")
    }

    @Test func whatIsDoneWhileTheServerRestartsIsDoneWhenItIsBack() throws {
        let warehouse = try Warehouse(on: server)
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Item", ["name": "before"])
            try context.save()
            try server.control(.stop)
            let starter = OtherThread { [server] in
                Thread.sleep(forTimeInterval: 0.5)
                try server.control(.start)
            }
            _ = context.insert("Item", ["name": "meanwhile"])
            try context.save()
            #expect(try context.all("Item").count == 2)
            try starter.value()
        }
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name") == ["before", "meanwhile"])
    }

    @Test func aServerThatStaysAwayIsAnErrorAndNothingIsLost() throws {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 0.5], on: server)
        let context = warehouse.context
        try context.performAndWait {
            let item = context.insert("Item", ["name": "before"])
            try context.save()
            try server.control(.stop)
            item.setValue("after", forKey: "name")
            _ = context.insert("Item", ["name": "new"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.localizedDescription.contains(warehouse.schema), "\(error)")
            #expect(error.localizedRecoverySuggestion?.isEmpty == false)
            #expect(context.insertedObjects.count == 1)
            #expect(context.updatedObjects == [item])
            #expect(throws: NSError.self) { try context.all("Tag") }
            try server.control(.start)
            // The first connection to a server that has just started takes longest.
            _ = try warehouse.otherProgram()
            try context.save()
        }
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name") == ["after", "new"])
    }

    @Test func aServerThatIsNotThereIsSaid() throws {
        try server.control(.stop)
        let error = try #require(throws: NSError.self) { try Warehouse(on: server) }
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.localizedRecoverySuggestion?.contains("server") == true, "\(error)")
    }

    @Test func afterACrashWhatWasReportedIsThere() throws {
        let warehouse = try Warehouse(on: server)
        let other = try warehouse.otherProgram()
        var saved: [String] = []
        other.performAndWait {
            for number in 0..<40 {
                if number % 10 == 5 {
                    do {
                        try server.control(.stop)
                        try server.control(.start)
                    } catch { Issue.record(error) }
                }
                _ = other.insert("Item", ["name": "\(number)"])
                do {
                    try other.save()
                    saved.append("\(number)")
                } catch { other.reset() }
            }
        }
        #expect(saved.count == 40)
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY name") == saved.sorted())
    }
}
