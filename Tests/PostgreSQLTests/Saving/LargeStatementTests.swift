import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Values that have more bytes together than the server takes in one statement: here it takes a
/// few, so that a test need not have gigabytes.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LargeStatementTests {
    private static let size = 10_000
    private let warehouse: Warehouse
    private let context: NSManagedObjectContext
    private let store: PostgreSQLStore

    init() throws {
        let model = Warehouse.model()
        model.entitiesByName["Tag"]?.properties += [NSAttributeDescription("picture", .binaryDataAttributeType)]
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        warehouse = try Warehouse(model)
        context = warehouse.context
        store = try #require(warehouse.store as? PostgreSQLStore)
        // Three rows of a statement, and none with a fourth.
        try store.backend().bytesOfStatement.store(Self.size * 3 + 1_000, ordering: .relaxed)
        // Whatever is sent in one piece all the same is refused.
        let pool = try store.backend().pool
        try pool.withConnection { try #require($0.wire as? LibPQConnection).mostBytes = Self.size * 4 }
    }

    private func data(_ number: Int) -> Data { Data(repeating: UInt8(number), count: Self.size) }

    private func expectTags(_ count: Int, _ shift: Int = 0) throws {
        context.reset()
        let tags = try context.all("Tag", by: "label")
        #expect(tags.count == count)
        for (number, tag) in tags.enumerated() {
            #expect(tag.value(forKey: "picture") as? Data == data(number + shift), "\(number)")
        }
    }

    private func label(_ number: Int) -> String { String(format: "%03d", number) }

    @Test(arguments: [1, 3, 4, 10, 49, 60]) func rowsAreInsertedAndUpdated(count: Int) throws {
        try context.performAndWait {
            for number in 0..<count { _ = context.insert("Tag", ["label": label(number), "picture": data(number)]) }
            try context.save()
            try expectTags(count)
            for (number, tag) in try context.all("Tag", by: "label").enumerated() {
                tag.setValue(data(number + 1), forKey: "picture")
            }
            try context.save()
            try expectTags(count, 1)
        }
    }

    /// Many updates are not locked first: each part has to meet its rows.
    @Test(arguments: [false, true]) func manyUpdatesFindTheirRows(isOvertaken: Bool) throws {
        let count = 1200
        try store.backend().bytesOfStatement.store(20_000, ordering: .relaxed)
        try context.performAndWait {
            for number in 0..<count { _ = context.insert("Item", ["name": "\(number)", "stockCount": number]) }
            try context.save()
            let items = try context.all("Item", by: "stockCount")
            if isOvertaken {
                try warehouse.run("UPDATE item SET weight = 1, version = version + 1 WHERE stock_count = 1100")
            }
            for (number, item) in items.enumerated() {
                item.setValue(String(repeating: "x", count: 100) + "\(number)", forKey: "name")
            }
            if isOvertaken {
                let error = try #require(throws: NSError.self) { try context.save() }
                #expect(error.code == NSManagedObjectMergeError)
                #expect(try warehouse.texts("SELECT count(*) FROM item WHERE name LIKE 'x%'") == ["0"])
            } else {
                try context.save()
                let wrong = "SELECT count(*) FROM item WHERE name <> repeat('x', 100) || stock_count OR version <> 2"
                #expect(try warehouse.texts(wrong) == ["0"])
            }
        }
    }

    @Test func batchesInsertAndUpdate() throws {
        try context.performAndWait {
            for shift in 0..<2 {
                let rows = (0..<20).map { ["label": label($0), "picture": data($0 + shift)] as [String: Any] }
                let request = NSBatchInsertRequest(entityName: "Tag", objects: rows)
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                _ = try context.execute(request)
                try expectTags(20, shift)
            }
        }
    }

    /// A value that cannot be split is refused with an error, and the connection stays usable.
    @Test func aValueThatIsTooLargeIsRefused() throws {
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "kept", "picture": data(0)])
            try context.save()
            let tag = try context.all("Tag")[0]
            tag.setValue(Data(count: Self.size * 5), forKey: "picture")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("less than one GiB"), "\(error)")
            context.reset()
            try expectTags(1)
        }
    }
}
