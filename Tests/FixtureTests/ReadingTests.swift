import CoreData
import TestSupport
import Testing

extension FixtureTests {
    struct ReadingTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test func everyStoreHasAModelToOpenItWith() {
            #expect(FixtureStore.all.count >= 12)
            for store in FixtureStore.all {
                let models = StoreAndModel.all.filter { $0.store.path == store.path }
                #expect(!models.isEmpty, "\(store.path)")
                // The framework of this store wrote no model into it.
                #expect(models.contains { $0.model == nil } == (store.project != "SurfJournal"), "\(store.path)")
                // The second sample model and those that SwiftData made are at hand only inside
                // their stores.
                let isAlone = store.path.contains("SampleModel2/") || ["CartKit", "FreezeRay"].contains(store.project)
                #expect(models.contains { $0.model != nil } != isAlone, "\(store.path)")
            }
        }

        @Test(arguments: StoreAndModel.all)
        func everyPropertyOfEveryRowIsReadAsItStands(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let stack = try Stack(try fixture.readModel(of: url), url)
            let raw = try RawStore(url, stack.model)
            let expected = try raw.states()
            for entity in stack.model.entities {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                #expect(try stack.context.count(for: request) == raw.rows(of: entity).count, "\(entity.name ?? "")")
            }
            #expect(expected.count == raw.tables.values.reduce(0) { $0 + $1.count })
            #expect(differences(try stack.states(), expected) == [])
        }

        @Test(arguments: StoreAndModel.some(8, of: StoreAndModel.all))
        func aContainerOpensTheStoreAndReadsWithoutFaults(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let container = NSPersistentContainer(
                name: "Fixture", managedObjectModel: try fixture.readModel(of: url))
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let context = container.newBackgroundContext()
            let raw = try RawStore(url, container.managedObjectModel)
            let states = try raw.states()
            for entity in container.managedObjectModel.entities {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.returnsObjectsAsFaults = false
                request.relationshipKeyPathsForPrefetching = Array(entity.relationshipsByName.keys)
                let objects = try context.fetch(request)
                let kinds = raw.entities.values.filter { $0.isKindOf(entity: entity) }
                #expect(objects.count == kinds.reduce(0) { $0 + raw.rows(of: $1).count })
                #expect(objects.allSatisfy { !$0.isFault })
                #expect(objects.allSatisfy { $0.state() == states[$0.place] })
            }
        }

        @Test(arguments: StoreAndModel.some(6, of: StoreAndModel.oneOfEachStore))
        func readingReadOnlyChangesNoByte(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            func contents() throws -> [Data?] {
                ["", "-wal"].map { try? Data(contentsOf: URL(fileURLWithPath: url.path + $0)) }
            }
            let before = try contents()
            let stack = try Stack(model, url, options: [NSReadOnlyPersistentStoreOption: true])
            let states = try stack.states()
            try stack.close()
            #expect(try contents() == before)
            #expect(differences(states, try RawStore(url, model).states()) == [])
        }
    }
}
