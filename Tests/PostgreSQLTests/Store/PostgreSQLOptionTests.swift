import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Options of a store in a database.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct PostgreSQLOptionTests {
    @Test(arguments: [
        NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption,
    ])
    func anOptionWithoutEffectIsSaid(option: String) throws {
        _ = try Warehouse(options: [option: option == NSSQLitePragmasOption ? ["synchronous": "FULL"] as Any : true])
        #expect(Warnings.all.contains { $0.contains(option) && $0.contains("PostgreSQL") })
    }

    @Test(arguments: [0, -1, 0.5, "many"] as [any Sendable]) func aSizeOfThePoolThatIsNoneIsRefused(size: any Sendable)
        throws
    {
        let error = try #require(throws: NSError.self) {
            try Warehouse(options: [NSPersistentStoreConnectionPoolMaxSizeKey: size])
        }
        #expect(error.localizedDescription.contains("NSPersistentStoreConnectionPoolMaxSizeKey"))
    }

    @Test func aStoreOpenedForReadingIsReadAndNotWritten() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "kept"])
            try warehouse.context.save()
        }
        let other = try warehouse.otherProgram(options: [NSReadOnlyPersistentStoreOption: true])
        try other.performAndWait {
            #expect(try other.all("Item").map { $0.value(forKey: "name") as? String } == ["kept"])
            try other.all("Item")[0].setValue("changed", forKey: "name")
            let refused = try #require(throws: NSError.self) { try other.save() }
            #expect(refused.code == CocoaError.Code.fileWriteNoPermission.rawValue)
            other.rollback()
            _ = other.insert("Item", ["name": "new"])
            #expect(throws: NSError.self) { try other.save() }
            #expect(throws: NSError.self) {
                try other.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
            }
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["name": "updated"]
            #expect(throws: NSError.self) { try other.execute(update) }
            let insertion = NSBatchInsertRequest(entityName: "Item", objects: [["name": "inserted"]])
            #expect(throws: NSError.self) { try other.execute(insertion) }
        }
        #expect(try warehouse.texts("SELECT name FROM item") == ["kept"])
        #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["1"])
    }

    @Test func aStoreOpenedForReadingIsNotMade() throws {
        let server = try WireConnection.server()
        let url = server.url(schema: server.newSchemaName())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
                options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(error.localizedDescription.contains("There is no store"))
    }

    // MARK: Servers

    /// A store that was made by a server without ICU has no functions that fold texts; everything
    /// else works in it.
    @Test func whatNeedsFunctionsThatTheSchemaLacksIsRefused() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "Äsop"])
            try warehouse.context.save()
        }
        try warehouse.run("DROP FUNCTION IF EXISTS ocd_fold CASCADE")
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            #expect(try other.all("Item", "name == 'Äsop' AND name BEGINSWITH 'Ä'").count == 1)
            let error = try #require(throws: NSError.self) { try other.all("Item", "name ==[c] 'ÄSOP'") }
            #expect(error.localizedDescription.contains("ICU"), "\(error)")
        }
    }

    /// Statements on new tables look expensive, and would be compiled for longer than they run; who
    /// has asked for that gets it.
    @Test(arguments: [nil, "on", "off"]) func statementsAreCompiledOnlyWhereThatIsAskedFor(asked: String?) throws {
        let server = try WireConnection.server()
        let text = server.url(schema: server.newSchemaName()).absoluteString
        let url = try #require(URL(string: asked.map { text + "&options=-c%20jit%3D\($0)" } ?? text))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let store = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let pool = try #require(store as? PostgreSQLStore).backend().pool
        let compiles = try pool.withConnection { connection in
            try connection.integer(WireStatement("SELECT CAST(current_setting('jit') = 'on' AS integer)"))
        }
        #expect(compiles == (asked == "on" ? 1 : 0))
    }

    // MARK: Passwords

    private func description(_ provider: NSObject, user: String) throws -> (
        NSPersistentStoreDescription, schema: String
    ) {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        let description = NSPersistentStoreDescription(
            url: try #require(
                URL(
                    string: server.url(schema: schema).absoluteString.replacingOccurrences(
                        of: "user=app", with: "user=\(user)"))))
        description.type = NSPostgreSQLStoreType
        description.setOption(provider, forKey: NSPostgreSQLPasswordProviderKey)
        return (description, schema)
    }

    @Test func aProviderIsAskedForThePasswordOfEachConnection() throws {
        let server = try WireConnection.server()
        let asked = Counter()
        let password = server.password
        let provider = NSPostgreSQLPasswordProvider {
            asked.increase()
            return password
        }
        let (description, schema) = try description(provider, user: server.scramUser)
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("CREATE SCHEMA \(schema) AUTHORIZATION \(server.scramUser)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let store = try coordinator.addPersistentStore(
            ofType: description.type, configurationName: nil, at: description.url, options: description.options)
        #expect(asked.value == 1)
        let pool = try #require(store as? PostgreSQLStore).backend().pool
        try pool.withConnection { _ in try pool.withConnection { _ in } }
        #expect(asked.value == 2)
    }

    @Test func whatAProviderThrowsIsTheReason() throws {
        struct Expired: Error {}
        let (description, _) = try description(
            NSPostgreSQLPasswordProvider { throw Expired() }, user: try WireConnection.server().scramUser)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: description.type, configurationName: nil, at: description.url, options: description.options)
        }
        #expect(error.localizedDescription.contains("Expired"))
        let (wrong, _) = try self.description("hunter2" as NSString, user: "app")
        let refusal = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: wrong.type, configurationName: nil, at: wrong.url, options: wrong.options)
        }
        #expect(refusal.localizedDescription.contains("NSPostgreSQLPasswordProvider"))
        #expect(!"\(refusal)".contains("hunter2"))
    }
}
