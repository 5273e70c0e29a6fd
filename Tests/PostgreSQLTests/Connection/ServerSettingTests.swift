import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Databases and roles with settings of their own, which connections begin with.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ServerSettingTests {
    private static let isolation = "-c default_transaction_isolation=serializable"
    private static let literals = "-c standard_conforming_strings=off -c extra_float_digits=0"

    /// A URL whose connections begin with settings, as those of a role or a database would.
    private func url(_ settings: String) throws -> (URL, schema: String) {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        var components = try #require(URLComponents(url: server.url(schema: schema), resolvingAgainstBaseURL: false))
        components.queryItems?.append(URLQueryItem(name: "options", value: settings))
        return (try #require(components.url), schema)
    }

    private func open(_ url: URL) throws -> (NSManagedObjectContext, PostgreSQLStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let store = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        return (context, try #require(store as? PostgreSQLStore))
    }

    /// Transactions that take keys of one table at the same time wait for each other, and all get
    /// theirs.
    @Test func keysAreTakenWhileOthersTakeSome() throws {
        let (url, schema) = try url(Self.isolation)
        let (context, store) = try open(url)
        let holder = try WireConnection.open()
        defer { holder.close() }
        try holder.run("SET search_path TO \(schema); BEGIN; UPDATE ocd_entity SET last_key = last_key + 10")
        let other = OtherThread {
            try context.performAndWait {
                try context.obtainPermanentIDs(for: [context.insert("Item", ["name": "waiting"])])
                try context.save()
            }
        }
        try holder.waitUntilItBlocksAnother()
        try holder.run("COMMIT")
        try other.value()
        try store.backend().pool.withConnection { connection in
            for isWithinTransaction in [false, true] {
                if isWithinTransaction { try connection.begin(with: []) }
                var level: String?
                try connection.execute(WireStatement("SELECT current_setting('transaction_isolation')")) {
                    level = $0.string(0)
                }
                #expect(level == "read committed")
                if isWithinTransaction { connection.rollBack() }
            }
        }
    }

    @Test func manyOpenANewStoreAtOnce() throws {
        let (url, schema) = try url(Self.isolation)
        let others = (0..<6).map { number in
            OtherThread {
                let (context, _) = try open(url)
                try context.performAndWait {
                    _ = context.insert("Item", ["name": "\(number)"])
                    try context.save()
                }
            }
        }
        for other in others { try other.value() }
        #expect(try WireConnection.open().integers("SELECT count(*) FROM \(schema).item") == [6])
    }

    /// Literals in statements and functions are read, and numbers written, as they are everywhere.
    @Test(.needsICU) func textsAndNumbersMeanTheSame() throws {
        let (context, _) = try open(try url(Self.literals).0)
        try context.performAndWait {
            let sum = 0.1 + 0.2
            _ = context.insert("Item", ["name": "a\\b*c", "weight": sum])
            try context.save()
            for format in [
                "name CONTAINS '\\\\'", "name LIKE 'a?b*c'", "name ==[cd] 'A\\\\B*C'", "name MATCHES 'a.b.c'",
            ] { #expect(try context.all("Item", format).count == 1, "\(format)") }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            for (argument, count) in [(sum, 1), (0.3, 0)] {
                request.predicate = NSPredicate(format: "weight + 0.0 == %@", argument as NSNumber)
                #expect(try context.fetch(request).count == count, "\(argument)")
            }
        }
    }

    // MARK: Times

    /// "For ever" is as long as the server can wait.
    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 3e6, 2_147_484])
    func anyTimeoutIsTaken(seconds: Double) throws {
        let warehouse = try Warehouse(options: [NSPersistentStoreTimeoutOption: seconds])
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "saved"])
            try warehouse.context.save()
        }
    }
}
