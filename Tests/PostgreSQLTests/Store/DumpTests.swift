import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store that PostgreSQL's own programs have copied, as the article on stores in PostgreSQL says.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU) struct DumpTests {
    /// A model whose derived attributes need triggers.
    private static func model() -> NSManagedObjectModel {
        let model = Warehouse.model()
        let count = NSDerivedAttributeDescription()
        (count.name, count.attributeType, count.isOptional) = ("itemCount", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(format: "items.@count")
        model.entitiesByName["Maker"]?.properties.append(count)
        return model
    }

    private func open(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
        let context = coordinator.newContext()
        return context
    }

    @Test func aDumpIsAStoreAgainWhereItIsRestored() throws {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        let url = server.url(schema: schema)
        let context = try open(url)
        let maker = context.insert("Maker", ["title": "Forge"])
        let tag = context.insert("Tag", ["label": "new"])
        for number in 0..<3 {
            let item = context.insert(
                number == 0 ? "Kit" : "Item", ["name": "É\(number)", "maker": maker, "code": UUID()])
            item.setValue(NSOrderedSet(array: [tag]), forKey: "tags")
        }
        try context.save()
        let other = "\(schema)_restored"
        let before = PostgreSQLTables(url)
        #expect(before.execute("CREATE DATABASE \(other) TEMPLATE template0"))
        let dump = try ProgramRun(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", #""$1/pg_dump" -d "$2" -n "$3" | "$1/psql" -q -v ON_ERROR_STOP=1 -d "$4""#, "sh", server.programs,
                server.connectionString(), schema, "host=\(server.socketFolder) user=\(server.user) dbname=\(other)",
            ])
        #expect(dump.status == 0, "\(dump.output)")
        var components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        components.path = "/\(other)"
        let copy = try open(try #require(components.url))
        let items = try copy.all("Item", "name CONTAINS[cd] 'e'", by: "name")
        #expect(items.map { $0.value(forKey: "name") as? String } == ["É0", "É1", "É2"])
        #expect(items.map { $0.entity.name } == ["Kit", "Item", "Item"])
        #expect(items.map { ($0.value(forKey: "tags") as? NSOrderedSet)?.count } == [1, 1, 1])
        let restored = try #require(try copy.all("Maker").first)
        #expect(restored.objectID.uriRepresentation() == maker.objectID.uriRepresentation())
        _ = copy.insert("Item", ["name": "later", "maker": restored])
        try copy.save()
        copy.refreshAllObjects()
        #expect(restored.value(forKey: "itemCount") as? Int == 4)
        // The first one is another store.
        #expect(before.integer("SELECT count(*) FROM item") == 3)
        #expect(before.integer("SELECT item_count FROM maker") == 3)
    }
}
