import TestSupport
import Testing

@testable import CoreData

@Suite("Options and notifications of stores")
struct StoreOptionTests {
    private func model(_ attributes: [String]) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Note"
        entity.properties = attributes.map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = name == "text"
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test func ignoringVersionsUpdatesThemWithTheNextSave() throws {  // 276
        let directory = try TemporaryFolder()
        let url = directory.file("notes.sqlite")
        let old = NSPersistentStoreCoordinator(managedObjectModel: model(["text", "author"]))
        try old.remove(try old.addPersistentStore(type: .sqlite, at: url))
        let newModel = model(["text"])
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: newModel).addPersistentStore(type: .sqlite, at: url)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newModel)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
        func hashes() throws -> [String: Data]? {
            StoreMetadataHashes.hashes(
                in: try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url, options: nil))
        }
        #expect(try hashes() != newModel.entityVersionHashesByName)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("x", forKey: "text")
            try context.save()
        }
        #expect(try hashes() == newModel.entityVersionHashesByName)
        try coordinator.remove(store)
        let again = NSPersistentStoreCoordinator(managedObjectModel: newModel)
        try again.addPersistentStore(type: .sqlite, at: url)
        #expect(again.persistentStores.count == 1)
    }

    @Test func changesOfTheStoresAreAnnounced() throws {  // 170
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["text"]))
        let log = AnnouncementLog(coordinator)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "PF_DEFAULT_CONFIGURATION_NAME", at: nil)
        try coordinator.remove(store)
        #expect(
            log.lines == [
                "did added 1, 1 stores", "did removed 1, 0 stores",
            ])
    }

    /// Notifications of a coordinator as lines, in order, with the number of its stores at the
    /// time.
    private final class AnnouncementLog: @unchecked Sendable {
        // Sendable: used by one thread.
        private(set) var lines: [String] = []
        private var tokens: [any NSObjectProtocol] = []

        init(_ coordinator: NSPersistentStoreCoordinator) {
            let names: [(Notification.Name, String)] = [
                (.NSPersistentStoreCoordinatorStoresWillChange, "will"),
                (.NSPersistentStoreCoordinatorStoresDidChange, "did"),
            ]
            for (name, word) in names {
                tokens.append(
                    NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) {
                        [weak self] in
                        for (key, value) in $0.userInfo ?? [:] {
                            let count = (value as? [NSPersistentStore])?.count ?? 0
                            let stores = ($0.object as? NSPersistentStoreCoordinator)?.persistentStores.count ?? -1
                            self?.lines.append("\(word) \(key) \(count), \(stores) stores")
                        }
                    })
            }
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    }

    @Test func stagesThatAreNoManagerAreRefused() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["text"]))
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                options: [NSPersistentStoreStagedMigrationManagerOptionKey: NSObject()])
        }
        #expect((error as NSError?)?.localizedDescription.contains("whose value is a NSObject") == true)
        #expect(coordinator.persistentStores.isEmpty)
    }

    /// In a process of its own: each option is named once in a process.
    @Test func everyOptionWithoutEffectIsNamedWithItsReason() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let folder = try TemporaryFolder()
            let options: [String: Any] = [
                NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
                NSValidateXMLStoreOption: true, NSBinaryStoreSecureDecodingClasses: Set([1]),
                NSBinaryStoreInsecureDecodingCompatibilityOption: true,
            ]
            try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("notes.sqlite"), options: options)
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        let reasons = [
            NSPersistentStoreFileProtectionKey: "not encrypted",
            NSValidateXMLStoreOption: "always checked", NSBinaryStoreSecureDecodingClasses: "without decoding",
            NSBinaryStoreInsecureDecodingCompatibilityOption: "without decoding",
        ]
        for (option, reason) in reasons {
            #expect(lines.filter { $0.contains(option) && $0.contains(reason) }.count == 1, "\(option): \(lines)")
        }
    }

    @Test func anOptionThatAsksForNothingIsNotNamed() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for value in [FileProtectionType.none, "NSFileProtectionNone"] as [Any] {
                try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).addPersistentStore(
                    ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                    options: [NSPersistentStoreFileProtectionKey: value, NSValidateXMLStoreOption: false])
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        for option in [NSPersistentStoreFileProtectionKey, NSValidateXMLStoreOption] {
            #expect(!text.contains(option), "\(text)")
        }
    }

    @Test func anOptionWithoutEffectIsNamedOnce() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let model = NSManagedObjectModel()
            for _ in 0..<2 {
                try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
                    ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                    options: [NSValidateXMLStoreOption: true])
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.components(separatedBy: NSValidateXMLStoreOption).count == 2)
    }
}
