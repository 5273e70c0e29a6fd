import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Several hosts, of which one takes changes at a time.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
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
        let follows = try Self.hasStandby("sync", connection)
        #expect(follows)
    }

    /// Whether the primary comes to know its standby as one of a kind.
    private static func hasStandby(_ kind: String, _ connection: LibPQConnection) throws -> Bool {
        try wait { try connection.texts("SELECT sync_state FROM pg_stat_replication") == [kind] }
    }

    private func options(_ hosts: String...) -> [AnyHashable: Any] {
        [
            NSPostgreSQLConnectionInfoKey:
                "host=\(hosts.joined(separator: ",")) dbname=\(primary.database) user=\(primary.user)"
        ]
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
        #expect(wait { saved.value >= 20 || saver.isOver })
        try primary.control(.stop)
        try WireConnection.open(standby.connectionString()).run("SELECT pg_promote(true, 60)")
        let before = saved.value
        #expect(wait { saved.value >= before + 20 || saver.isOver })
        isOver.increase()
        try saver.value()
        #expect(try names(on: standby, warehouse.schema) == (0..<saved.value).map { "\($0)" })
    }

    /// Tables of others do not say what was committed, and the server that takes over numbers its
    /// transactions anew: what another one has done under the number of the save is not taken for
    /// it.
    @Test func aServerThatTakesOverIsNotAskedForTransactionsOfTheOther() throws {
        let owner = try WireConnection.open(primary.connectionString())
        defer { owner.close() }
        try owner.run(
            "CREATE SCHEMA given; CREATE TABLE given.tags (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, label "
                + "text NOT NULL)"
        )
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject", [NSAttributeDescription("label", .stringAttributeType)])
        tag.userInfo = ["ocd.table": "tags"]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([tag]))
        var options = options(primary.socketFolder, standby.socketFolder)
        options[NSPostgreSQLGivenTablesOption] = true
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: primary.url(schema: "given"), options: options)
        let context = coordinator.newContext()
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "first"])
            try context.save()
            // The next commit waits for somebody who is not there.
            try owner.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try owner.run("SELECT pg_reload_conf()")
            let isAlone = try Self.hasStandby("async", owner)
            #expect(isAlone)
            let isOver = Counter()
            defer { isOver.increase() }
            let failover = OtherThread { [primary, standby] in
                let observer = try WireConnection.open(primary.connectionString())
                let waiting = "SELECT 'waits' FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                #expect(try wait { try isOver.value > 0 || !observer.texts(waiting).isEmpty })
                if isOver.value > 0 { return }
                try primary.control(.stop)
                let connection = try WireConnection.open(standby.connectionString())
                defer { connection.close() }
                try connection.run("SELECT pg_promote(true, 60)")
                // The numbers of the other server's transactions are given once more.
                for number in 0..<20 { try connection.run("INSERT INTO given.tags (label) VALUES ('other \(number)')") }
            }
            _ = context.insert("Tag", ["label": "unknown"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("another server may have taken over"), "\(error)")
            try failover.value()
            // The store goes on with that server.
            context.reset()
            _ = context.insert("Tag", ["label": "next"])
            try context.save()
        }
        let connection = try WireConnection.open(standby.connectionString())
        defer { connection.close() }
        let labels = try connection.texts("SELECT label FROM given.tags WHERE label IN ('first', 'next') ORDER BY id")
        #expect(labels == ["first", "next"])
    }
}
