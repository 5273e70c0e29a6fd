import CoreData
import CoreDataPostgreSQL
import Foundation
import TestSupport
import Testing

/// A store whose schema has got another name, and whose URL is set anew.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct MovedSchemaTests {
    private func url(_ url: URL, schema: String, password: String? = nil) throws -> URL {
        var components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        components.queryItems = components.queryItems?.map {
            $0.name == "ocd.schema" ? URLQueryItem(name: $0.name, value: schema) : $0
        }
        if let password {
            components.queryItems?.append(URLQueryItem(name: "password", value: password))
        }
        return try #require(components.url)
    }

    @Test func aMovedStoreIsWrittenWhereItsURLSays() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        let moved = "\(warehouse.schema)_moved"
        try context.performAndWait {
            let item = context.insert("Item", ["name": "first"])
            try context.save()
            let former = try #require(warehouse.store.url)
            // What is no place leaves the store where it is.
            let nowhere = try #require(URL(string: warehouse.url.absoluteString + "&ocd.unknown=1"))
            #expect(!warehouse.coordinator.setURL(nowhere, for: warehouse.store))
            #expect(warehouse.store.url == former)
            // Neither is a schema without a store, in which none is made.
            #expect(!warehouse.coordinator.setURL(try url(warehouse.url, schema: moved), for: warehouse.store))
            #expect(warehouse.store.url == former)
            #expect(try warehouse.texts("SELECT count(*) FROM pg_namespace WHERE nspname = '\(moved)'") == ["0"])
            item.setValue("second", forKey: "name")
            try context.save()
            try warehouse.run("ALTER SCHEMA \(warehouse.schema) RENAME TO \(moved)")
            let place = try url(warehouse.url, schema: moved, password: "hush")
            #expect(warehouse.coordinator.setURL(place, for: warehouse.store))
            #expect(warehouse.store.url?.absoluteString.contains(moved) == true)
            #expect(warehouse.store.url?.absoluteString.contains("hush") == false)
            item.setValue("third", forKey: "name")
            _ = context.insert("Item", ["name": "fourth"])
            try context.save()
            #expect(try warehouse.texts("SELECT name FROM \(moved).item ORDER BY 1") == ["fourth", "third"])
        }
        #expect(try warehouse.texts("SELECT count(*) FROM pg_namespace WHERE nspname = '\(warehouse.schema)'") == ["0"])
    }
}
