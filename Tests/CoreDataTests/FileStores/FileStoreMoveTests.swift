import CoreData
import TestSupport
import Testing

/// Stores in one file as source and destination of copies and migrations.
struct FileStoreMoveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let types = [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType, NSInMemoryStoreType]

    private func add(
        _ model: NSManagedObjectModel, _ type: String, _ name: String, _ options: [AnyHashable: Any]? = nil
    ) throws -> (context: NSManagedObjectContext, store: NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : folder.file(name),
            options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSManagedObject(
                entity: context.persistentStoreCoordinator!.managedObjectModel.entitiesByName[entity]!,
                insertInto: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let things = ["b", "a", "c"].map { insert("Thing", ["text": $0, "list": ["k": $0] as NSDictionary]) }
        let tags = [insert("Tag", ["label": "x"]), insert("Tag", ["label": "y"])]
        _ = insert(
            "Box",
            [
                "name": "one", "things": NSOrderedSet(array: things), "tags": Set(tags),
                "lid": insert("Gadget", ["text": "g"]),
            ])
        try context.save()
    }

    private func content(_ context: NSManagedObjectContext) throws -> [String] {
        let box = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first)
        let things = (box.value(forKey: "things") as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
        let tags = (box.value(forKey: "tags") as? Set<NSManagedObject>) ?? []
        return things.map {
            "\($0.value(forKey: "text") ?? "") \(($0.value(forKey: "list") as? [String: String]) ?? [:])"
        }
            + tags.compactMap { $0.value(forKey: "label") as? String }.sorted()
            + [box.value(forKeyPath: "lid.text") as? String ?? ""]
    }

    @Test(arguments: types, types) func storesAreCopiedToEveryOtherType(source: String, destination: String) throws {
        let (context, store) = try add(FileStoreModel.make(), source, "source")
        try fill(context)
        let before = try content(context)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let url = destination == NSInMemoryStoreType ? URL(string: "memory://x")! : folder.file("destination")
        let copy = try coordinator.migratePersistentStore(store, to: url, options: nil, withType: destination)
        #expect(copy.type == destination)
        #expect(try content(context) == before)
        if destination == NSInMemoryStoreType { return }
        #expect(try content(add(FileStoreModel.make(), destination, "destination").context) == before)
    }

    @Test(arguments: FileStoreType.allCases) func aStoreIsReplacedAndDestroyed(type: FileStoreType) throws {
        try fill(add(FileStoreModel.make(), type.rawValue, "source").context)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: FileStoreModel.make())
        try coordinator.replacePersistentStore(
            at: folder.file("copy"), withPersistentStoreFrom: folder.file("source"), ofType: type.rawValue)
        #expect(try content(add(FileStoreModel.make(), type.rawValue, "copy").context).count == 6)
        try coordinator.destroyPersistentStore(at: folder.file("copy"), ofType: type.rawValue)
        #expect(!FileManager.default.fileExists(atPath: folder.file("copy").path))
    }

    @Test(arguments: FileStoreType.allCases) func aStoreMovesWithItsURL(type: FileStoreType) throws {
        let (context, store) = try add(FileStoreModel.make(), type.rawValue, "source")
        try fill(context)
        #expect(context.persistentStoreCoordinator?.setURL(folder.file("other"), for: store) == true)
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first?.setValue("two", forKey: "name")
        try context.save()
        #expect(try content(add(FileStoreModel.make(), type.rawValue, "other").context).count == 6)
    }

    // MARK: - Versions of the model

    private func former() -> NSManagedObjectModel {
        NSManagedObjectModel([
            NSEntityDescription("Note", class: "NSManagedObject", [.init("text", .stringAttributeType)])
        ])
    }

    private func new() -> NSManagedObjectModel {
        let title = NSAttributeDescription("title", .stringAttributeType)
        title.renamingIdentifier = "text"
        return NSManagedObjectModel([
            NSEntityDescription("Note", class: "NSManagedObject", [title, .init("rank", .integer16AttributeType)])
        ])
    }

    @Test(arguments: FileStoreType.allCases) func aStoreOfAnotherVersionIsRefused(type: FileStoreType) throws {
        _ = try add(former(), type.rawValue, "source")
        let error = errorThrown { _ = try add(new(), type.rawValue, "source") }
        #expect(error?.code == CocoaError.persistentStoreIncompatibleVersionHash.rawValue)
    }

    @Test(arguments: FileStoreType.allCases) func aStoreIsMigratedByAnInferredMapping(type: FileStoreType) throws {
        let (context, _) = try add(former(), type.rawValue, "source")
        NSManagedObject(
            entity: context.persistentStoreCoordinator!.managedObjectModel.entities[0], insertInto: context
        ).setValue("a", forKey: "text")
        try context.save()
        let bundle = try VersionedModelFolder([former(), new()], in: folder.url)
        let migrated = try add(
            try bundle.current(), type.rawValue, "source",
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        ).context
        let note = try #require(try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(note.value(forKey: "title") as? String == "a")
    }

    @Test(arguments: FileStoreType.allCases) func aLinkStaysWhenAMappingIsInferred(type: FileStoreType) throws {
        let (context, store) = try add(former(), type.rawValue, "source")
        let note = NSManagedObject(
            entity: context.persistentStoreCoordinator!.managedObjectModel.entities[0], insertInto: context)
        note.setValue("a", forKey: "text")
        try context.save()
        let uri = note.objectID.uriRepresentation()
        try context.persistentStoreCoordinator?.remove(store)
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "source")
        let bundle = try VersionedModelFolder([former(), new()], in: folder.url)
        let migrated = try add(
            try bundle.current(), type.rawValue, "link",
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        ).context
        let found = try #require(try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(found.value(forKey: "title") as? String == "a")
        #expect(found.objectID.uriRepresentation().host == uri.host)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "source")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(files == ["Model.momd", "link", "source"])
    }
}

/// A compiled model of several versions, the last of them current.
private struct VersionedModelFolder {
    private let url: URL

    init(_ versions: [NSManagedObjectModel], in folder: URL) throws {
        url = folder.appendingPathComponent("Model.momd")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (number, version) in versions.enumerated() {
            try version.archivedModel().write(to: url.appendingPathComponent("V\(number).mom"))
        }
        let hashes = Dictionary(
            uniqueKeysWithValues: versions.enumerated().map { ("V\($0)", $1.entityVersionHashesByName) })
        let list: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "V\(versions.count - 1)",
            "NSManagedObjectModel_VersionHashes": hashes,
        ]
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .write(to: url.appendingPathComponent("VersionInfo.plist"))
    }

    func current() throws -> NSManagedObjectModel { try NSManagedObjectModel(reading: url) }
}
