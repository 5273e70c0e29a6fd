import Foundation
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Coordinators")
struct CoordinatorTests {
    private func error(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch {
            return error as NSError
        }
    }

    @Test func aStoreInMemoryNeedsNoURLAndHasTypeAndUUID() throws {  // 301, 309
        let coordinator = try SampleStacks.inMemory()
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.type == NSInMemoryStoreType)
        let metadata = coordinator.metadata(for: store)
        #expect(metadata[NSStoreTypeKey] as? String == "InMemory")
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(hashes == coordinator.managedObjectModel.entityVersionHashesByName)
    }

    @Test func anUnknownTypeIsRefusedWithTheKnownOnes() throws {  // 339
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let error = try #require(
            self.error {
                try coordinator.addPersistentStore(
                    ofType: "Cloud", configurationName: nil, at: URL(fileURLWithPath: "/tmp/x.cloud"))
            })
        #expect(error.code == NSPersistentStoreInvalidTypeError)
        #expect(error.localizedDescription.contains("/tmp/x.cloud"))
        // Other tests may have registered types of their own, whose names stand between these.
        #expect(error.localizedDescription.contains("InMemory, "))
        #expect(error.localizedDescription.contains(", SQLite"))
    }

    @Test func aStoreIsAddedOnce() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let url = try #require(URL(string: "memory://one"))
        try coordinator.addPersistentStore(type: .inMemory, at: url)
        let error = try #require(self.error { try coordinator.addPersistentStore(type: .inMemory, at: url) })
        #expect(error.code == 134081)
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test func anUnknownConfigurationIsRefused() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let error = try #require(
            self.error {
                try coordinator.addPersistentStore(
                    ofType: NSInMemoryStoreType, configurationName: "Nobody", at: nil)
            })
        #expect(error.code == NSPersistentStoreOpenError)
        #expect(error.localizedDescription.contains("'People', 'Work'"))
    }

    @Test func addingAndRemovingPostNotifications() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let log = Log()
        let names: [Notification.Name] = [
            .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorWillRemoveStore,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [coordinator] notification in
                let store = notification.object as? NSPersistentStore
                guard
                    notification.object as AnyObject? === coordinator
                        || store?.persistentStoreCoordinator === coordinator
                else { return }
                let added = notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]
                let removed = notification.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]
                log.append(
                    "\(store == nil ? "coordinator" : "store") \(name.rawValue) \(added?.count ?? 0) "
                        + "\(removed?.count ?? 0)"
                )
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try coordinator.remove(store)
        #expect(
            log.lines == [
                "coordinator NSPersistentStoreCoordinatorStoresDidChangeNotification 1 0",
                "store NSPersistentStoreCoordinatorWillRemoveStoreNotification 0 0",
                "coordinator NSPersistentStoreCoordinatorStoresDidChangeNotification 0 1",
            ])
        #expect(store.persistentStoreCoordinator == nil)
        #expect(self.error { try coordinator.remove(store) }?.code == NSPersistentStoreOperationError)
    }

    @Test func storesOfConfigurationsHoldTheirEntities() throws {  // 129, 308
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let people = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "People", at: nil)
        let layouts = coordinator.modelLayout.layoutByName
        let tag = try #require(layouts["Tag"])
        let employee = try #require(layouts["Employee"])
        #expect(try coordinator.store(for: employee, assigned: nil) === people)
        let missing = try #require(self.error { _ = try coordinator.store(for: tag, assigned: nil) })
        #expect(missing.localizedDescription.contains("'Tag'"))
        let work = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "Work", at: nil)
        #expect(try coordinator.store(for: tag, assigned: nil) === work)
        #expect(
            coordinator.snapshotStores(holding: tag, affected: nil).map(ObjectIdentifier.init) == [
                ObjectIdentifier(work)
            ])
        #expect(coordinator.snapshotStores(holding: tag, affected: [people]).isEmpty)
        #expect(self.error { _ = try coordinator.store(for: tag, assigned: people) } != nil)
        #expect(coordinator.store(number: work.number) === work)
        #expect(people.number != work.number)
    }

    @Test func readOnlyStoresTakeNoNewObjects() throws {  // 129, 300
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let readOnly = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [NSReadOnlyPersistentStoreOption: true])
        let tag = try #require(coordinator.modelLayout.layoutByName["Tag"])
        let error = try #require(self.error { _ = try coordinator.store(for: tag, assigned: nil) })
        #expect(error.localizedDescription.contains("read-only"))
        let writable = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(try coordinator.store(for: tag, assigned: nil) === writable)
        #expect(readOnly.isReadOnly)
    }

    @Test func objectIDsComeBackFromTheirURIs() throws {  // 124, 125
        let coordinator = try SampleStacks.inMemory()
        let store = try #require(coordinator.persistentStores.first)
        let layout = try #require(coordinator.modelLayout.layoutByName["Manager"])
        let objectID = NSManagedObjectID(key: 12, layout: layout, store: store)
        let uri = objectID.uriRepresentation()
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == objectID)
        #expect(coordinator.managedObjectID(for: uri.absoluteString)?.entity.name == "Manager")
        for text in [
            "x-coredata://\(UUID().uuidString)/Manager/p12", "x-coredata://\(store.identifier ?? "")/Nobody/p12",
            "x-coredata://\(store.identifier ?? "")/Manager/q12", "https://\(store.identifier ?? "")/Manager/p12",
            "x-coredata:///Manager/tABC", "x-coredata://\(store.identifier ?? "")/Manager",
        ] {
            #expect(coordinator.managedObjectID(for: text) == nil, "\(text)")
        }
    }

    @Test func metadataKeepsItsOwnKeys() throws {  // 302
        let coordinator = try SampleStacks.inMemory()
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(["author": "me"], for: store)
        let metadata = coordinator.metadata(for: store)
        #expect(metadata["author"] as? String == "me")
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(metadata[NSStoreModelVersionHashesKey] != nil)
    }

    @Test func blocksRunOnASerialQueueAndMayBeNested() async throws {  // 317
        let coordinator = try SampleStacks.inMemory()
        let nested = coordinator.performAndWait { coordinator.performAndWait { 7 } }
        #expect(nested == 7)
        let later = await coordinator.perform { coordinator.persistentStores.count }
        #expect(later == 1)
        await #expect(throws: CocoaError.self) {
            try await coordinator.perform { throw CocoaError(.coreData) }
        }
    }

    @Test func storeClassesCanBeRegisteredAndTakenOut() throws {  // 311
        let type = NSPersistentStore.StoreType(rawValue: "Registered\(UUID().uuidString)")
        NSPersistentStoreCoordinator.registerStoreClass(InMemoryStore.self, type: type)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[type.rawValue] == InMemoryStore.self)
        NSPersistentStoreCoordinator.registerStoreClass(nil, type: type)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[type.rawValue] == nil)
    }

    @Test func aModelInUseCannotBeChanged() throws {
        let model = SampleStacks.company()
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(model.tables != nil)
    }

    @Test func anInconsistentModelIsReportedInFull() throws {
        let model = NSManagedObjectModel()
        let relationship = NSRelationshipDescription()
        relationship.name = "nowhere"
        model.entities = [SampleStacks.entity("Lost", [relationship])]
        let error = try #require(self.error { _ = try NSPersistentStoreCoordinator(validating: model) })
        #expect(error.code == NSCoreDataError)
        #expect((error.userInfo[NSDetailedErrorsKey] as? [NSError])?.isEmpty == false)
        #expect(error.localizedDescription.contains("nowhere"))
    }
}

/// Collects lines from notifications.
final class Log: @unchecked Sendable {
    // Sendable: the lines are guarded by the lock.
    private let lock = NSLock()
    private var stored: [String] = []

    func append(_ line: String) { lock.withLock { stored.append(line) } }

    var lines: [String] { lock.withLock { stored } }
}
