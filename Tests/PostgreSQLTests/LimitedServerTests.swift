import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Servers that look at uniqueness at each row, and have no locks of programs' own, as others have that speak PostgreSQL's protocol.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LimitedServerTests {
    /// One for all tests of the suite.
    private static let limited = Result<PostgreSQLServer, any Error> {
        let server = try PostgreSQLServer()
        try server.refuseWhatOthersLack()
        return server
    }

    /// - Parameter isRequired: whether each item needs a code.
    private static func model(isRequired: Bool = false, others: [NSAttributeDescription] = []) -> NSManagedObjectModel {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                NSAttributeDescription("code", .stringAttributeType, optional: !isRequired),
                NSAttributeDescription("count", .integer32AttributeType),
            ] + others)
        item.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel([item])
    }

    private func filled(_ warehouse: Warehouse) throws {
        try warehouse.context.performAndWait {
            for (index, code) in ["a", "b", "c"].enumerated() { _ = warehouse.context.insert("Item", ["code": code, "count": index]) }
            try warehouse.context.save()
        }
    }

    /// All items, the first of which have got other codes.
    private func exchanged(_ codes: [String], in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let items = try context.all("Item", by: "count")
        for (item, code) in zip(items, codes) { item.setValue(code, forKey: "code") }
        return items
    }

    private func codes(_ warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts("SELECT code || ' ' || count FROM item ORDER BY id")
    }

    @Test func aStoreIsMadeAndItsValuesAreUnique() throws {
        let warehouse = try Warehouse(Self.model(), on: Self.limited.get())
        try filled(warehouse)
        #expect(try warehouse.texts("SELECT condeferrable FROM pg_constraint WHERE contype = 'u'").allSatisfy { $0 == "false" })
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            _ = other.insert("Item", ["code": "b"])
            let error = try #require(errorThrown { try other.save() })
            #expect(error.code == NSManagedObjectConstraintMergeError)
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try other.save()
            #expect(try other.all("Item").count == 3)
        }
    }

    @Test func rowsExchangeTheirValues() throws {
        let warehouse = try Warehouse(Self.model(), on: Self.limited.get())
        try filled(warehouse)
        let context = warehouse.context
        try context.performAndWait {
            let items = try exchanged(["b", "c", "a"], in: context)
            try context.save()
            #expect(try codes(warehouse) == ["b 0", "c 1", "a 2"])
            // Together with others that come and go.
            items[0].setValue("c", forKey: "code")
            context.delete(items[1])
            _ = context.insert("Item", ["code": "b", "count": 3])
            try context.save()
            #expect(try codes(warehouse) == ["c 0", "a 2", "b 3"])
            #expect(items[0].value(forKey: "code") as? String == "c" && !context.hasChanges)
        }
    }

    @Test func manyRowsExchangeTheirValues() throws {
        let warehouse = try Warehouse(Self.model(), on: Self.limited.get())
        let context = warehouse.context
        try context.performAndWait {
            for number in 0..<1500 { _ = context.insert("Item", ["code": "\(number)", "count": number]) }
            try context.save()
            for (index, item) in try context.all("Item", by: "count").enumerated() {
                item.setValue("\((index + 1) % 1500)", forKey: "code")
            }
            try context.save()
        }
        #expect(try warehouse.texts("SELECT count(*) FROM item WHERE code::int = (count + 1) % 1500") == ["1500"])
    }

    /// What cannot be empty in between cannot be exchanged: that is said, and nothing is lost.
    @Test func valuesThatAreRequiredAreNotExchanged() throws {
        let warehouse = try Warehouse(Self.model(isRequired: true), on: Self.limited.get())
        try filled(warehouse)
        let context = warehouse.context
        try context.performAndWait {
            let items = try exchanged(["b", "a"], in: context)
            let error = try #require(errorThrown { try context.save() })
            #expect(error.userInfo["SQLSTATE"] as? String == "23505", "\(error)")
            #expect(try codes(warehouse) == ["a 0", "b 1", "c 2"])
            #expect(context.updatedObjects.count == 2)
            // In two steps.
            items[0].setValue("-", forKey: "code")
            items[1].setValue("a", forKey: "code")
            try context.save()
            items[0].setValue("b", forKey: "code")
            try context.save()
            #expect(try codes(warehouse) == ["b 0", "a 1", "c 2"])
        }
    }

    @Test func realConflictsAreConflictsBesideAnExchange() throws {
        let warehouse = try Warehouse(Self.model(), on: Self.limited.get())
        try filled(warehouse)
        let context = warehouse.context
        try context.performAndWait {
            _ = try exchanged(["b", "a"], in: context)
            _ = context.insert("Item", ["code": "c"])
            let error = try #require(errorThrown { try context.save() })
            #expect(error.code == NSManagedObjectConstraintMergeError, "\(error)")
            #expect(try codes(warehouse) == ["a 0", "b 1", "c 2"])
        }
    }

    @Test func rowsAreInsertedOrUpdatedByTheirValues() throws {
        let warehouse = try Warehouse(Self.model(), on: Self.limited.get())
        try filled(warehouse)
        let context = warehouse.context
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let request = NSBatchInsertRequest(
                entityName: "Item", objects: [["code": "b", "count": 10], ["code": "d", "count": 11], ["code": "e", "count": 12]])
            request.resultType = .objectIDs
            let result = try #require(try context.execute(request) as? NSBatchInsertResult)
            #expect((result.result as? [NSManagedObjectID])?.count == 3)
        }
        #expect(try codes(warehouse) == ["a 0", "b 10", "c 2", "d 11", "e 12"])
    }

    /// Rows whose values move one after the other meet one that has not moved yet: nothing is changed then.
    @Test func aBatchUpdateThatMovesValuesIsRefusedAsAWhole() throws {
        let model = Self.model()
        model.entitiesByName["Item"]?.uniquenessConstraints = [["count"]]
        let warehouse = try Warehouse(model, on: Self.limited.get())
        try filled(warehouse)
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["count": NSExpression(format: "count + 1")]
        let error = warehouse.context.performAndWait { errorThrown { try warehouse.context.execute(update) } }
        #expect(error?.code == NSManagedObjectConstraintMergeError, "\(String(describing: error))")
        #expect(try codes(warehouse) == ["a 0", "b 1", "c 2"])
    }

    /// Values that are exchanged in a save to several stores: all of it is saved, or nothing.
    @Test(arguments: [true, false]) func anExchangeBesideAnotherStore(isFirst: Bool) throws {
        let server = try Self.limited.get()
        let note = NSEntityDescription("Note", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let model = Self.model()
        model.entities += [note]
        model.setEntities(try ["Item"].map { try #require(model.entitiesByName[$0]) }, forConfigurationName: "items")
        model.setEntities([note], forConfigurationName: "notes")
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let schema = server.newSchemaName()
        for isServer in [isFirst, !isFirst] {
            try coordinator.addPersistentStore(
                ofType: isServer ? NSPostgreSQLStoreType : NSSQLiteStoreType, configurationName: isServer ? "items" : "notes",
                at: isServer ? server.url(schema: schema) : folder.url.appendingPathComponent("notes.sqlite"), options: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (index, code) in ["a", "b"].enumerated() { _ = context.insert("Item", ["code": code, "count": index]) }
            _ = context.insert("Note", ["text": "before"])
            try context.save()
            _ = try exchanged(["b", "a"], in: context)
            try context.all("Note")[0].setValue("after", forKey: "text")
            let error = errorThrown { try context.save() }
            context.reset()
            let codes = try context.all("Item", by: "count").map { $0.value(forKey: "code") as? String }
            let text = try context.all("Note")[0].value(forKey: "text") as? String
            #expect(
                error == nil ? codes == ["b", "a"] && text == "after" : codes == ["a", "b"] && text == "before",
                "\(String(describing: error))")
            #expect(error == nil)
        }
    }

    @Test func programsThatMakeOneStoreAtOnceMakeIt() throws {
        let server = try Self.limited.get()
        let url = server.url(schema: server.newSchemaName())
        let opened = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
                try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
                opened.increase()
            } catch { Issue.record("\(error)") }
        }
        #expect(opened.value == 4)
    }

    @Test func aStoreIsMigratedReplacedAndDestroyed() throws {
        let server = try Self.limited.get()
        let warehouse = try Warehouse(Self.model(), on: server)
        try filled(warehouse)
        try warehouse.coordinator.remove(warehouse.store)
        let newer = Self.model(others: [NSAttributeDescription("label", .stringAttributeType)])
        newer.entitiesByName["Item"]?.uniquenessConstraints = [["code"], ["label"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: warehouse.url, options: options)
        #expect(try codes(warehouse) == ["a 0", "b 1", "c 2"])
        try coordinator.remove(store)
        let copy = server.url(schema: server.newSchemaName())
        try coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: warehouse.url, sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        let copied = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: copy, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.performAndWait { try context.all("Item").count } == 3)
        try coordinator.remove(copied)
        try coordinator.destroyPersistentStore(at: warehouse.url, ofType: NSPostgreSQLStoreType, options: nil)
        #expect(try warehouse.texts("SELECT count(*) FROM pg_namespace WHERE nspname = '\(warehouse.schema)'") == ["0"])
    }
}
