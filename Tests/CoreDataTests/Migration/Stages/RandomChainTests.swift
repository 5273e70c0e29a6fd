import CoreData
import TestSupport
import Testing

/// Random chains of versions: a migration of several steps ends like its steps by hand.
struct RandomChainTests {
    /// A chain of versions in a bundle, and a store of the first.
    private struct Chain {
        let bundle: ModelBundle
        let names: [String]
        let store: MigratedStore
        private let copies: TemporaryFolder

        /// - Parameter blocksDirectWay: Whether an attribute changes its type on the way.
        init(seed: Int, blocksDirectWay: Bool) throws {
            var random = RandomVersions(seed: UInt64(seed))
            var versions = [random.first()]
            for _ in 0..<3 { versions.append(random.changed(versions[versions.count - 1])) }
            names = versions.indices.map { "V\($0 + 1)" }
            let models = versions.map { $0.model() }
            if blocksDirectWay {
                models[0].entities += [entity("Zone", text("code"), text("name"))]
                for model in models[1...2] { model.entities += [entity("Zone", text("name"))] }
                models[3].entities += [entity("Zone", number("code"), text("name"))]
            }
            bundle = try ModelBundle(Array(zip(names, models)))
            store = try MigratedStore()
            copies = try TemporaryFolder()
            try store.open(bundle.model("V1")) { context in
                random.fill(context, versions[0])
                if blocksDirectWay { context.insert("Zone", ["code": "1", "name": "one"]) }
            }
        }

        /// Another store with the same content, and the same UUID.
        func copy() throws -> MigratedStore {
            let copy = try MigratedStore()
            try NSPersistentStoreCoordinator().replacePersistentStore(
                at: copy.url, withPersistentStoreFrom: store.url, type: .sqlite)
            return copy
        }

        /// Everything but what is written at each opening.
        static func content(_ store: MigratedStore) -> [String: [[String?]]] {
            store.content.filter { !["Z_METADATA", "Z_MODELCACHE"].contains($0.key) }
        }

        func expectSameFailure(_ errors: NSError?..., seed: Int) {
            let codes = Set(errors.map { $0?.code })
            #expect(codes.count == 1, "seed \(seed): \(errors)")
        }
    }

    private static let seeds = LongTests.some(8, of: Array(1...80))

    @Test(arguments: seeds) func stagesEndLikeTheirStepsByHand(seed: Int) throws {
        let chain = try Chain(seed: seed, blocksDirectWay: false)
        let byHand = try chain.copy()
        let failure = errorThrown {
            for name in chain.names.dropFirst() { try byHand.open(chain.bundle.model(name)) { _ in } }
        }
        let stages = try zip(chain.names, chain.names.dropFirst()).map { former, next in
            try NSCustomMigrationStage(
                migratingFrom: chain.bundle.model(former).reference, to: chain.bundle.model(next).reference)
        }
        let options = NSStagedMigrationManager(stages).options
        let before = Chain.content(chain.store)
        let stagedFailure = errorThrown {
            try chain.store.open(chain.bundle.model("V4"), options) { _ in }
        }
        chain.expectSameFailure(failure, stagedFailure, seed: seed)
        #expect(Chain.content(chain.store) == (failure == nil ? Chain.content(byHand) : before), "seed \(seed)")
    }

    @Test(arguments: seeds) func aChainThatIsFoundEndsLikeItsStepsByHand(seed: Int) throws {
        let chain = try Chain(seed: seed, blocksDirectWay: true)
        let model = try chain.bundle.model("V4")
        let description = NSPersistentStoreDescription(url: chain.store.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        guard let plan = try? coordinator.migrationPlan(for: description) else {
            // A random change has no mapping.
            #expect(try chain.store.refusal(model).code == NSInferredMappingModelError)
            return
        }
        #expect(plan.steps.count > 1)
        let byHand = try chain.copy()
        let failure = errorThrown {
            for step in plan.steps { try byHand.open(chain.bundle.model(step.destination.name)) { _ in } }
        }
        let chainFailure = errorThrown { try chain.store.open(model) { _ in } }
        chain.expectSameFailure(failure, chainFailure, seed: seed)
        if failure == nil { #expect(Chain.content(chain.store) == Chain.content(byHand), "seed \(seed)") }
    }
}
