import CoreData
import TestSupport
import Testing

extension FixtureTests {
    struct VersionTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func hashes(_ url: URL) throws -> [String: Data] {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url)
            return try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        }

        @Test(arguments: StoreAndModel.all)
        func theModelHasTheHashesOfTheStore(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            #expect(try fixture.readModel(of: url).entityVersionHashesByName == (try hashes(url)))
        }

        @Test(arguments: FixtureStore.some)
        func otherVersionsOfTheModelAreRefusedAndTheStoreStaysAsItIs(store: FixtureStore) throws {
            let url = try store.copy(to: folder)
            let stored = try hashes(url)
            let before = try SQLiteFile(url).schema()
            for other in FixtureModel.all where other.project == store.project {
                let model = try other.read()
                let current = model.entityVersionHashesByName
                if current == stored { continue }
                let differing = Set(stored.keys).union(current.keys).filter { stored[$0] != current[$0] }
                do {
                    _ = try Stack(model, url)
                    Issue.record("\(other.path) was accepted")
                } catch {
                    let error = error as NSError
                    #expect(error.domain == NSCocoaErrorDomain)
                    #expect(error.code == 134100)
                    let text = error.localizedDescription + (error.localizedFailureReason ?? "")
                    #expect(differing.allSatisfy { text.contains($0) }, "\(differing): \(text)")
                }
            }
            #expect(try SQLiteFile(url).schema() == before)
            #expect(try hashes(url) == stored)
        }
    }
}
