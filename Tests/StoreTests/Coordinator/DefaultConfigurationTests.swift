import Testing

@testable import CoreData

@Suite("The configuration of all entities")
struct DefaultConfigurationTests {
    @Test func theDefaultConfigurationHasAllEntities() {
        let model = SampleStacks.company()
        #expect(
            model.entities(forConfigurationName: "PF_DEFAULT_CONFIGURATION_NAME")?.map(\.name)
                == model.entities.map(\.name))
        #expect(model.entities(forConfigurationName: nil)?.count == model.entities.count)
        #expect(model.entities(forConfigurationName: "nonsense") == nil)
        model.setEntities([model.entities[0]], forConfigurationName: "PF_DEFAULT_CONFIGURATION_NAME")
        #expect(model.entities(forConfigurationName: "PF_DEFAULT_CONFIGURATION_NAME")?.count == 1)
    }

    @Test func aStoreIsAddedForTheNameThatStoresGive() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let second = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: first.configurationName, at: nil)
        #expect(second.configurationName == first.configurationName)
    }
}
