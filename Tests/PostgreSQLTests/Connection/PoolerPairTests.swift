import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A pooler, beside connections that end in the middle of saves, stores that move, and migrations.
@Suite(
    .long,
    .enabled(if: PostgreSQLServer.isAvailable && Pooler.program != nil, "needs PostgreSQL's server and PgBouncer"))
struct PoolerPairTests {
    private let server: PostgreSQLServer
    private let pooler: Pooler

    init() throws {
        server = try WireConnection.server()
        pooler = try Pooler(server)
    }

    /// A store through the pooler, in a schema of its own.
    private func open() throws -> (context: NSManagedObjectContext, tables: PostgreSQLTables) {
        let schema = server.newSchemaName()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: pooler.url(schema: schema), options: nil)
        return (coordinator.newContext(), PostgreSQLTables(server.url(schema: schema)))
    }

    private func insert(_ count: Int, _ name: String, into context: NSManagedObjectContext) {
        for _ in 0..<count {
            let item = context.insert("Item", ["name": name])
            item.setValue(NSOrderedSet(object: context.insert("Tag", ["label": name])), forKey: "tags")
        }
    }

    /// Ends the server's processes that wait for a table, once there are any.
    private static func endWaiting(for table: String, _ observer: PostgreSQLTables, unless isOver: () -> Bool) {
        let condition = "NOT granted AND relation = '\(observer.schema).\(table)'::regclass"
        let waits = wait { observer.integer("SELECT count(*) FROM pg_locks WHERE \(condition)") != 0 || isOver() }
        #expect(waits)
        _ = observer.rows(
            "SELECT pg_terminate_backend(pid, 10000) FROM (SELECT DISTINCT pid FROM pg_locks WHERE \(condition)) AS p")
    }

    // MARK: Saves

    /// The server's process ends at a random moment: a save that was reported as done is there,
    /// once, and one that was reported as failed is not.
    @Test(arguments: 0..<(LongTests.areEnabled ? 40 : 4)) func aSaveWhoseProcessesEndIsDoneOnceOrNotAtAll(seed: Int)
        throws
    {
        let (context, tables) = try open()
        let isEnded = Counter()
        let url = server.url(schema: tables.schema)
        let killer = OtherThread<Void> {
            var generator = SeededGenerator(seed: UInt64(seed))
            let observer = PostgreSQLTables(url)
            while isEnded.value == 0 {
                _ = wait(upTo: Double.random(in: 0...0.01, using: &generator)) { isEnded.value > 0 }
                _ = observer.rows(
                    """
                    SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_class c ON \
                    c.oid = l.relation \
                    WHERE c.relnamespace = '\(observer.schema)'::regnamespace AND l.pid <> pg_backend_pid()) AS p
                    """)
            }
        }
        var saved: [String] = []
        context.performAndWait {
            for number in 0..<25 {
                let count = number % 3 == 0 ? 80 : 1
                insert(count, "\(number)", into: context)
                do {
                    try context.save()
                    saved += Array(repeating: "\(number)", count: count)
                } catch {
                    #expect((error as NSError).domain == NSCocoaErrorDomain, "\(error)")
                    context.reset()
                }
            }
        }
        isEnded.increase()
        try killer.value()
        saved.sort()
        #expect(tables.column("SELECT name FROM item ORDER BY name COLLATE \"C\"").compactMap { $0 } == saved)
        #expect(tables.column("SELECT label FROM tag ORDER BY label COLLATE \"C\"").compactMap { $0 } == saved)
        #expect(tables.integer("SELECT count(*) FROM item_tags") == saved.count)
    }

    /// In the middle of the statements of a save, once or again and again.
    @Test(arguments: [1, 80], [1, 2, 3]) func aSaveThatIsEndedInTheMiddleIsMadeOnce(count: Int, ends: Int) throws {
        let (context, tables) = try open()
        try context.performAndWait {
            insert(1, "before", into: context)
            try context.save()
        }
        let holder = PostgreSQLTables(server.url(schema: tables.schema))
        #expect(holder.execute("BEGIN; LOCK TABLE tag IN ACCESS EXCLUSIVE MODE"))
        let save = OtherThread<Void> {
            try context.performAndWait {
                for _ in 0..<count {
                    let item = context.insert("Item", ["name": "new"])
                    item.setValue(NSOrderedSet(object: context.insert("Tag", ["label": "new"])), forKey: "tags")
                }
                try context.save()
            }
        }
        for _ in 0..<ends { Self.endWaiting(for: "tag", tables) { save.isOver } }
        #expect(holder.execute("COMMIT"))
        let error = errorThrown { try save.value() }
        #expect(error == nil || error?.domain == NSCocoaErrorDomain, "\(error as Any)")
        let written = tables.integer("SELECT count(*) FROM item WHERE name = 'new'")
        #expect(written == (error == nil ? count : 0))
        #expect(tables.integer("SELECT count(*) FROM tag WHERE label = 'new'") == written)
        // What was not saved is still to be saved.
        try context.performAndWait {
            #expect(context.hasChanges == (error != nil))
            try context.save()
        }
        #expect(tables.integer("SELECT count(*) FROM item") == count + 1)
        #expect(tables.integer("SELECT count(*) FROM item_tags") == count + 1)
    }

    // MARK: Moves

    /// A file with items of two entities, their makers and tags.
    private func file(_ coordinator: NSPersistentStoreCoordinator, at url: URL) throws -> NSPersistentStore {
        let file = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = coordinator.newContext()
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "ACME"])
            let tags = ["a", "b", "c"].map { context.insert("Tag", ["label": $0]) }
            for number in 0..<150 {
                let item = context.insert(
                    number % 3 == 0 ? "Kit" : "Item", ["name": "\(number)", "stockCount": number, "code": UUID()])
                item.setValue(Data(repeating: UInt8(number), count: number * 10), forKey: "data")
                item.setValue(NSOrderedSet(array: [tags[number % 3], tags[(number + 2) % 3]]), forKey: "tags")
                if number % 2 == 0 { item.setValue(maker, forKey: "maker") }
            }
            try context.save()
        }
        return file
    }

    @Test func aStoreMovesThroughAPoolerAndBack() throws {
        let folder = try TemporaryFolder()
        let model = Warehouse.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let first = try file(coordinator, at: folder.file("first.sqlite"))
        func graph() throws -> ObjectGraph {
            let context = coordinator.newContext()
            return try context.performAndWait { try ObjectGraph(context, model) }
        }
        let before = try graph()
        #expect(before.objects.count == 154)
        let schema = server.newSchemaName()
        let (there, names) = try ObjectGraph.move(
            first, of: coordinator, to: pooler.url(schema: schema), type: NSPostgreSQLStoreType)
        let moved = try graph()
        #expect(moved == before.renamed(names))
        #expect(PostgreSQLTables(server.url(schema: schema)).integer("SELECT count(*) FROM item_tags") == 300)
        let (back, namesBack) = try ObjectGraph.move(
            there, of: coordinator, to: folder.file("second.sqlite"), type: NSSQLiteStoreType)
        #expect(try graph() == moved.renamed(namesBack))
        #expect(coordinator.persistentStores == [back])
        #expect(SQLiteFile(folder.file("second.sqlite")).integer("SELECT count(*) FROM ZITEM") == 150)
    }

    /// The server's process ends while rows are copied.
    @Test(arguments: ["item", "tag", "item_tags"]) func aMoveThatIsEndedLeavesTheStoreWhereItWas(table: String) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let first = try file(coordinator, at: folder.file("first.sqlite"))
        // The tables are there before.
        let (_, tables) = try open()
        let place = pooler.url(schema: tables.schema)
        let holder = PostgreSQLTables(server.url(schema: tables.schema))
        #expect(holder.execute("BEGIN; LOCK TABLE \(table) IN EXCLUSIVE MODE"))
        let move = OtherThread<Void> {
            _ = try coordinator.migratePersistentStore(first, to: place, options: nil, withType: NSPostgreSQLStoreType)
        }
        Self.endWaiting(for: table, tables) { move.isOver }
        #expect(holder.execute("COMMIT"))
        let error = errorThrown { try move.value() }
        #expect(error?.domain == NSCocoaErrorDomain, "\(error as Any)")
        for name in ["item", "tag", "maker", "item_tags"] {
            #expect(tables.integer("SELECT count(*) FROM \(name)") == 0, "\(name)")
        }
        #expect(coordinator.persistentStores == [first])
        // The next time it moves, with all that it has by then.
        let context = coordinator.newContext()
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "later"])
            try context.save()
        }
        try coordinator.migratePersistentStore(first, to: place, options: nil, withType: NSPostgreSQLStoreType)
        #expect(tables.integer("SELECT count(*) FROM item") == 150)
        #expect(tables.integer("SELECT count(*) FROM item_tags") == 300)
        #expect(tables.column("SELECT label FROM tag ORDER BY label") == ["a", "b", "c", "later"])
    }

    // MARK: Migrations

    @Test(arguments: VersionedShelves.Change.allCases)
    func aMigrationThroughAPoolerWhoseProcessIsEndedIsMadeTheNextTime(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        let (url, pooled) = (store.url, pooler.url(schema: store.schema))
        var ended = 0
        for step in 1...30 {
            let reports = Counter()
            let error = errorThrown {
                _ = try VersionedShelves.migrate(pooled, change) { fraction in
                    guard fraction > 0, fraction < 1, reports.increase() == step else { return }
                    VersionedShelves.endMigration(of: url)
                }
            }
            guard error != nil else { break }
            ended += 1
            #expect(error?.domain == NSCocoaErrorDomain, "\(error as Any)")
            let isLater = try store.isLater("ended at report \(step)")
            #expect(!isLater, "ended at report \(step)")
        }
        #expect(ended >= 3)
        try store.expectAllRows(through: pooled)
    }

    /// Some through the pooler, which has a connection for each of them, and others past it.
    @Test(arguments: VersionedShelves.Change.allCases)
    func ofProgramsThatComeThroughAPoolerAndPastItOneMigrates(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        let (direct, pooled) = (store.url, pooler.url(schema: store.schema))
        let programs = (0..<4).map { index in
            OtherThread<Bool> {
                try VersionedShelves.migrate(index % 2 == 0 ? pooled : direct, change).contains { $0 > 0 && $0 < 1 }
            }
        }
        let made = try programs.map { try $0.value() }
        #expect(made.filter { $0 }.count == 1)
        try store.expectAllRows(through: pooled)
    }
}
