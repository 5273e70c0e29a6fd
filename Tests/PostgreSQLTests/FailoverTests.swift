import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Several hosts, of which one takes changes at a time.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct FailoverTests {
    private let primary: PostgreSQLServer
    private let standby: PostgreSQLServer

    /// The standby has whatever the primary has said to be saved.
    init() throws {
        primary = try PostgreSQLServer()
        let connection = try WireConnection.open(primary.connectionString())
        defer { connection.close() }
        // The tests' servers do not wait for the disk, nor for each other, unless they are told.
        try connection.run("ALTER SYSTEM SET synchronous_commit = on")
        standby = try PostgreSQLServer(standbyOf: primary)
        try connection.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try connection.run("SELECT pg_reload_conf()")
        while try connection.texts("SELECT sync_state FROM pg_stat_replication") != ["sync"] { usleep(2_000) }
    }

    private func options(_ hosts: String...) -> [AnyHashable: Any] {
        [NSPostgreSQLConnectionInfoKey: "host=\(hosts.joined(separator: ",")) dbname=\(primary.database) user=\(primary.user)"]
    }

    private func names(on server: PostgreSQLServer, _ schema: String) throws -> [String?] {
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        return try connection.texts("SELECT name FROM \(schema).item ORDER BY id")
    }

    @Test func theHostThatTakesChangesIsFound() throws {
        for first in ["/tmp/nobody", standby.socketFolder] {
            let warehouse = try Warehouse(options: options(first, primary.socketFolder), on: primary)
            try warehouse.context.performAndWait {
                _ = warehouse.context.insert("Item", ["name": "saved"])
                try warehouse.context.save()
            }
            #expect(try names(on: primary, warehouse.schema) == ["saved"])
        }
    }

    @Test func aURLNamesSeveralHostsToo() throws {
        let hosts = "\(standby.socketFolder),\(primary.socketFolder)"
        let url = try #require(URL(string: "postgresql:///app?user=app&host=\(hosts)&ocd.schema=of_several"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        #expect(try names(on: primary, "of_several") == [])
    }

    /// Nothing that was reported is lost or doubled, whatever was under way.
    @Test func savesAndFetchesGoOnWithTheServerThatTakesOver() throws {
        let warehouse = try Warehouse(options: options(primary.socketFolder, standby.socketFolder), on: primary)
        let context = warehouse.context
        let saved = Counter()
        let isOver = Counter()
        let saver = OtherThread {
            try context.performAndWait {
                while isOver.value == 0 {
                    _ = context.insert("Item", ["name": "\(saved.value)"])
                    try context.save()
                    saved.increase()
                    // A fetch, too, is never refused.
                    #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == saved.value)
                }
            }
        }
        while saved.value < 20, !saver.isOver { Thread.sleep(forTimeInterval: 0.001) }
        try primary.control(.stop)
        try WireConnection.open(standby.connectionString()).run("SELECT pg_promote(true, 60)")
        let before = saved.value
        while saved.value < before + 20, !saver.isOver { Thread.sleep(forTimeInterval: 0.001) }
        isOver.increase()
        try saver.value()
        #expect(try names(on: standby, warehouse.schema) == (0..<saved.value).map { "\($0)" })
    }
}
