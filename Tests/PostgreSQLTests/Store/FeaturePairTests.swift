import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Features of the store that meet each other, and those of contexts and coordinators.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct FeaturePairTests {
    private static let many = 1_200

    // MARK: Large updates

    /// The rows of the large update are not locked first; another store is written in the same
    /// save.
    @Test(arguments: [true, false]) func aLargeUpdateIsMadeInAllStoresOrNone(conflictIsInTheFirst: Bool) throws {
        let (first, second) = (try Warehouse(), try Warehouse())
        let coordinator = first.coordinator
        let other = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: second.url)
        let context = first.context
        try context.performAndWait {
            let makers = (0..<(2 * Self.many)).map { number in
                let maker = context.insert("Maker", ["title": "\(number)"])
                context.assign(maker, to: number % 2 == 0 ? first.store : other)
                return maker
            }
            try context.save()
            let changed = conflictIsInTheFirst ? first : second
            let rest = conflictIsInTheFirst ? second : first
            try changed.run(
                "UPDATE maker SET title = 'theirs', version = version + 1 WHERE id = (SELECT max(id) FROM maker)")
            for maker in makers { maker.setValue("mine", forKey: "title") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
            for warehouse in [first, second] {
                #expect(try warehouse.texts("SELECT count(*) FROM maker WHERE title = 'mine'") == ["0"])
                #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["1"])
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try context.save()
            #expect(
                try changed.texts("SELECT title || count(*) FROM maker GROUP BY title ORDER BY 1") == [
                    "mine1199", "theirs1",
                ])
            #expect(try rest.texts("SELECT title || count(*) FROM maker GROUP BY title") == ["mine1200"])
            // What was published is what is there.
            for maker in makers { maker.setValue("again", forKey: "title") }
            context.mergePolicy = NSMergePolicy.error
            try context.save()
            for warehouse in [first, second] {
                #expect(try warehouse.texts("SELECT DISTINCT title || version FROM maker") == ["again3"])
            }
        }
    }

    @Test(.enabled(if: Pooler.program != nil, "needs PgBouncer"))
    func aLargeUpdateMeetsItsConflictsBehindAPooler() throws {
        let server = try WireConnection.server()
        let pooler = try Pooler(server)
        let warehouse = try Warehouse()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: pooler.url(schema: warehouse.schema))
        let context = coordinator.newContext()
        try context.performAndWait {
            let items = (0..<Self.many).map { context.insert("Item", ["name": "\($0)", "code": UUID()]) }
            try context.save()
            try warehouse.run("UPDATE item SET name = 'theirs', version = version + 1 WHERE name = '700'")
            for item in items { item.setValue("mine", forKey: "name") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(
                (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.map(\.sourceObject) == [
                    items[700]
                ])
            #expect(try warehouse.texts("SELECT count(*) FROM item WHERE name = 'mine'") == ["0"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try warehouse.texts("SELECT DISTINCT name FROM item") == ["mine"])
            // Two rows exchange values that are unique.
            let codes = items.map { $0.value(forKey: "code") }
            for (item, code) in zip(items, codes.reversed()) { item.setValue(code, forKey: "code") }
            try context.save()
        }
        #expect(try warehouse.texts("SELECT count(DISTINCT code) FROM item") == ["\(Self.many)"])
        withExtendedLifetime(pooler) {}
    }

    // MARK: Cancelled tasks

    @Test func aChildsFetchEndsWithItsTaskAndTheTreeGoesOn() async throws {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 3600])
        let parent = warehouse.context
        try await parent.perform {
            for number in 0..<3 { _ = parent.insert("Item", ["name": "\(number)"]) }
            try parent.save()
            _ = parent.insert("Item", ["name": "unsaved"])
        }
        let child = parent.newChild()
        let blocker = try WireConnection.open()
        defer { blocker.close() }
        try blocker.run("BEGIN; LOCK TABLE \(warehouse.schema).item IN ACCESS EXCLUSIVE MODE")
        let task = Task { try await child.perform { try child.all("Item").count } }
        await #expect(throws: CancellationError.self) { try await warehouse.valueCancelledWhileItWaits(of: task) }
        try blocker.run("ROLLBACK")
        #expect(try await child.perform { try child.all("Item").count } == 4)
        try await child.perform {
            _ = child.insert("Item", ["name": "of the child"])
            try child.save()
        }
        try await parent.perform { try parent.save() }
        #expect(
            try warehouse.texts("SELECT name FROM item ORDER BY name") == ["0", "1", "2", "of the child", "unsaved"])
    }

    // MARK: Passwords

    private struct Guarded {
        let url: URL
        let asked = Counter()
        let options: [AnyHashable: Any]

        init(_ more: [AnyHashable: Any]) throws {
            let server = try WireConnection.server()
            let schema = server.newSchemaName()
            let text = server.url(schema: schema).absoluteString.replacingOccurrences(
                of: "user=app", with: "user=\(server.scramUser)")
            url = try #require(URL(string: text))
            let (asked, password) = (asked, server.password)
            let provider = NSPostgreSQLPasswordProvider {
                asked.increase()
                return password
            }
            options = more.merging([NSPostgreSQLPasswordProviderKey: provider]) { $1 }
            let connection = try WireConnection.open()
            defer { connection.close() }
            try connection.run("CREATE SCHEMA \(schema) AUTHORIZATION \(server.scramUser)")
        }

        func open(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
            return coordinator.newContext()
        }
    }

    @Test func whoFollowsOthersAsksForThePasswordOfThatConnection() throws {
        let guarded = try Guarded([NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let context = try guarded.open(Warehouse.model())
        let other = try guarded.open(Warehouse.model())
        let told = [context, other].map {
            NotificationLog(.NSPersistentStoreRemoteChange, from: $0.persistentStoreCoordinator ?? $0)
        }
        // Who begins to listen late may not be told of a save before.
        let areTold = try wait {
            for writer in [context, other] {
                try writer.performAndWait {
                    _ = writer.insert("Tag", ["label": "new"])
                    try writer.save()
                }
            }
            return wait(upTo: 1) { told.allSatisfy { $0.count > 0 } }
        }
        #expect(areTold)
        // Each store has a connection and a listener.
        #expect(guarded.asked.value == 4)
    }

    @Test func aMigrationIsMadeWithTheProvidersPassword() throws {
        let guarded = try Guarded([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ])
        let former = NSManagedObjectModel([
            NSEntityDescription(
                "Note", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        ])
        let context = try guarded.open(former)
        try context.performAndWait {
            _ = context.insert("Note", ["text": "kept"])
            try context.save()
        }
        let later = NSManagedObjectModel([
            NSEntityDescription(
                "Note", class: "NSManagedObject",
                [
                    NSAttributeDescription("text", .stringAttributeType),
                    NSAttributeDescription("mark", .integer16AttributeType),
                ])
        ])
        let migrated = try guarded.open(later)
        try migrated.performAndWait {
            #expect(try migrated.all("Note").map { $0.value(forKey: "text") as? String } == ["kept"])
            try migrated.all("Note")[0].setValue(3, forKey: "mark")
            try migrated.save()
        }
        // Reading metadata and the model of a store that is not open asks too.
        let before = guarded.asked.value
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSPostgreSQLStoreType, at: guarded.url, options: guarded.options)
        #expect(later.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(guarded.asked.value == before + 1)
    }

    // MARK: Servers that restart

    /// A server that keeps what it has committed when it is stopped.
    private func lastingServer() throws -> PostgreSQLServer {
        let server = try PostgreSQLServer()
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("ALTER DATABASE \(server.database) SET synchronous_commit = on")
        return server
    }

    @Test func aSaveToAFileAndADatabaseWaitsForItsServer() throws {
        let server = try lastingServer()
        let warehouse = try Warehouse(on: server)
        let folder = try TemporaryFolder()
        let file = try warehouse.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("beside.sqlite"))
        let context = warehouse.context
        try context.performAndWait {
            for store in [warehouse.store, file] {
                context.assign(context.insert("Tag", ["label": "before"]), to: store)
            }
            try context.save()
            try server.control(.stop)
            let starter = OtherThread {
                Thread.sleep(forTimeInterval: 0.5)
                try server.control(.start)
            }
            for store in [warehouse.store, file] {
                context.assign(context.insert("Tag", ["label": "meanwhile"]), to: store)
            }
            try context.save()
            try starter.value()
            let found = try context.all("Tag").map { "\($0.value(forKey: "label") ?? "") \($0.objectID)" }
            #expect(found.count == 4, "\(found)")
        }
        #expect(try warehouse.texts("SELECT label FROM tag ORDER BY label") == ["before", "meanwhile"])
        #expect(
            SQLiteFile(folder.file("beside.sqlite")).column("SELECT ZLABEL FROM ZTAG ORDER BY ZLABEL") == [
                "before", "meanwhile",
            ])
    }

    @Test func aSaveToAFileAndADatabaseThatStaysAwayIsMadeInNeither() throws {
        let server = try lastingServer()
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: 0.5], on: server)
        let folder = try TemporaryFolder()
        let file = try warehouse.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("beside.sqlite"))
        let context = warehouse.context
        try context.performAndWait {
            let tags = [warehouse.store, file].map { store in
                let tag = context.insert("Tag", ["label": "kept"])
                context.assign(tag, to: store)
                return tag
            }
            try context.save()
            try server.control(.stop)
            for tag in tags { tag.setValue("changed", forKey: "label") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains(warehouse.schema), "\(error)")
            #expect(SQLiteFile(folder.file("beside.sqlite")).column("SELECT ZLABEL FROM ZTAG") == ["kept"])
            #expect(context.updatedObjects.count == 2)
            try server.control(.start)
            // The first connection to a server that has just started takes longest.
            _ = try warehouse.otherProgram()
            try context.save()
        }
        #expect(try warehouse.texts("SELECT label FROM tag") == ["changed"])
        #expect(SQLiteFile(folder.file("beside.sqlite")).column("SELECT ZLABEL FROM ZTAG") == ["changed"])
    }
}
