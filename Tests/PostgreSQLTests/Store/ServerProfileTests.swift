import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The profile that a store chooses for its server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ServerProfileTests {
    private func open(_ parameter: String) throws -> PostgreSQLStore {
        let server = try WireConnection.server()
        let url = try #require(URL(string: server.url(schema: server.newSchemaName()).absoluteString + parameter))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        return try #require(
            coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
                as? PostgreSQLStore)
    }

    @Test(arguments: ["", "&ocd.server=postgresql"]) func aServerIsAskedOrNamed(parameter: String) throws {
        let backend = try open(parameter).backend()
        #expect(backend.schema.profile.name == "postgresql")
        #expect(backend.keyPolicy == .counted)
    }

    @Test func theURLSaysHowKeysAreMade() throws {
        #expect(try open("&ocd.server=postgresql&ocd.keys=scattered").backend().keyPolicy == .scattered)
    }

    @Test func aServerThatNobodyKnowsHasTheProfileOfPostgreSQL() {
        #expect(PostgreSQLProfile.ofServer(version: "OtherDB 3.1").name == "postgresql")
    }

    @Test func aProfileThatThereIsNotIsRefused() throws {
        let error = try #require(throws: NSError.self) { try open("&ocd.server=other") }
        #expect(error.localizedDescription.contains("ocd.server=other"))
        #expect(error.localizedRecoverySuggestion?.contains("postgresql") == true)
    }

    /// Its tables may be somebody's only copy: nothing is done to them.
    @Test func aStoreWithoutItsRowIsNotMadeAnew() throws {
        let warehouse = try Warehouse()
        try warehouse.run("DELETE FROM ocd_store")
        let error = try #require(throws: NSError.self) { try warehouse.otherProgram() }
        #expect(error.localizedDescription.contains("its table ocd_store is empty"))
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["0"])
    }
}
