import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Programs that have a store open when another one begins its history.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct HistoryBeginningTests {
    private let warehouse: Warehouse
    private let recorder: NSManagedObjectContext

    /// The warehouse's own coordinator has saved before the other one begins the history.
    private init(options: [AnyHashable: Any] = [:]) throws {
        warehouse = try Warehouse(RecordedWarehouse.model(), options: options)
        try warehouse.saveTags(1)
        recorder = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
    }

    init() throws { try self.init(options: [:]) }

    @Test func aSaveThatWouldLeaveAGapIsRefused() throws {
        #expect(!warehouse.store.isReadOnly)
        _ = warehouse.context.insert("Tag", ["label": "gap"])
        let error = try #require(throws: NSError.self) { try warehouse.context.save() }
        #expect(error.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(error.localizedRecoverySuggestion?.contains("NSPersistentHistoryTrackingKey") == true)
        #expect(warehouse.store.isReadOnly)
        #expect(try warehouse.texts("SELECT count(*) FROM tag") == ["1"])
    }

    @Test func aReadThatComesBeforeTheSaveHidesNothing() throws {
        let store = try #require(warehouse.store as? PostgreSQLStore)
        try store.backend().pool.watch.expire()
        let tags = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        #expect(try warehouse.coordinator.newContext().fetch(tags).count == 1)
        _ = warehouse.context.insert("Tag", ["label": "gap"])
        #expect(throws: NSError.self) { try warehouse.context.save() }
        #expect(try warehouse.texts("SELECT count(*) FROM tag") == ["1"])
    }

    @Test func aBatchRequestThatWouldLeaveAGapIsRefused() throws {
        let request = NSBatchInsertRequest(entityName: "Tag", objects: [["label": "gap"]])
        #expect(throws: NSError.self) { try warehouse.context.execute(request) }
        #expect(try warehouse.texts("SELECT count(*) FROM tag") == ["1"])
    }

    /// As a `DataStack` does.
    @Test func aProgramThatContinuesHistoriesRecordsItsSave() throws {
        let other = try Self(options: [HistoryTracking.continuingOption: true])
        _ = other.warehouse.context.insert("Tag", ["label": "kept"])
        try other.warehouse.context.save()
        #expect(try other.recorder.transactions().map(\.transactionNumber) == [1])
        #expect(try other.warehouse.recordedChanges() == ["1 0 Tag 2"])
    }

    @Test func aTokenBeyondTheLastTransactionDeletesNoLaterOne() throws {
        _ = recorder.insert("Tag", ["label": "a"])
        try recorder.save()
        let history = try #require(recorder.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
        #expect(try history.deleteHistory(.before(100)) == 1)
        _ = recorder.insert("Tag", ["label": "b"])
        try recorder.save()
        #expect(try recorder.transactions().map(\.transactionNumber) == [2])
    }

    /// Others may write to the tables.
    @Test func whatCannotBeReadIsNotPreserved() throws {
        let kit = recorder.insert("Kit", ["name": "box"])
        try recorder.save()
        kit.setValue("crate", forKey: "name")
        try recorder.save()
        recorder.delete(kit)
        try recorder.save()
        try warehouse.run(
            "UPDATE ocd_change SET tombstone = '{\"name\": true}' WHERE kind = 2; "
                + "UPDATE ocd_change SET properties = '1' WHERE kind = 1")
        let changes = try recorder.transactions().flatMap { $0.changes ?? [] }
        #expect(changes.map(\.changeType) == [.insert, .update, .delete])
        #expect(changes[1].updatedProperties == [])
        #expect(changes[2].tombstone?.isEmpty == true)
    }

    @Test func aRoleWithoutRightsOnTheHistoryIsToldWhatItNeeds() throws {
        let server = try WireConnection.server()
        let (role, password) = (server.scramUser, server.password)
        try warehouse.run(
            """
            GRANT USAGE ON SCHEMA \(warehouse.schema) TO \(role); \
            GRANT ALL ON ALL TABLES IN SCHEMA \(warehouse.schema) TO \(role); \
            REVOKE ALL ON ocd_history, ocd_change FROM \(role)
            """)
        let url = try #require(
            URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "user=app", with: "user=\(role)")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordedWarehouse.model())
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
                options: [NSPostgreSQLPasswordProviderKey: NSPostgreSQLPasswordProvider { password }])
        }
        #expect(error.localizedDescription.contains("may not read its tables"), "\(error)")
        #expect(error.localizedRecoverySuggestion?.contains("ocd_history") == true, "\(error)")
    }
}
