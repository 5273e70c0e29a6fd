import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// How saves and batch requests are recorded, whatever happens to their transactions.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct HistoryRecordingTests {
    // MARK: Round trips

    /// How often saves and batch requests wait for the server.
    private func trips(_ warehouse: Warehouse, _ proxy: PostgreSQLProxy) throws -> [String: Int] {
        let context = warehouse.context
        let items = (0..<20).map { context.insert("Item", ["name": "\($0)"]) }
        _ = context.insert("Tag", ["label": "first"])
        try context.save()
        var trips: [String: Int] = [:]
        func count(_ name: String, _ body: () throws -> Void) throws {
            proxy.roundTrips = 0
            try body()
            trips[name] = proxy.roundTrips
        }
        try count("insertion") {
            _ = context.insert("Item", ["name": "new"])
            try context.save()
        }
        try count("update") {
            items[0].setValue("other", forKey: "name")
            try context.save()
        }
        try count("deletion") {
            context.delete(items[1])
            try context.save()
        }
        try count("copy") {
            for number in 0..<100 { _ = context.insert("Kit", ["name": "\(number)"]) }
            try context.save()
        }
        try count("batch insertion") {
            try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "a"], ["label": "b"]]))
        }
        try count("batch update") {
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["stockCount": 7]
            try context.execute(update)
        }
        return trips
    }

    @Test func recordingTakesNoRoundTrip() throws {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let recorded = try RecordedWarehouse.make(through: proxy)
        let trips = try trips(recorded, proxy)
        #expect(try trips == self.trips(Warehouse(through: proxy), proxy))
        #expect(trips["insertion"] == 1)
        #expect(trips["update"] == 2)
        #expect(try recorded.recordedChanges().count == 21 + 1 + 1 + 1 + 100 + 2 + 120)
        proxy.roundTrips = 0
        _ = try recorded.context.transactions()
        #expect(proxy.roundTrips == 1)
    }

    /// The bulk of values is divided among statements, and the changes keep their order.
    @Test func aLargeSaveIsRecordedInParts() throws {
        let warehouse = try RecordedWarehouse.make()
        let store = try #require(warehouse.store as? PostgreSQLStore)
        try store.backend().bytesOfStatement.store(1000, ordering: .relaxed)
        let context = warehouse.context
        for number in 0..<300 { _ = context.insert("Item", ["name": "\(number)"]) }
        try context.save()
        #expect(
            try warehouse.texts("SELECT concat_ws(' ', count(DISTINCT place), min(place), max(place)) FROM ocd_change")
                == ["300 0 299"])
        let changes = try #require(try context.transactions().first?.changes)
        #expect(changes.map(\.changeID) == Array(1...300))
    }

    // MARK: Values

    @Test func preservedValuesOfEveryTypeAreReadBack() throws {
        let types: [(String, NSAttributeType, any Equatable)] = [
            ("small", .integer16AttributeType, NSNumber(value: Int16.min)),
            ("large", .integer64AttributeType, NSNumber(value: Int64.max)),
            ("flag", .booleanAttributeType, NSNumber(value: true)),
            ("double", .doubleAttributeType, NSNumber(value: 0.1 + 0.2)),
            ("huge", .doubleAttributeType, NSNumber(value: Double.greatestFiniteMagnitude)),
            ("endless", .doubleAttributeType, NSNumber(value: -Double.infinity)),
            ("float", .floatAttributeType, NSNumber(value: Float(1.5))),
            ("price", .decimalAttributeType, NSDecimalNumber(string: "12345678901234567890.123456789")),
            ("text", .stringAttributeType, "Ä\"\\\n{}" as NSString),
            ("date", .dateAttributeType, NSDate(timeIntervalSinceReferenceDate: -12.25)),
            ("bytes", .binaryDataAttributeType, NSData(bytes: [0, 255, 7], length: 3)),
            ("id", .UUIDAttributeType, UUID()),
            ("place", .URIAttributeType, URL(fileURLWithPath: "/a b")),
        ]
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject",
            types.map { name, type, _ in
                let attribute = NSAttributeDescription(name, type)
                attribute.preservesValueInHistoryOnDeletion = true
                return attribute
            })
        let warehouse = try Warehouse(NSManagedObjectModel([thing]), options: RecordedWarehouse.tracking)
        let object = warehouse.context.insert("Thing", Dictionary(uniqueKeysWithValues: types.map { ($0.0, $0.2) }))
        try warehouse.context.save()
        let expected = object.committedValues(forKeys: nil)
        #expect(expected.count == types.count)
        warehouse.context.reset()
        for object in try warehouse.context.all("Thing") { warehouse.context.delete(object) }
        try warehouse.context.save()
        let tombstone = try #require(try warehouse.context.transactions().last?.changes?.first?.tombstone)
        for (name, _, _) in types {
            #expect(tombstone[name] as? NSObject == expected[name] as? NSObject, "\(name)")
        }
    }

    /// A deletion whose row was never read.
    @Test func aFaultThatIsDeletedLeavesItsValues() throws {
        let warehouse = try RecordedWarehouse.make()
        let id = try warehouse.context.performAndWait {
            let item = warehouse.context.insert("Item", ["name": "kept"])
            try warehouse.context.save()
            return item.objectID
        }
        let other = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        try other.performAndWait {
            let uri = id.uriRepresentation()
            let own = try #require(other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
            other.delete(other.object(with: own))
            try other.save()
            #expect(try other.transactions().last?.changes?.first?.tombstone?["name"] as? String == "kept")
        }
    }

    // MARK: Attempts

    /// Has the first statements that write items fail.
    private func failFirst(_ count: Int, _ state: String, in warehouse: Warehouse) throws {
        try warehouse.run(
            """
            CREATE SEQUENCE attempts; \
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            IF nextval('attempts') <= \(count) THEN RAISE EXCEPTION 'met' USING ERRCODE = '\(state)'; END IF; RETURN \
            NULL; END $$; \
            CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION fail()
            """)
    }

    @Test(arguments: ["40001", "40P01"]) func onlyTheAttemptThatSucceedsIsRecorded(state: String) throws {
        let warehouse = try RecordedWarehouse.make()
        let context = warehouse.context
        try failFirst(2, state, in: warehouse)
        _ = context.insert("Item", ["name": "saved"])
        try context.save()
        #expect(try warehouse.recordedChanges() == ["1 0 Item 1"])
        try warehouse.run("ALTER SEQUENCE attempts RESTART")
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stockCount": 2]
        try context.execute(update)
        try warehouse.run("ALTER SEQUENCE attempts RESTART")
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
        #expect(
            try warehouse.recordedChanges() == [
                "1 0 Item 1", "2 1 Item 1 [\"stockCount\"]", "3 2 Item 1 {\"name\": \"saved\"}",
            ])
    }

    @Test func aSaveThatMeetsAConflictIsRecordedAsItWasMerged() throws {
        let warehouse = try RecordedWarehouse.make()
        let context = warehouse.context
        let item = context.insert("Item", ["name": "first"])
        try context.save()
        let other = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        try other.performAndWait {
            try other.all("Item")[0].setValue("theirs", forKey: "name")
            try other.save()
        }
        item.setValue("mine", forKey: "name")
        #expect(throws: NSError.self) { try context.save() }
        #expect(try warehouse.recordedChanges().count == 2)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try warehouse.recordedChanges().last == "3 1 Item 1 [\"name\"]")
        #expect(try context.transactions().map(\.transactionNumber) == [1, 2, 3])
    }

    /// Unique values that others have are found when all is written.
    @Test func aRefusedSaveIsNotRecorded() throws {
        let warehouse = try RecordedWarehouse.make()
        let code = UUID()
        _ = warehouse.context.insert("Item", ["name": "first", "code": code])
        try warehouse.context.save()
        let second = warehouse.context.insert("Item", ["name": "second", "code": code])
        #expect(throws: NSError.self) { try warehouse.context.save() }
        #expect(try warehouse.recordedChanges().count == 1)
        second.setValue(UUID(), forKey: "code")
        try warehouse.context.save()
        #expect(try warehouse.context.transactions().map(\.transactionNumber) == [1, 2])
    }

    @Test func aSaveWhoseAnswerIsLostIsRecordedOnce() throws {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let warehouse = try RecordedWarehouse.make(through: proxy)
        try warehouse.saveTags(1)
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: warehouse.context)
        _ = warehouse.context.insert("Tag", ["label": "once"])
        proxy.conduct.losesCommit = true
        try warehouse.context.save()
        #expect(proxy.cuts == 1)
        #expect(try warehouse.recordedChanges() == ["1 0 Tag 1", "2 0 Tag 2"])
        let token = log.all.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken
        #expect(try token == warehouse.context.transactions().last?.token)
    }

    // MARK: Batch requests

    @Test func anInsertionThatUpdatesRowsSaysWhich() throws {
        let warehouse = try RecordedWarehouse.make()
        let context = warehouse.context
        let code = UUID()
        _ = context.insert("Item", ["name": "there", "code": code])
        try context.save()
        let insertion = NSBatchInsertRequest(
            entityName: "Item", objects: [["name": "new", "code": UUID()], ["name": "changed", "code": code]])
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.execute(insertion)
        let changes = try #require(try context.transactions().last?.changes)
        #expect(changes.map(\.changeType) == [.insert, .update])
        #expect(changes.last?.updatedProperties?.contains { $0.name == "name" } == true)
    }

    @Test func aDeletionSaysWhatItsRulesChanged() throws {
        let warehouse = try RecordedWarehouse.make()
        let context = warehouse.context
        let maker = context.insert("Maker", ["title": "ACME"])
        _ = context.insert("Item", ["name": "left", "maker": maker])
        try context.save()
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Maker")))
        #expect(try warehouse.recordedChanges().suffix(2) == ["2 2 Maker 1", "2 1 Item 1 [\"maker\"]"])
    }

    @Test func aBatchThatChangesNothingIsNoTransaction() throws {
        let warehouse = try RecordedWarehouse.make()
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stockCount": 2]
        try warehouse.context.execute(update)
        try warehouse.context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
        #expect(try warehouse.context.transactions() == [])
    }
}
