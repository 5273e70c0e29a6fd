import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store in a schema of its own on the tests' server, and what the server says of it.
final class Warehouse {
    let url: URL
    let schema: String
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    private let server: PostgreSQLServer
    private let model: NSManagedObjectModel
    private var kept: [AnyObject] = []

    /// - Parameters:
    ///   - proxy: what the store reaches the server by, unless it does so directly.
    ///   - server: unless it is that of all tests.
    init(
        _ model: NSManagedObjectModel = Warehouse.model(), options: [AnyHashable: Any]? = nil,
        through proxy: PostgreSQLProxy? = nil,
        on server: PostgreSQLServer? = nil
    ) throws {
        self.server = try server ?? WireConnection.server()
        schema = self.server.newSchemaName()
        url = proxy?.url(schema: schema) ?? self.server.url(schema: schema)
        self.model = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        if options?[NSPersistentStoreTimeoutOption] != nil {
            // What makes the tables may take longer than a test wants to wait for anything else.
            let maker = NSPersistentStoreCoordinator(managedObjectModel: model)
            try maker.remove(
                maker.addPersistentStore(
                    ofType: NSPostgreSQLStoreType, configurationName: nil, at: self.server.url(schema: schema),
                    options: nil))
        }
        store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        context = coordinator.newContext()
    }

    /// A context of another coordinator on the same schema, as another program has it.
    func otherProgram(options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try other.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        let context = other.newContext()
        kept.append(context)
        return context
    }

    /// The first column of each row, as the server writes it, of a query in the store's schema.
    func texts(_ sql: String) throws -> [String?] {
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("SET search_path TO \(schema)")
        return try connection.texts("SELECT v::text FROM (\(sql)) q(v)")
    }

    /// Runs SQL in the store's schema, as another program would.
    func run(_ sql: String) throws {
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("SET search_path TO \(schema); \(sql)")
    }

    /// The result of a task that is cancelled when a statement waits for the table of items.
    ///
    /// It is looked for in a thread of its own: other tests may keep those that tasks share for
    /// longer than a statement waits.
    func valueCancelledWhileItWaits<Value: Sendable>(of task: Task<Value, any Error>) async throws -> Value {
        let isOver = Counter()
        let observer = try WireConnection.open(server.connectionString())
        nonisolated(unsafe) let observing = observer
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(schema).item'::regclass"
        let cancellation = OtherThread {
            _ = try wait { try isOver.value > 0 || observing.integers(waiting) != [0] }
            task.cancel()
        }
        let result = await task.result
        isOver.increase()
        try cancellation.value()
        observer.close()
        return try result.get()
    }

    /// Items with one attribute of each type, their makers and tags; kits are items with a
    /// discount.
    static func model() -> NSManagedObjectModel {
        let price = NSAttributeDescription("unitPrice", .decimalAttributeType)
        let picture = NSAttributeDescription("pictureURL", .URIAttributeType)
        let data = NSAttributeDescription("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false, default: ""),
                NSAttributeDescription("stockCount", .integer32AttributeType, optional: false, default: 0),
                NSAttributeDescription("small", .integer16AttributeType),
                NSAttributeDescription("large", .integer64AttributeType),
                NSAttributeDescription("isSold", .booleanAttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
                NSAttributeDescription("ratio", .floatAttributeType), price, picture, data,
                NSAttributeDescription("madeAt", .dateAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType),
            ])
        item.uniquenessConstraints = [["code"]]
        let kit = NSEntityDescription(
            "Kit", class: "NSManagedObject",
            [NSAttributeDescription("discount", .doubleAttributeType, optional: false, default: 0.5)])
        item.subentities = [kit]
        let maker = NSEntityDescription(
            "Maker", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject", [NSAttributeDescription("label", .stringAttributeType)])
        relate(maker, "items", toMany: true, item, inverse: "maker")
        relate(item, "tags", toMany: true, ordered: true, tag, inverse: "items", inverseToMany: true)
        return NSManagedObjectModel([item, kit, maker, tag])
    }
}

extension NSManagedObjectContext {
    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Adds one to the stock of every item, a number of times; a save that meets a conflict is
    /// tried again.
    func countItems(times: Int, by key: String = "objectID") {
        var left = times
        while left > 0 {
            do {
                for item in try all("Item", by: key) {
                    item.setValue((item.value(forKey: "stockCount") as? Int ?? 0) + 1, forKey: "stockCount")
                }
                try save()
                left -= 1
            } catch {
                if (error as NSError).code != 133_020 { Issue.record(error) }
                reset()
            }
        }
    }

    func all(_ entity: String, _ format: String? = nil, by key: String = "objectID") throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try fetch(request)
    }
}
