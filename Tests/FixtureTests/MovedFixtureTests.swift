import CoreData
import TestSupport
import Testing

/// Stores that Apple's framework wrote, moved to PostgreSQL and back.
@Suite(
    .enabled(if: Fixtures.arePresent, Fixtures.areAbsent),
    .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct MovedFixtureTests {
    @Test(arguments: StoreAndModel.some(4, of: StoreAndModel.oneOfEachStore))
    func aStoreMovesToPostgreSQLAndBack(fixture: StoreAndModel) throws {
        let folder = try TemporaryFolder()
        let url = try fixture.store.copy(to: folder)
        let model = try fixture.readModel(of: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func context() -> NSManagedObjectContext {
            let context = coordinator.newContext()
            return context
        }
        var store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let server = try #require(StoreKind.postgreSQL.url(folder.file("moved")))
        for (target, kind) in [(server, StoreKind.postgreSQL), (folder.file("back.sqlite"), .sqlite)] {
            let before = try ObjectGraph(context(), model)
            let (moved, names) = try ObjectGraph.move(store, of: coordinator, to: target, type: kind.type)
            #expect(names.count == before.objects.count)
            #expect(try ObjectGraph(context(), model) == before.renamed(names))
            store = moved
        }
    }
}
