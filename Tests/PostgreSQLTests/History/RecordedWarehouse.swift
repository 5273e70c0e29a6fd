import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Warehouses whose saves are recorded.
enum RecordedWarehouse {
    static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// Deletions of items preserve their names, and those of kits their discounts too.
    static func model() -> NSManagedObjectModel {
        let model = Warehouse.model()
        for (entity, attribute) in [("Item", "name"), ("Kit", "discount")] {
            model.entitiesByName[entity]?.attributesByName[attribute]?.preservesValueInHistoryOnDeletion = true
        }
        return model
    }

    static func make(
        options: [AnyHashable: Any] = [:], through proxy: PostgreSQLProxy? = nil
    ) throws -> Warehouse {
        try Warehouse(model(), options: tracking.merging(options) { $1 }, through: proxy)
    }
}

extension Warehouse {
    /// The transactions and their changes, as SQL reads them: `1 update 1 p1 ["name"]`.
    func recordedChanges() throws -> [String?] {
        try texts(
            """
            SELECT concat_ws(' ', h.number, c.kind, e.name, c.key, c.properties, c.tombstone) FROM ocd_change c \
            JOIN ocd_history h ON h.save = c.save JOIN ocd_entity e ON e.number = c.entity ORDER BY h.number, c.place
            """)
    }

    /// Saves so many tags, each in a transaction of its own.
    func saveTags(_ count: Int) throws {
        for number in 0..<count {
            _ = context.insert("Tag", ["label": "\(number)"])
            try context.save()
        }
    }
}

extension NSManagedObjectContext {
    func transactions(after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        let result = try execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        return try #require((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
    }

    func deleteHistory(before token: NSPersistentHistoryToken?) throws {
        try execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
    }
}
