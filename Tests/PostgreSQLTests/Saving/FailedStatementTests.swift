import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The error of a statement that the server has refused.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct FailedStatementTests {
    // Values of rows, which stand in no statement.
    private static let name = "squirrel"
    private static let count = 471_147

    private let warehouse: Warehouse
    private let context: NSManagedObjectContext

    init() throws {
        warehouse = try Warehouse()
        context = warehouse.context
    }

    /// The error of a statement: its user info, or that of the error which has led to it.
    private func expect(
        _ error: NSError, _ sqlState: String, statementWith words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        #expect(error.userInfo["SQLSTATE"] as? String == sqlState, "\(error)", sourceLocation: sourceLocation)
        #expect(cause.userInfo["SQLSTATE"] as? String == sqlState, sourceLocation: sourceLocation)
        #expect(error.localizedDescription.contains(warehouse.schema), "\(error)", sourceLocation: sourceLocation)
        let statement = try #require(cause.userInfo["statement"] as? String, "\(error)", sourceLocation: sourceLocation)
        for word in words { #expect(statement.contains(word), "\(statement)", sourceLocation: sourceLocation) }
        for value in [Self.name, "\(Self.count)"] {
            #expect(!statement.contains(value), "\(statement)", sourceLocation: sourceLocation)
        }
    }

    private func insertItems(_ count: Int) -> [NSManagedObject] {
        (0..<count).map { context.insert("Item", ["name": "\(Self.name) \($0)", "stockCount": Self.count]) }
    }

    /// Has the table of items refuse the count that these tests give them.
    private func refuseCount() throws {
        try warehouse.run("ALTER TABLE item ADD CONSTRAINT few CHECK (stock_count < 1000)")
    }

    // MARK: Fetches

    enum Kind: CaseIterable, Sendable {
        case objects, references, count, dictionaries

        func run(_ predicate: CoreData.NSPredicate, _ context: NSManagedObjectContext) throws {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            request.predicate = predicate
            switch self {
            case .objects: break
            case .references: request.resultType = .managedObjectIDResultType
            case .dictionaries: request.resultType = .dictionaryResultType
            case .count:
                _ = try context.count(for: request)
                return
            }
            _ = try context.fetch(request)
        }
    }

    @Test(arguments: Kind.allCases) func aRefusedFetchShowsItsStatement(kind: Kind) throws {
        try warehouse.run("ALTER TABLE item RENAME COLUMN stock_count TO amount")
        let formats = [
            "name == '\(Self.name)' AND stockCount > \(Self.count)",
            "name BEGINSWITH '\(Self.name)' OR stockCount IN {\(Self.count), 1}",
            "stockCount BETWEEN {\(Self.count), \(Self.count)} AND name LIKE '*\(Self.name)*'",
        ]
        try context.performAndWait {
            for format in formats {
                let predicate = NSPredicate(format: format)
                let error = try #require(throws: NSError.self) { try kind.run(predicate, context) }
                try expect(error, "42703", statementWith: ["SELECT", "item", "stock_count"])
            }
        }
    }

    @Test func aRefusedFaultShowsItsStatement() throws {
        try context.performAndWait {
            let objectID = try {
                let item = insertItems(1)[0]
                try context.save()
                return item.objectID
            }()
            context.reset()
            warehouse.coordinator.forgetCachedRows()
            try warehouse.run("ALTER TABLE item RENAME COLUMN stock_count TO amount")
            let error = try #require(throws: NSError.self) { try context.existingObject(with: objectID) }
            try expect(error, "42703", statementWith: ["SELECT", "item"])
        }
    }

    // MARK: Saves

    /// A few rows are inserted by statements, many are copied.
    @Test(arguments: [1, 300]) func aRefusedInsertionShowsItsStatement(count: Int) throws {
        try refuseCount()
        try context.performAndWait {
            let items = insertItems(count)
            let error = try #require(throws: NSError.self) { try context.save() }
            try expect(error, "23514", statementWith: ["item", "stock_count"])
            #expect(error.userInfo["constraint"] as? String == "few")
            #expect(error.userInfo["table"] as? String == "item")
            #expect(error.localizedDescription.contains("few"))
            // Nothing was written, and the changes are still there.
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["0"])
            #expect(context.insertedObjects == Set(items))
        }
    }

    @Test(arguments: [1, 300]) func aRefusedUpdateShowsItsStatement(count: Int) throws {
        try context.performAndWait {
            let items = insertItems(count)
            for item in items { item.setValue(1, forKey: "stockCount") }
            try context.save()
            try refuseCount()
            for item in items { item.setValue(Self.count, forKey: "stockCount") }
            let error = try #require(throws: NSError.self) { try context.save() }
            try expect(error, "23514", statementWith: ["UPDATE", "item", "stock_count"])
            #expect(error.userInfo["constraint"] as? String == "few")
            #expect(try warehouse.texts("SELECT DISTINCT stock_count FROM item") == ["1"])
            #expect(context.updatedObjects == Set(items))
        }
    }

    @Test func aRefusedBatchShowsItsStatement() throws {
        try context.performAndWait {
            let item = insertItems(1)[0]
            item.setValue(1, forKey: "stockCount")
            try context.save()
            try refuseCount()
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.predicate = NSPredicate(format: "name BEGINSWITH %@", Self.name)
            update.propertiesToUpdate = ["stockCount": Self.count]
            try expect(
                try #require(throws: NSError.self) { try context.execute(update) }, "23514",
                statementWith: ["UPDATE", "item"])
            let rows = [["name": Self.name, "stockCount": Self.count] as [String: Any]]
            let insertion = NSBatchInsertRequest(entityName: "Item", objects: rows)
            try expect(
                try #require(throws: NSError.self) { try context.execute(insertion) }, "23514", statementWith: ["item"])
            #expect(try warehouse.texts("SELECT stock_count FROM item") == ["1"])
        }
    }

    // MARK: Migrations

    private func note(_ attributes: NSAttributeDescription...) -> NSManagedObjectModel {
        NSManagedObjectModel([NSEntityDescription("Note", class: "NSManagedObject", attributes)])
    }

    @Test func aRefusedMigrationShowsItsStatement() throws {
        let (text, mark) = ("text", "mark")
        let former = note(
            NSAttributeDescription(text, .stringAttributeType), NSAttributeDescription(mark, .integer32AttributeType))
        let url = warehouse.url
        let tables = PostgreSQLTables(url)
        // The schema of the warehouse's own store is of no use here.
        #expect(tables.execute("DROP SCHEMA \(warehouse.schema) CASCADE"))
        func open(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            return coordinator.newContext()
        }
        let first = try open(former)
        try first.performAndWait {
            _ = first.insert("Note", [text: Self.name, mark: Self.count])
            try first.save()
        }
        #expect(tables.execute("CREATE VIEW marks AS SELECT mark FROM note"))
        let before = tables.content
        let error = try #require(throws: NSError.self) {
            try open(note(NSAttributeDescription(text, .stringAttributeType)))
        }
        // Others depend on what it drops.
        try expect(error, "2BP01", statementWith: ["ALTER TABLE", "note", "mark"])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedRecoverySuggestion?.contains("view") == true)
        #expect(tables.content == before)
        let again = try open(former)
        let counts = try again.performAndWait { try again.all("Note").map { $0.value(forKey: mark) as? Int } }
        #expect(counts == [Self.count])
    }

    // MARK: What to do

    enum Refusal: String, CaseIterable, Sendable {
        case renamedColumn, droppedTable, check, missingDestination, missingRight, heldRows
    }

    /// The recovery suggestion of every error says what to do.
    @Test(arguments: Refusal.allCases) func aRefusalSaysWhatToDo(refusal: Refusal) throws {
        let warehouse = try Warehouse(options: refusal == .heldRows ? [NSPersistentStoreTimeoutOption: 0.3] : nil)
        let context = warehouse.context
        let holder = try WireConnection.open()
        defer { holder.close() }
        try context.performAndWait {
            let (maker, item) = (context.insert("Maker", ["title": "ACME"]), context.insert("Item", ["name": "first"]))
            try context.save()
            switch refusal {
            case .renamedColumn: try warehouse.run("ALTER TABLE item RENAME COLUMN stock_count TO amount")
            case .droppedTable: try warehouse.run("DROP TABLE item CASCADE")
            case .check: try warehouse.run("ALTER TABLE item ADD CONSTRAINT few CHECK (stock_count < 1000)")
            case .missingDestination: try warehouse.run("DELETE FROM maker")
            case .missingRight:
                try warehouse.run(
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE "
                        + "insufficient_privilege; END$$; "
                        + "CREATE TRIGGER refuse BEFORE UPDATE ON item FOR EACH STATEMENT EXECUTE FUNCTION refuse()")
            case .heldRows: try holder.run("BEGIN; UPDATE \(warehouse.schema).item SET small = 1")
            }
            item.setValue(refusal == .missingDestination ? maker : nil, forKey: "maker")
            item.setValue(5000, forKey: "stockCount")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedRecoverySuggestion?.isEmpty == false, "\(error)")
            #expect(!error.localizedDescription.isEmpty)
        }
    }
}
