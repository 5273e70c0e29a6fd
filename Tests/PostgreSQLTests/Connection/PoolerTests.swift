import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store behind a pooler that gives each transaction another process of the server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable && Pooler.program != nil, "needs PostgreSQL's server and PgBouncer"))
struct PoolerTests {
    private func store(
        _ pooler: Pooler, _ schema: String, direct: Bool = false, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let url = pooler.url(schema: schema, direct: direct)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        let context = coordinator.newContext()
        return context
    }

    @Test func itIsNoticedAndNothingIsKeptBetweenTransactions() throws {
        let server = try WireConnection.server()
        let pooler = try Pooler(server)
        let schema = server.newSchemaName()
        let contexts = try (0..<6).map { _ in try store(pooler, schema) }
        let opened = try #require(contexts[0].persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
        try opened.backend().pool.withConnection { connection in
            #expect(connection.isPooled)
            #expect(!connection.wire.keepsStatements)
            // What a session is set to is set for each transaction.
            let compiles = try connection.integer(
                WireStatement("SELECT CAST(current_setting('jit') = 'on' AS integer)"))
            #expect(compiles == 0)
        }
        DispatchQueue.concurrentPerform(iterations: contexts.count) { index in
            let context = contexts[index]
            context.performAndWait {
                for round in 0..<20 {
                    do {
                        for number in 0..<(round % 5 == 0 ? 60 : 2) {
                            let item = context.insert("Item", ["name": "\(index)", "stockCount": number])
                            item.setValue(
                                NSOrderedSet(array: [context.insert("Tag", ["label": "\(number)"])]), forKey: "tags")
                        }
                        try context.save()
                        let count = try context.count(
                            for: { () -> NSFetchRequest<NSManagedObject> in
                                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                                request.predicate = NSPredicate(
                                    format:
                                        "name ==\(PostgreSQLServer.hasICU ? "[cd]" : "") %@ AND ANY tags.label == '1'",
                                    "\(index)")
                                return request
                            }())
                        #expect(count == round + 1)
                    } catch { Issue.record(error) }
                }
            }
        }
        let connection = try WireConnection.open()
        defer { connection.close() }
        #expect(try connection.texts("SELECT count(*)::text FROM \(schema).item") == ["\(6 * (4 * 60 + 16 * 2))"])
        #expect(try connection.texts("SELECT count(*)::text FROM \(schema).ocd_transaction") == ["120"])
        withExtendedLifetime((contexts, pooler)) {}
    }

    @Test(arguments: [true, false]) func changesAreFollowedPastItOrByAsking(direct: Bool) throws {
        let server = try WireConnection.server()
        let pooler = try Pooler(server)
        let schema = server.newSchemaName()
        let context = try store(
            pooler, schema, direct: direct, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let told = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: context.persistentStoreCoordinator, queue: nil
        ) { _ in told.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        let other = try store(pooler, schema)
        let isTold = try wait(upTo: 20) {
            try other.performAndWait {
                _ = other.insert("Tag", ["label": "new"])
                try other.save()
            }
            return wait(upTo: 1) { told.withLock { $0 } > 0 }
        }
        #expect(isTold)
        withExtendedLifetime((context, pooler)) {}
    }
}
