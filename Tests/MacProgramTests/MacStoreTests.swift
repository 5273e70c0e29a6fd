import CoreData
import Foundation
import TestSupport
import Testing

// Coordinators, stores, metadata, configurations, migration and containers.

private final class StoreFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    func raise() { lock.lock(); count += 1; lock.unlock() }
    var value: Int { lock.lock(); defer { lock.unlock() }; return count }
}

private enum StoreTestKit: MacModelKit {
    static func url(_ ending: String = "sqlite") -> URL {
        MacFolder.url.appendingPathComponent("MacStore-\(UUID().uuidString).\(ending)")
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// The usual model: Person(name, age) and City(name).
    static func model() -> NSManagedObjectModel {
        model([
            entity("Person", [attribute("name"), attribute("age", .integer32AttributeType)]),
            entity("City", [attribute("name")]),
        ])
    }

    static func coordinator(_ model: NSManagedObjectModel, at url: URL, options: [AnyHashable: Any]? = nil) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        return coordinator
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @discardableResult
    static func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    static func strings(_ entity: String, _ context: NSManagedObjectContext) throws -> [String] {
        try strings(entity, "name", context)
    }

    static func strings(_ entity: String, _ key: String, _ context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).compactMap {
            $0.value(forKey: key) as? String
        }.sorted()
    }

    /// A closed SQLite store made with `model` that holds persons with these names.
    static func file(_ model: NSManagedObjectModel, names: [String], entity: String = "Person") throws -> URL {
        let url = StoreTestKit.url()
        let coordinator = try StoreTestKit.coordinator(model, at: url)
        let context = StoreTestKit.context(coordinator)
        for name in names { insert(entity, ["name": name], context) }
        try context.save()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return url
    }

    static func error(_ body: () throws -> Void) -> NSError? {
        do { try body() } catch { return error as NSError }
        return nil
    }

    nonisolated(unsafe) static let migrating: [AnyHashable: Any] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
}

/// Coordinators, stores, migration and containers, as programs for a Mac use them.
@MainActor
struct MacStoreTests {
    // MARK: Adding and removing stores

    @Test func addingStoresOfAllTypes() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        #expect(coordinator.persistentStores.isEmpty)
        let memory = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(memory.type == NSInMemoryStoreType)
        #expect(memory.persistentStoreCoordinator === coordinator)
        let url = StoreTestKit.url()
        let file = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url, options: nil)
        #expect(file.type == NSSQLiteStoreType)
        #expect(file.url == url)
        #expect(!file.isReadOnly)
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(coordinator.persistentStores.count == 2)
        #expect(coordinator.persistentStore(for: url) === file)
        #expect(coordinator.url(for: file) == url)
        try coordinator.remove(memory)
        #expect(coordinator.persistentStores == [file])
    }

    @Test func addingWithADescription() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        let description = NSPersistentStoreDescription(url: StoreTestKit.url())
        let called = StoreFlag()
        coordinator.addPersistentStore(with: description) { _, error in
            if error == nil { called.raise() }
        }
        #expect(called.value == 1)
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test func dataIsThereAfterReopening() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada", "Bob"])
        let context = StoreTestKit.context(try StoreTestKit.coordinator(StoreTestKit.model(), at: url))
        #expect(try StoreTestKit.strings("Person", context) == ["Ada", "Bob"])
    }

    @Test func inMemoryDataGoesWithItsStore() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = StoreTestKit.context(coordinator)
        StoreTestKit.insert("Person", ["name": "Ada"], context)
        try context.save()
        context.reset()
        try coordinator.remove(store)
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(try StoreTestKit.strings("Person", context).isEmpty)
    }

    @Test func storeChangesAreAnnounced() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        let recorder = NotificationLog(.NSPersistentStoreCoordinatorStoresDidChange, from: coordinator)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect((recorder.all.last?.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]) == [store])
        let removal = NotificationLog(.NSPersistentStoreCoordinatorWillRemoveStore, from: store)
        try coordinator.remove(store)
        #expect(recorder.count == 2)
        #expect(removal.count == 1)
        #expect((recorder.all.last?.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]) == [store])
    }

    @Test func coordinatorBlocks() async throws {
        let coordinator = try StoreTestKit.coordinator(StoreTestKit.model(), at: StoreTestKit.url())
        coordinator.name = "main"
        #expect(coordinator.name == "main")
        #expect(coordinator.performAndWait { coordinator.persistentStores.count } == 1)
        let count = await coordinator.perform { coordinator.persistentStores.count }
        #expect(count == 1)
    }

    // MARK: Metadata

    @Test func metadataOfANewStore() throws {
        let model = StoreTestKit.model()
        model.versionIdentifiers = ["v1"]
        let url = StoreTestKit.url()
        let coordinator = try StoreTestKit.coordinator(model, at: url)
        let store = try #require(coordinator.persistentStores.first)
        let metadata = coordinator.metadata(for: store)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName)
        #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["v1"])
        let onDisk = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        #expect(onDisk[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test func setMetadataIsStoredWithTheNextSave() throws {
        let url = StoreTestKit.url()
        let coordinator = try StoreTestKit.coordinator(StoreTestKit.model(), at: url)
        let store = try #require(coordinator.persistentStores.first)
        var metadata = coordinator.metadata(for: store)
        metadata["app"] = "1.2"
        coordinator.setMetadata(metadata, for: store)
        #expect(coordinator.metadata(for: store)["app"] as? String == "1.2")
        #expect(store.metadata["app"] as? String == "1.2")
        let context = StoreTestKit.context(coordinator)
        StoreTestKit.insert("Person", ["name": "Ada"], context)
        try context.save()
        let onDisk = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(onDisk["app"] as? String == "1.2")
        #expect(onDisk[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test func metadataCanBeWrittenWithoutAStack() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        metadata["flag"] = true
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)["flag"] as? Bool == true
        )
        #expect(
            try StoreTestKit.strings(
                "Person", StoreTestKit.context(try StoreTestKit.coordinator(StoreTestKit.model(), at: url))) == ["Ada"]
        )
    }

    @Test func compatibilityOfAModel() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: [])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(StoreTestKit.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let changed = StoreTestKit.model([
            StoreTestKit.entity(
                "Person",
                [
                    StoreTestKit.attribute("name"), StoreTestKit.attribute("age", .integer32AttributeType),
                    StoreTestKit.attribute("mail"),
                ]),
            StoreTestKit.entity("City", [StoreTestKit.attribute("name")]),
        ])
        #expect(!changed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let modified = StoreTestKit.model()
        modified.entitiesByName["City"]?.versionHashModifier = "2"
        #expect(!modified.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let harmless = StoreTestKit.model()
        harmless.entitiesByName["City"]?.userInfo = ["note": "x"]
        harmless.entitiesByName["Person"]?.attributesByName["age"]?.defaultValue = 5
        #expect(harmless.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    // MARK: Identifiers

    @Test func objectURIs() throws {
        let coordinator = try StoreTestKit.coordinator(StoreTestKit.model(), at: StoreTestKit.url())
        let store = try #require(coordinator.persistentStores.first)
        let context = StoreTestKit.context(coordinator)
        let person = StoreTestKit.insert("Person", ["name": "Ada"], context)
        #expect(person.objectID.isTemporaryID)
        #expect(person.objectID.persistentStore == nil)
        let temporary = person.objectID.uriRepresentation()
        #expect(temporary.scheme == "x-coredata")
        try context.save()
        let id = person.objectID
        let uri = id.uriRepresentation()
        #expect(uri != temporary)
        #expect(uri.scheme == "x-coredata")
        #expect(uri.host == store.identifier)
        #expect(uri.pathComponents.dropFirst().first == "Person")
        #expect(uri.lastPathComponent.hasPrefix("p"))
        #expect(id.persistentStore === store)
        #expect(id.entity.name == "Person")
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id)
        let foreign = try #require(URL(string: "x-coredata://\(UUID().uuidString)/Person/p1"))
        #expect(coordinator.managedObjectID(forURIRepresentation: foreign) == nil)
    }

    @Test func objectURIsSurviveReopening() throws {
        let url = StoreTestKit.url()
        let uri: URL
        do {
            let coordinator = try StoreTestKit.coordinator(StoreTestKit.model(), at: url)
            let context = StoreTestKit.context(coordinator)
            let person = StoreTestKit.insert("Person", ["name": "Ada"], context)
            try context.save()
            uri = person.objectID.uriRepresentation()
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        let coordinator = try StoreTestKit.coordinator(StoreTestKit.model(), at: url)
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(try StoreTestKit.context(coordinator).existingObject(with: id).objectID.uriRepresentation() == uri)
    }

    // MARK: Configurations

    @Test func configurationsWithSeveralStores() throws {
        let model = StoreTestKit.model()
        model.setEntities([model.entitiesByName["Person"]!], forConfigurationName: "People")
        model.setEntities([model.entitiesByName["City"]!], forConfigurationName: "Places")
        #expect(Set(model.configurations).isSuperset(of: ["People", "Places"]))
        #expect(model.entities(forConfigurationName: "People")?.map(\.name) == ["Person"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let people = try coordinator.addPersistentStore(type: .sqlite, configuration: "People", at: StoreTestKit.url())
        let places = try coordinator.addPersistentStore(type: .sqlite, configuration: "Places", at: StoreTestKit.url())
        #expect(people.configurationName == "People")
        let context = StoreTestKit.context(coordinator)
        let person = StoreTestKit.insert("Person", ["name": "Ada"], context)
        let city = StoreTestKit.insert("City", ["name": "Rome"], context)
        try context.save()
        #expect(person.objectID.persistentStore === people)
        #expect(city.objectID.persistentStore === places)
        #expect(try StoreTestKit.strings("Person", context) == ["Ada"])
        #expect(try StoreTestKit.strings("City", context) == ["Rome"])
        let metadata = coordinator.metadata(for: people)
        #expect(model.isConfiguration(withName: "People", compatibleWithStoreMetadata: metadata))
    }

    @Test func assigningObjectsToAStore() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        let first = try coordinator.addPersistentStore(type: .sqlite, at: StoreTestKit.url())
        let second = try coordinator.addPersistentStore(type: .sqlite, at: StoreTestKit.url())
        let context = StoreTestKit.context(coordinator)
        let ada = StoreTestKit.insert("Person", ["name": "Ada"], context)
        let bob = StoreTestKit.insert("Person", ["name": "Bob"], context)
        context.assign(ada, to: first)
        context.assign(bob, to: second)
        try context.save()
        #expect(ada.objectID.persistentStore === first)
        #expect(bob.objectID.persistentStore === second)
        #expect(try StoreTestKit.strings("Person", context) == ["Ada", "Bob"])
        try coordinator.remove(first)
        context.reset()
        #expect(try StoreTestKit.strings("Person", context) == ["Bob"])
    }

    @Test func containerWithTwoDescriptions() throws {
        let model = StoreTestKit.model()
        model.setEntities([model.entitiesByName["Person"]!], forConfigurationName: "People")
        model.setEntities([model.entitiesByName["City"]!], forConfigurationName: "Places")
        let container = NSPersistentContainer(name: "Two", managedObjectModel: model)
        let people = NSPersistentStoreDescription(url: StoreTestKit.url())
        people.configuration = "People"
        let places = NSPersistentStoreDescription()
        places.type = NSInMemoryStoreType
        places.configuration = "Places"
        container.persistentStoreDescriptions = [people, places]
        let called = StoreFlag()
        container.loadPersistentStores { _, error in if error == nil { called.raise() } }
        #expect(called.value == 2)
        StoreTestKit.insert("Person", ["name": "Ada"], container.viewContext)
        StoreTestKit.insert("City", ["name": "Rome"], container.viewContext)
        try container.viewContext.save()
        #expect(
            container.persistentStoreCoordinator.persistentStores.map(\.configurationName).sorted() == [
                "People", "Places",
            ])
    }

    // MARK: Read-only stores

    @Test func readOnlyStoresRefuseChanges() throws {
        // Not documented: the error code; inserting into a coordinator with only read-only stores
        // is left out.
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let coordinator = try StoreTestKit.coordinator(
            StoreTestKit.model(), at: url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(coordinator.persistentStores.first?.isReadOnly == true)
        let context = StoreTestKit.context(coordinator)
        let person = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        person.setValue("changed", forKey: "name")
        #expect(StoreTestKit.error { try context.save() } != nil)
        context.rollback()
        #expect(person.value(forKey: "name") as? String == "Ada")
    }

    // MARK: Migration

    private func personModel(_ extra: [NSPropertyDescription], removing: Bool = false) -> NSManagedObjectModel {
        var properties: [NSPropertyDescription] = [StoreTestKit.attribute("name")]
        if !removing { properties.append(StoreTestKit.attribute("age", .integer32AttributeType)) }
        return StoreTestKit.model([
            StoreTestKit.entity("Person", properties + extra),
            StoreTestKit.entity("City", [StoreTestKit.attribute("name")]),
        ])
    }

    @Test func anIncompatibleModelIsRefused() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let error = try #require(
            StoreTestKit.error {
                _ = try StoreTestKit.coordinator(personModel([StoreTestKit.attribute("mail")]), at: url)
            })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error.code == 134100)
    }

    @Test func lightweightMigrationAddsAndRemovesAttributes() throws {
        // Not documented: on a Mac the source model of a model made in code comes from the copy
        // inside the SQLite file.
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada", "Bob"])
        let model = personModel(
            [
                StoreTestKit.attribute("mail"),
                StoreTestKit.attribute("level", .integer16AttributeType, optional: false, default: 3),
            ],
            removing: true)
        let context = StoreTestKit.context(
            try StoreTestKit.coordinator(model, at: url, options: StoreTestKit.migrating))
        #expect(try StoreTestKit.strings("Person", context) == ["Ada", "Bob"])
        let person = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        #expect(person.value(forKey: "mail") == nil)
        #expect(person.value(forKey: "level") as? Int == 3)
        person.setValue("a@x.org", forKey: "mail")
        try context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test func lightweightMigrationRenames() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let model = StoreTestKit.model([
            StoreTestKit.entity(
                "Human",
                [
                    StoreTestKit.attribute("fullName", was: "name"),
                    StoreTestKit.attribute("age", .integer32AttributeType),
                ],
                was: "Person"),
            StoreTestKit.entity("City", [StoreTestKit.attribute("name")]),
        ])
        let context = StoreTestKit.context(
            try StoreTestKit.coordinator(model, at: url, options: StoreTestKit.migrating))
        #expect(try StoreTestKit.strings("Human", "fullName", context) == ["Ada"])
    }

    @Test func renamingIdentifiersDefaultToTheName() {
        let attribute = StoreTestKit.attribute("name")
        #expect(attribute.renamingIdentifier == "name")
        attribute.renamingIdentifier = "title"
        #expect(attribute.renamingIdentifier == "title")
        #expect(StoreTestKit.entity("Person", []).renamingIdentifier == "Person")
    }

    @Test func containersMigrateByThemselves() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let container = NSPersistentContainer(
            name: "Migrate", managedObjectModel: personModel([StoreTestKit.attribute("mail")]))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        #expect(try StoreTestKit.strings("Person", container.viewContext) == ["Ada"])
    }

    @Test func inferredMappingModels() throws {
        let source = StoreTestKit.model([
            StoreTestKit.entity("Same", [StoreTestKit.attribute("name")]),
            StoreTestKit.entity("Changed", [StoreTestKit.attribute("name")]),
            StoreTestKit.entity("Gone", [StoreTestKit.attribute("name")]),
        ])
        let destination = StoreTestKit.model([
            StoreTestKit.entity("Same", [StoreTestKit.attribute("name")]),
            StoreTestKit.entity("Changed", [StoreTestKit.attribute("name"), StoreTestKit.attribute("more")]),
            StoreTestKit.entity("New", [StoreTestKit.attribute("name")]),
        ])
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        let list = try #require(mapping.entityMappings)
        #expect(list.count == 4)
        #expect(mapping.entityMappingsByName.count == 4)
        func type(source: String?, destination: String?) -> NSEntityMappingType? {
            list.first { $0.sourceEntityName == source && $0.destinationEntityName == destination }?.mappingType
        }
        #expect(type(source: "Same", destination: "Same") == .copyEntityMappingType)
        #expect(type(source: "Changed", destination: "Changed") == .transformEntityMappingType)
        #expect(type(source: "Gone", destination: nil) == .removeEntityMappingType)
        #expect(type(source: nil, destination: "New") == .addEntityMappingType)
        let changed = try #require(list.first { $0.destinationEntityName == "Changed" })
        #expect(changed.sourceEntityVersionHash == source.entityVersionHashesByName["Changed"])
        #expect(changed.destinationEntityVersionHash == destination.entityVersionHashesByName["Changed"])
        // Not documented: whether the new "more" has a mapping too
        #expect((changed.attributeMappings ?? []).compactMap(\.name).contains("name"))
    }

    @Test func aChangedTypeCannotBeInferred() {
        let source = StoreTestKit.model([
            StoreTestKit.entity("Person", [StoreTestKit.attribute("age", .stringAttributeType)])
        ])
        let destination = StoreTestKit.model([
            StoreTestKit.entity("Person", [StoreTestKit.attribute("age", .dateAttributeType)])
        ])
        let error = StoreTestKit.error {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSInferredMappingModelError)
    }

    @Test func aMandatoryAttributeWithoutADefaultFails() throws {
        // Not documented: the code (134110 "Validation error missing attribute values on mandatory
        // destination attribute" in Apple's logs).
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let model = personModel([StoreTestKit.attribute("mail", optional: false)])
        #expect(
            StoreTestKit.error { _ = try StoreTestKit.coordinator(model, at: url, options: StoreTestKit.migrating) }
                != nil)
        let context = StoreTestKit.context(try StoreTestKit.coordinator(StoreTestKit.model(), at: url))
        #expect(try StoreTestKit.strings("Person", context) == ["Ada"])
    }

    // MARK: Moving, replacing, destroying

    @Test func migratePersistentStoreMovesTheData() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        let memory = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = StoreTestKit.context(coordinator)
        StoreTestKit.insert("Person", ["name": "Ada"], context)
        try context.save()
        let url = StoreTestKit.url()
        let store = try coordinator.migratePersistentStore(memory, to: url, options: nil, withType: NSSQLiteStoreType)
        #expect(store.type == NSSQLiteStoreType)
        #expect(coordinator.persistentStores == [store])
        #expect(coordinator.url(for: store) == url)
        context.reset()
        #expect(try StoreTestKit.strings("Person", context) == ["Ada"])
        let copy = StoreTestKit.url()
        let second = try coordinator.migratePersistentStore(store, to: copy, type: .sqlite)
        #expect(coordinator.persistentStores == [second])
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(try StoreTestKit.strings("Person", StoreTestKit.context(coordinator)) == ["Ada"])
    }

    @Test func destroyingAStoreEmptiesIt() throws {
        let url = try StoreTestKit.file(StoreTestKit.model(), names: ["Ada"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        _ = try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(try StoreTestKit.strings("Person", StoreTestKit.context(coordinator)).isEmpty)
    }

    @Test func replacingAStoreCopiesTheOther() throws {
        let source = try StoreTestKit.file(StoreTestKit.model(), names: ["new"])
        let target = try StoreTestKit.file(StoreTestKit.model(), names: ["old", "older"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreTestKit.model())
        try coordinator.replacePersistentStore(
            at: target, destinationOptions: nil, withPersistentStoreFrom: source, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        _ = try coordinator.addPersistentStore(type: .sqlite, at: target)
        #expect(try StoreTestKit.strings("Person", StoreTestKit.context(coordinator)) == ["new"])
        let fresh = StoreTestKit.url()
        try coordinator.replacePersistentStore(at: fresh, withPersistentStoreFrom: source, type: .sqlite)
        #expect(FileManager.default.fileExists(atPath: fresh.path))
    }

    // MARK: Containers and descriptions

    @Test func descriptionDefaults() {
        let url = StoreTestKit.url()
        let description = NSPersistentStoreDescription(url: url)
        #expect(description.url == url)
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(!description.isReadOnly)
        #expect(description.configuration == nil)
    }

    @Test func descriptionOptions() throws {
        let description = NSPersistentStoreDescription(url: StoreTestKit.url())
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        #expect(description.options[NSPersistentHistoryTrackingKey] as? Bool == true)
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        #expect(description.sqlitePragmas["journal_mode"] as? String == "DELETE")
        #expect(description.options[NSSQLitePragmasOption] != nil)
        description.isReadOnly = true
        #expect((description.options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true)
        description.isReadOnly = false
        description.timeout = 12
        #expect(description.timeout == 12)
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy.url == description.url)
        #expect(copy.sqlitePragmas["journal_mode"] as? String == "DELETE")
    }

    @Test func journalModes() throws {
        func open(_ pragma: String?) throws -> (NSPersistentContainer, URL) {
            let url = StoreTestKit.url()
            let container = NSPersistentContainer(name: "Journal", managedObjectModel: StoreTestKit.model())
            let description = NSPersistentStoreDescription(url: url)
            if let pragma { description.setValue(pragma as NSString, forPragmaNamed: "journal_mode") }
            container.persistentStoreDescriptions = [description]
            container.loadPersistentStores { _, _ in }
            StoreTestKit.insert("Person", ["name": "Ada"], container.viewContext)
            try container.viewContext.save()
            return (container, url)
        }
        let (wal, walURL) = try open(nil)
        #expect(FileManager.default.fileExists(atPath: walURL.path + "-wal"))
        let (delete, deleteURL) = try open("DELETE")
        #expect(!FileManager.default.fileExists(atPath: deleteURL.path + "-wal"))
        #expect(
            wal.persistentStoreCoordinator.persistentStores.count
                + delete.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test func containerDefaults() {
        let model = StoreTestKit.model()
        let container = NSPersistentContainer(name: "Defaults", managedObjectModel: model)
        #expect(container.name == "Defaults")
        #expect(container.managedObjectModel === model)
        #expect(container.persistentStoreCoordinator.managedObjectModel === model)
        #expect(container.persistentStoreDescriptions.count == 1)
        let url = container.persistentStoreDescriptions.first?.url
        #expect(url?.lastPathComponent == "Defaults.sqlite")
        #expect(
            url?.deletingLastPathComponent().standardizedFileURL.path
                == NSPersistentContainer.defaultDirectoryURL().standardizedFileURL.path)
        #expect(container.viewContext === container.viewContext)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test func loadingErrorsReachTheHandler() throws {
        // Not documented: the code for a file that is no database (259 with SQLite error 26 in
        // Apple's logs).
        let url = StoreTestKit.url()
        try Data("this is no database, but long enough to be read as one: \(String(repeating: "x", count: 2000))".utf8)
            .write(to: url)
        let container = NSPersistentContainer(name: "Broken", managedObjectModel: StoreTestKit.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failures: [NSError] = []
        container.loadPersistentStores { description, error in
            #expect(description.url == url)
            if let error { failures.append(error as NSError) }
        }
        #expect(failures.count == 1)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test func asynchronousLoading() async throws {
        let container = NSPersistentContainer(name: "Later", managedObjectModel: StoreTestKit.model())
        let description = NSPersistentStoreDescription(url: StoreTestKit.url())
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        let done = StoreFlag()
        container.loadPersistentStores { @Sendable _, error in if error == nil { done.raise() } }
        let comes = await comesTrue { done.value == 1 }
        #expect(comes)
        #expect(done.value == 1)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func devNullIsAnEmptyStoreEachTime() throws {
        for _ in 0..<2 {
            let container = NSPersistentContainer(name: "Null", managedObjectModel: StoreTestKit.model())
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            #expect(failure == nil)
            #expect(try StoreTestKit.strings("Person", container.viewContext).isEmpty)
            StoreTestKit.insert("Person", ["name": "Ada"], container.viewContext)
            try container.viewContext.save()
            #expect(try StoreTestKit.strings("Person", container.viewContext) == ["Ada"])
        }
    }

    // MARK: Remote changes and history

    @Test func remoteChangesAreAnnounced() async throws {
        let url = StoreTestKit.url()
        let container = NSPersistentContainer(name: "Remote", managedObjectModel: StoreTestKit.model())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, _ in }
        let recorder = NotificationLog([.NSPersistentStoreRemoteChange], from: container.persistentStoreCoordinator)
        let background = container.newBackgroundContext()
        try await background.perform { @Sendable in
            StoreTestKit.insert("Person", ["name": "Ada"], background)
            try background.save()
        }
        let comes = await comesTrue { !recorder.all.isEmpty }
        #expect(comes)
        let info = try #require(recorder.all.first?.userInfo)
        #expect((info[NSPersistentStoreURLKey] as? URL)?.lastPathComponent == url.lastPathComponent)
        #expect(
            info[NSStoreUUIDKey] as? String == container.persistentStoreCoordinator.persistentStores.first?.identifier)
    }

}
