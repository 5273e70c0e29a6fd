import CoreData
import CoreDataPostgreSQL
import Foundation
import TestSupport
import Testing

/// Containers that add a store on a server in the background.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct AsynchronousOpeningTests {
    /// The error of adding a store to a container; nil where it was added.
    private func errorOfLoading(_ container: NSPersistentContainer, _ url: URL) async -> String? {
        let description = NSPersistentStoreDescription(url: url)
        #expect(description.type == NSPostgreSQLStoreType)
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        return await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in continuation.resume(returning: error?.localizedDescription) }
        }
    }

    @Test func aStoreIsAddedInTheBackground() async throws {
        let server = try WireConnection.server()
        let url = server.url(schema: server.newSchemaName())
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: Warehouse.model())
        let error = await errorOfLoading(container, url)
        #expect(error == nil)
        let context = container.newBackgroundContext()
        try await context.perform {
            _ = context.insert("Item", ["name": "new"])
            try context.save()
        }
        #expect(PostgreSQLTables(url).column("SELECT name FROM item") == ["new"])
    }

    @Test func aStoreThatCannotBeAddedIsToldOf() async throws {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: Warehouse.model())
        let error = await errorOfLoading(
            container, try #require(URL(string: "postgresql://app:hush@/app?host=/nowhere/at/all")))
        #expect(error?.contains("/nowhere/at/all") == true)
        #expect(error?.contains("hush") == false)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }
}
