import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store of a role whose rows policies hide or refuse, as the one who owns its tables is where
/// policies are forced.
struct GuardedWarehouse {
    let url: URL
    let options: [AnyHashable: Any]
    /// The schema as the server's owner sees it, whom policies do not concern.
    let tables: PostgreSQLTables

    /// - Parameter policies: what `CREATE POLICY` is told, by table.
    init(_ model: NSManagedObjectModel, policies: [(table: String, policy: String)]) throws {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        tables = PostgreSQLTables(server.url(schema: schema))
        #expect(tables.execute("CREATE SCHEMA \(schema) AUTHORIZATION \(server.scramUser)"))
        let text = server.url(schema: schema).absoluteString.replacingOccurrences(
            of: "user=\(server.user)", with: "user=\(server.scramUser)")
        url = try #require(URL(string: text))
        let password = server.password
        options = [NSPostgreSQLPasswordProviderKey: NSPostgreSQLPasswordProvider { password }]
        let maker = NSPersistentStoreCoordinator(managedObjectModel: model)
        try maker.remove(
            maker.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options))
        for table in Set(policies.map(\.table)) {
            _ = try tables.result("ALTER TABLE \(table) ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        }
        for (number, policy) in policies.enumerated() {
            _ = try tables.result("CREATE POLICY policy\(number) ON \(policy.table) \(policy.policy)")
        }
    }

    /// A context on a coordinator of its own, to be kept by who asks for it.
    func program(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        let context = coordinator.newContext()
        return context
    }
}
