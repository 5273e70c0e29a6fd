import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The tables of the history, as SQL reads them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct HistoryTableTests {
    private func present(_ warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts(
            """
            SELECT relname FROM pg_class WHERE relnamespace = '\(warehouse.schema)'::regnamespace AND relkind = 'r' \
            AND relname IN ('ocd_history', 'ocd_change') ORDER BY 1
            """)
    }

    @Test func aStoreHasThemOnlyWhereItRecords() throws {
        let warehouse = try Warehouse()
        #expect(try present(warehouse) == [])
        #expect(try warehouse.texts("SELECT format FROM ocd_store") == ["1"])
        _ = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        #expect(try present(warehouse) == ["ocd_change", "ocd_history"])
    }

    /// Programs that know no history would leave gaps in it.
    @Test func aStoreWithAHistoryIsOfALaterFormat() throws {
        let warehouse = try RecordedWarehouse.make()
        #expect(try warehouse.texts("SELECT format FROM ocd_store") == ["2"])
    }

    @Test func changesAreRowsOfTheirTransaction() throws {
        let warehouse = try RecordedWarehouse.make()
        let context = warehouse.context
        context.name = "main"
        context.transactionAuthor = "app"
        let (kit, tag) = (
            context.insert("Kit", ["name": "box", "discount": 0.25]), context.insert("Tag", ["label": "a"])
        )
        try context.save()
        kit.setValue("crate", forKey: "name")
        kit.setValue(3, forKey: "stockCount")
        try context.save()
        context.delete(kit)
        context.delete(tag)
        try context.save()
        #expect(
            try Set(warehouse.recordedChanges()) == [
                "1 0 Kit 1", "1 0 Tag 1", "2 1 Kit 1 [\"name\", \"stockCount\"]",
                "3 2 Kit 1 {\"name\": \"crate\", \"discount\": 0.25}", "3 2 Tag 1",
            ])
        #expect(
            try warehouse.texts(
                "SELECT concat_ws(' ', number, first_change, last_change, author, context_name) FROM ocd_history "
                    + "ORDER BY 1") == ["1 1 2 app main", "2 3 3 app main", "3 4 5 app main"])
    }

    @Test func anEntityCannotHaveTheTableOfTheHistory() throws {
        let model = NSManagedObjectModel([NSEntityDescription("OcdHistory", class: "NSManagedObject", [])])
        let error = try #require(throws: NSError.self) { try Warehouse(model) }
        #expect(error.localizedDescription.contains("OcdHistory"), "\(error)")
    }

    @Test func whatWasDeletedLeavesTheNumberOfTheLastTransaction() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(3)
        try warehouse.context.deleteHistory(before: nil)
        #expect(try warehouse.recordedChanges() == [])
        #expect(
            try warehouse.texts("SELECT concat_ws(' ', number, at, author, process_id) FROM ocd_history") == ["3"])
        try warehouse.saveTags(1)
        #expect(try warehouse.recordedChanges() == ["4 0 Tag 4"])
        #expect(try warehouse.context.transactions().first?.changes?.map(\.changeID) == [4])
        try warehouse.saveTags(1)
        try warehouse.context.deleteHistory(before: warehouse.context.transactions().last?.token)
        #expect(try warehouse.texts("SELECT number FROM ocd_history") == ["5"])
    }

    @Test func aDestroyedStoreLeavesNoTable() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(1)
        try warehouse.coordinator.remove(warehouse.store)
        try warehouse.coordinator.destroyPersistentStore(at: warehouse.url, ofType: NSPostgreSQLStoreType)
        #expect(try warehouse.texts("SELECT nspname FROM pg_namespace WHERE nspname = '\(warehouse.schema)'") == [])
    }

    /// A copy is the same store, as a copied file is.
    @Test func aCopyHasTheHistoryAndItsReaders() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(2)
        let token = try #require(try warehouse.context.transactions().first?.token)
        try warehouse.coordinator.setHistoryToken(token, forReader: "reader")
        let other = try Warehouse(RecordedWarehouse.model())
        try other.coordinator.remove(other.store)
        try other.coordinator.replacePersistentStore(
            at: other.url, destinationOptions: nil, withPersistentStoreFrom: warehouse.url, sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
        let copy = try other.otherProgram(options: RecordedWarehouse.tracking)
        #expect(try copy.transactions() == warehouse.context.transactions())
        #expect(try copy.persistentStoreCoordinator?.historyToken(forReader: "reader") == token)
        _ = copy.insert("Tag", ["label": "new"])
        try copy.save()
        #expect(try copy.transactions(after: token).map(\.transactionNumber) == [2, 3])
    }

    /// A store that objects are copied into records that as one transaction.
    @Test func aMigratedStoreHasAHistoryOfItsOwn() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(3)
        let url = try WireConnection.server().url(schema: WireConnection.server().newSchemaName())
        _ = try warehouse.coordinator.migratePersistentStore(
            warehouse.store, to: url, options: RecordedWarehouse.tracking, withType: NSPostgreSQLStoreType)
        let transactions = try warehouse.context.transactions()
        #expect(transactions.map(\.transactionNumber) == [1])
        #expect(transactions.first?.changes?.count == 3)
    }

    // MARK: Opening

    @Test func aRecordedStoreIsOnlyRead() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(1)
        let reader = try warehouse.otherProgram()
        #expect(reader.persistentStoreCoordinator?.persistentStores.first?.isReadOnly == true)
        #expect(Warnings.all.contains { $0.contains(warehouse.schema) && $0.contains("its history gets no gap") })
        _ = reader.insert("Tag", ["label": "new"])
        let error = try #require(throws: NSError.self) { try reader.save() }
        #expect(error.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(error.localizedRecoverySuggestion?.contains("NSPersistentHistoryTrackingKey") == true)
        #expect(try reader.transactions() == warehouse.context.transactions())
    }

    @Test func aStoreWhoseHistoryWasDeletedIsWritable() throws {
        let warehouse = try RecordedWarehouse.make()
        try warehouse.saveTags(1)
        try warehouse.context.deleteHistory(before: nil)
        let other = try warehouse.otherProgram()
        _ = other.insert("Tag", ["label": "new"])
        try other.save()
        #expect(try warehouse.recordedChanges() == [])
    }

    @Test func aRoleThatMayMakeNoTablesIsToldSo() throws {
        let warehouse = try Warehouse()
        let server = try WireConnection.server()
        let role = server.scramUser
        try warehouse.run(
            """
            GRANT USAGE ON SCHEMA \(warehouse.schema) TO \(role); \
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(warehouse.schema) TO \(role)
            """)
        let password = server.password
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true,
            NSPostgreSQLPasswordProviderKey: NSPostgreSQLPasswordProvider { password },
        ]
        let url = try #require(
            URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "user=app", with: "user=\(role)")))
        func open() throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
            return coordinator.newContext()
        }
        let error = try #require(throws: NSError.self) { try open() }
        #expect(error.localizedDescription.contains("has no tables for its history"), "\(error)")
        #expect(error.localizedRecoverySuggestion?.contains("ocd_history and ocd_change") == true, "\(error)")
        _ = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        try warehouse.run("GRANT SELECT, INSERT, UPDATE, DELETE ON ocd_history, ocd_change TO \(role)")
        let context = try open()
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "theirs"])
            try context.save()
            #expect(try context.transactions().count == 1)
        }
    }

    @Test func externalTablesHaveNoHistory() throws {
        let warehouse = try Warehouse(NSManagedObjectModel([]))
        try warehouse.run("CREATE TABLE thing (id int8 PRIMARY KEY)")
        let entity = NSEntityDescription("Thing", class: "NSManagedObject", [])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: warehouse.url,
            options: [NSPostgreSQLGivenTablesOption: true, NSPersistentHistoryTrackingKey: true])
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        #expect(Warnings.all.contains { $0.contains(warehouse.schema) && $0.contains("are not recorded") })
    }
}
