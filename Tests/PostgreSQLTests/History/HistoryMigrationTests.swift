import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The history of a migrated store: it names entities and properties as they are called now.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct HistoryMigrationTests {
    private static func preserved(_ name: String, was former: String? = nil) -> NSAttributeDescription {
        let attribute = NSAttributeDescription(name, .stringAttributeType)
        attribute.preservesValueInHistoryOnDeletion = true
        attribute.renamingIdentifier = former
        return attribute
    }

    private static func shelf() -> NSEntityDescription {
        NSEntityDescription("Shelf", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
    }

    private static func former() -> NSManagedObjectModel {
        NSManagedObjectModel([
            NSEntityDescription(
                "Book", class: "NSManagedObject",
                [preserved("title"), preserved("note"), NSAttributeDescription("pages", .integer64AttributeType)]),
            NSEntityDescription("Loan", class: "NSManagedObject", [preserved("reader")]),
            shelf(),
        ])
    }

    /// Books are volumes, their titles are headings, and notes and loans are gone. A new entity may
    /// get the number of the latter.
    private static func later() -> NSManagedObjectModel {
        let volume = NSEntityDescription(
            "Volume", class: "NSManagedObject",
            [preserved("heading", was: "title"), NSAttributeDescription("pages", .integer64AttributeType)])
        volume.renamingIdentifier = "Book"
        return NSManagedObjectModel([
            volume,
            NSEntityDescription("Room", class: "NSManagedObject", [preserved("reader")]),
            shelf(),
        ])
    }

    private func open(_ model: NSManagedObjectModel, at url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
            options: RecordedWarehouse.tracking.merging([
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]) { $1 })
        return coordinator.newContext()
    }

    @Test func aMigrationKeepsTheHistory() throws {
        let server = try WireConnection.server()
        let url = server.url(schema: server.newSchemaName())
        let before = try open(Self.former(), at: url)
        let book = before.insert("Book", ["title": "one", "note": "n", "pages": 1])
        let loan = before.insert("Loan", ["reader": "Ada"])
        let shelf = before.insert("Shelf", ["name": "main"])
        try before.save()
        for (object, values) in [(book, ["title": "two", "note": "m"]), (shelf, ["name": "other"])] {
            for (name, value) in values { object.setValue(value, forKey: name) }
        }
        try before.save()
        for object in [book, loan] { before.delete(object) }
        try before.save()
        let coordinator = try #require(before.persistentStoreCoordinator)
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try coordinator.setHistoryToken(token, forReader: "reader")
        for store in coordinator.persistentStores { try coordinator.remove(store) }

        let after = try open(Self.later(), at: url)
        #expect(try after.persistentStoreCoordinator?.historyToken(forReader: "reader") == token)
        let transactions = try after.transactions()
        #expect(transactions.map(\.transactionNumber) == [1, 2, 3])
        let changes = transactions.map { transaction in
            (transaction.changes ?? []).map { "\($0.changeType) \($0.changedObjectID.entity.name ?? "")" }.sorted()
        }
        #expect(changes == [["insert Shelf", "insert Volume"], ["update Shelf", "update Volume"], ["delete Volume"]])
        let updates = transactions[1].changes?.map { change in
            "\(change.changedObjectID.entity.name ?? ""): \((change.updatedProperties ?? []).map(\.name).sorted())"
        }
        #expect(updates?.sorted() == ["Shelf: [\"name\"]", "Volume: [\"heading\"]"])
        let tombstone = try #require(transactions[2].changes?.first?.tombstone)
        #expect(tombstone["heading"] as? String == "two")
        #expect(tombstone["note"] == nil)
        _ = after.insert("Room", ["reader": "Bob"])
        try after.save()
        #expect(try after.transactions(after: token).map(\.transactionNumber) == [4])
    }

    @Test func aStoreWithoutAHistoryIsMigratedWithoutOne() throws {
        let server = try WireConnection.server()
        let url = server.url(schema: server.newSchemaName())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.former())
        try coordinator.remove(
            coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url))
        let after = try open(Self.later(), at: url)
        _ = after.insert("Room", ["reader": "Bob"])
        try after.save()
        #expect(try after.transactions().map(\.transactionNumber) == [1])
    }
}
