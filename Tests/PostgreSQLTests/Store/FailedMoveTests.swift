import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Stores that are to go elsewhere and cannot, beside what else goes on with them: following,
/// metadata, generations, and other threads.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct FailedMoveTests {
    private static let following = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]

    /// Places to which a store cannot be moved.
    enum Place: CaseIterable, Sendable {
        case unknownParameter, emptySchema, unreachableServer, unknownDatabase, otherModel
    }

    private func replaced(_ url: URL, _ name: String, by value: String) throws -> URL {
        var components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        components.queryItems = components.queryItems?.map {
            $0.name == name ? URLQueryItem(name: name, value: value) : $0
        }
        return try #require(components.url)
    }

    private func url(_ place: Place, of warehouse: Warehouse) throws -> URL {
        switch place {
        case .unknownParameter: return try #require(URL(string: warehouse.url.absoluteString + "&ocd.unknown=1"))
        case .emptySchema: return try replaced(warehouse.url, "ocd.schema", by: WireConnection.server().newSchemaName())
        case .unreachableServer: return try replaced(warehouse.url, "host", by: "/nowhere/at/all")
        case .unknownDatabase:
            return try #require(
                URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "/app?", with: "/nodatabase?")))
        case .otherModel:
            let note = NSEntityDescription(
                "Note", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
            return try Warehouse(NSManagedObjectModel([note])).url
        }
    }

    private func rename(_ name: String, in context: NSManagedObjectContext) throws {
        try context.performAndWait {
            try context.all("Item")[0].setValue(name, forKey: "name")
            try context.save()
        }
    }

    private func name(_ item: NSManagedObject, in context: NSManagedObjectContext) -> String? {
        context.performAndWait { item.value(forKey: "name") as? String }
    }

    /// An item of a context that takes over what others save.
    private func followedItem(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        context.automaticallyMergesChangesFromParent = true
        return try context.performAndWait {
            let item = context.insert("Item", ["name": "before"])
            try context.save()
            return item
        }
    }

    // MARK: Following

    @Test(arguments: Place.allCases) func aStoreThatStaysWhereItWasHearsOthers(place: Place) throws {
        let warehouse = try Warehouse(options: Self.following)
        let item = try followedItem(warehouse.context)
        let other = try warehouse.otherProgram()
        let former = warehouse.store.url
        for round in 1...2 {
            let isMoved = warehouse.coordinator.setURL(try url(place, of: warehouse), for: warehouse.store)
            #expect(!isMoved)
            #expect(warehouse.store.url == former)
            let log = NotificationLog(.NSPersistentStoreRemoteChange, from: warehouse.coordinator)
            try rename("\(round)", in: other)
            let follows = wait(upTo: 40) { name(item, in: warehouse.context) == "\(round)" && log.count > 0 }
            #expect(follows, "round \(round)")
        }
        try rename("mine", in: warehouse.context)
        #expect(try warehouse.texts("SELECT name FROM item") == ["mine"])
    }

    /// The server keeps the store waiting, and others save meanwhile.
    @Test func whatOthersSaveDuringAMoveThatFailsIsTakenOver() throws {
        let warehouse = try Warehouse(options: Self.following)
        let item = try followedItem(warehouse.context)
        let other = try warehouse.otherProgram()
        try duringAMoveThatFails(of: warehouse) { try rename("meanwhile", in: other) }
        let follows = wait(upTo: 40) { name(item, in: warehouse.context) == "meanwhile" }
        #expect(follows)
    }

    /// During the move, other threads read and write the store in its old place.
    @Test func aStoreIsReadAndWrittenDuringAMoveThatFails() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Item", ["name": "before"])
            try context.save()
        }
        let work = try duringAMoveThatFails(of: warehouse) {
            let work = OtherThread<Int> {
                try context.performAndWait {
                    context.reset()
                    let items = try context.all("Item")
                    items[0].setValue("after", forKey: "name")
                    try context.save()
                    return items.count
                }
            }
            // It may be kept waiting until the move has failed.
            _ = work.ends(within: 1)
            return work
        }
        let count = try work.value()
        #expect(count == 1)
        #expect(try warehouse.texts("SELECT name FROM item") == ["after"])
    }

    /// Has a store be moved to another one that keeps it waiting and then goes away, and does
    /// something in between.
    private func duringAMoveThatFails<Value>(of warehouse: Warehouse, _ body: () throws -> Value) throws -> Value {
        let target = try Warehouse()
        let holder = PostgreSQLTables(target.url)
        #expect(holder.execute("BEGIN; LOCK TABLE ocd_store IN ACCESS EXCLUSIVE MODE"))
        let (coordinator, store, place) = (warehouse.coordinator, warehouse.store, target.url)
        let move = OtherThread { coordinator.setURL(place, for: store) }
        let waiting =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(target.schema).ocd_store'::regclass"
        let observer = PostgreSQLTables(target.url)
        #expect(wait { observer.integer(waiting) != 0 || move.isOver })
        #expect(!move.isOver)
        let result = try body()
        #expect(holder.execute("DROP TABLE ocd_store; COMMIT"))
        let isMoved = try move.value()
        #expect(!isMoved)
        return result
    }

    // MARK: Metadata

    private func origin(_ type: String, at url: URL) throws -> String? {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)["origin"]
            as? String
    }

    private func setOrigin(_ origin: String, of store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator) {
        coordinator.setMetadata(coordinator.metadata(for: store).merging(["origin": origin]) { $1 }, for: store)
    }

    private func saveTag(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "new"])
            try context.save()
        }
    }

    @Test(arguments: Place.allCases) func metadataThatWereSetBeforeAMoveThatFailsAreSavedOnce(place: Place) throws {
        let warehouse = try Warehouse()
        let (coordinator, store) = (warehouse.coordinator, warehouse.store)
        func stored() throws -> String? { try origin(NSPostgreSQLStoreType, at: warehouse.url) }
        setOrigin("here", of: store, coordinator)
        let isMoved = coordinator.setURL(try url(place, of: warehouse), for: store)
        #expect(!isMoved)
        #expect(coordinator.metadata(for: store)["origin"] as? String == "here")
        #expect(try stored() == nil)
        try saveTag(warehouse.context)
        #expect(try stored() == "here")
        // What others write later stays, as nothing was set since.
        let other = try warehouse.otherProgram()
        let theirs = try #require(other.persistentStoreCoordinator)
        setOrigin("there", of: theirs.persistentStores[0], theirs)
        try saveTag(other)
        try saveTag(warehouse.context)
        #expect(try stored() == "there")
    }

    /// The same store under another name: what was set is still to be written.
    @Test func metadataThatWereSetBeforeAMoveAreSavedWhereTheStoreIsThen() throws {
        let warehouse = try Warehouse()
        setOrigin("here", of: warehouse.store, warehouse.coordinator)
        let moved = "\(warehouse.schema)_moved"
        try warehouse.run("ALTER SCHEMA \(warehouse.schema) RENAME TO \(moved)")
        let place = try replaced(warehouse.url, "ocd.schema", by: moved)
        let isMoved = warehouse.coordinator.setURL(place, for: warehouse.store)
        #expect(isMoved)
        try saveTag(warehouse.context)
        #expect(try origin(NSPostgreSQLStoreType, at: place) == "here")
    }

    @Test func metadataOfAFileThatWereSetBeforeAMoveThatFailsAreSaved() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("here.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        setOrigin("here", of: store, coordinator)
        let isMoved = coordinator.setURL(folder.file("nowhere.sqlite"), for: store)
        #expect(!isMoved)
        try saveTag(coordinator.newContext())
        #expect(try origin(NSSQLiteStoreType, at: url) == "here")
    }

    // MARK: Copies

    /// Places to which a store cannot be copied.
    enum Target: CaseIterable, Sendable {
        case unreachableServer, refusingTable
    }

    private func url(_ target: Target) throws -> URL {
        let warehouse = try Warehouse()
        if target == .unreachableServer { return try replaced(warehouse.url, "host", by: "/nowhere/at/all") }
        try warehouse.run("ALTER TABLE item ADD CHECK (name <> 'before')")
        return warehouse.url
    }

    @Test(arguments: Target.allCases) func aStoreThatCannotBeCopiedHearsOthersAndSavesItsMetadata(target: Target) throws
    {
        let warehouse = try Warehouse(options: Self.following)
        let (coordinator, store) = (warehouse.coordinator, warehouse.store)
        let item = try followedItem(warehouse.context)
        let other = try warehouse.otherProgram()
        let place = try url(target)
        setOrigin("here", of: store, coordinator)
        #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: place, options: Self.following, withType: NSPostgreSQLStoreType)
        }
        #expect(coordinator.persistentStores == [store])
        #expect(try origin(NSPostgreSQLStoreType, at: warehouse.url) == nil)
        try rename("theirs", in: other)
        let follows = wait(upTo: 40) { name(item, in: warehouse.context) == "theirs" }
        #expect(follows)
        try rename("mine", in: warehouse.context)
        #expect(try warehouse.texts("SELECT name FROM item") == ["mine"])
        #expect(try origin(NSPostgreSQLStoreType, at: warehouse.url) == "here")
        if target == .refusingTable { #expect(try origin(NSPostgreSQLStoreType, at: place) == nil) }
    }

    // MARK: Generations

    private func count(_ context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) }
    }

    /// A store on a server is read as it is, also by a context that is pinned.
    @Test(arguments: Place.allCases) func aPinnedContextGoesOnAfterAMoveThatFails(place: Place) throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try saveTag(context)
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        #expect(try count(context) == 1)
        let isMoved = warehouse.coordinator.setURL(try url(place, of: warehouse), for: warehouse.store)
        #expect(!isMoved)
        try saveTag(warehouse.otherProgram())
        #expect(try count(context) == 2)
        try saveTag(context)
        #expect(try count(context) == 3)
    }

    @Test(arguments: Target.allCases) func aPinnedStateOfAFileOutlastsACopyThatFails(target: Target) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let file = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("a.sqlite"))
        let (writer, reader) = (coordinator.newContext(), coordinator.newContext())
        try writer.performAndWait {
            _ = writer.insert("Tag", ["label": "before"])
            _ = writer.insert("Item", ["name": "before"])
            try writer.save()
        }
        try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
        #expect(try count(reader) == 1)
        try saveTag(writer)
        let place = try url(target)
        #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(file, to: place, options: nil, withType: NSPostgreSQLStoreType)
        }
        #expect(try count(reader) == 1)
        #expect(try count(writer) == 2)
        try reader.performAndWait { try reader.setQueryGenerationFrom(nil) }
        #expect(try count(reader) == 2)
    }
}
