import CoreData
import TestSupport
import Testing

/// What a store keeps when a mapping model migrates it while it is added: its UUID, the keys of its
/// objects, its history.
struct KeptIdentityTests {
    let resources: ResourceFolder
    let store: MigratedStore
    private let suffix = UUID().uuidString.filter(\.isLetter)

    init() throws {
        resources = try ResourceFolder()
        store = try MigratedStore()
    }

    // Names of each test alone: the program searches the mapping models of all.
    private var item: String { "Item\(suffix)" }
    private var group: String { "Group\(suffix)" }

    private func version(_ extra: NSAttributeDescription...) -> NSManagedObjectModel {
        // An entity before the others shifts the numbers of all.
        let first = extra.isEmpty ? [] : [entity("A\(suffix)", text("name"))]
        let (item, group) = (entity(item, text("name"), number("count")), entity(group, text("name")))
        item.properties += extra
        relate(group, "items", toMany: true, item, inverse: "group")
        return NSManagedObjectModel(first + [item, group])
    }

    private func addMapping(policy: String?, to new: NSManagedObjectModel) throws {
        _ = try MappingFile(
            [
                MappingFile.Mapping(
                    source: item, destination: item, policy: policy, attributes: ["name", "count"],
                    relationships: ["group"]),
                MappingFile.Mapping(
                    source: group, destination: group, attributes: ["name"], relationships: ["items"]),
            ], from: version(), to: new, in: resources.url)
    }

    private static var recording: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSPersistentHistoryTrackingKey: true]
    }

    /// Items with gaps between their keys, and the URIs of all objects by name.
    private func fill() throws -> [String: URL] {
        try store.open(version(), Self.recording) { context in
            let groups = ["g1", "g2"].map { context.insert(group, ["name": $0]) }
            for number in 1...9 {
                context.insert(item, ["name": "i\(number)", "count": number, "group": groups[number % 2]])
            }
            try context.save()
            for object in try context.objects(item) where (object.value(forKey: "count") as? Int ?? 0) % 3 == 0 {
                context.delete(object)
            }
            try context.save()
            return try uris(context)
        }
    }

    private func uris(_ context: NSManagedObjectContext) throws -> [String: URL] {
        let objects = try context.objects(item) + context.objects(group)
        return Dictionary(
            uniqueKeysWithValues: objects.map {
                ($0.value(forKey: "name") as? String ?? "", $0.objectID.uriRepresentation())
            })
    }

    @Test(arguments: [nil, "OriginPolicy"]) func theObjectsOfAStoreKeepTheirURIs(policy: String?) throws {
        let before = try fill()
        let new = version(text("origin"))
        try addMapping(policy: policy, to: new)
        try store.migrate(to: new, Self.recording)
        try store.open(new, Self.recording) { context in
            #expect(try uris(context) == before)
            let groups = try context.objects(item, by: "name").map { $0.value(forKeyPath: "group.name") as? String }
            #expect(groups == ["g2", "g1", "g1", "g2", "g2", "g1"])
        }
    }

    @Test(arguments: [nil, "OriginPolicy"]) func keysOfDeletedObjectsAreNotGivenAgain(policy: String?) throws {
        _ = try fill()
        let new = version(text("origin"))
        try addMapping(policy: policy, to: new)
        try store.migrate(to: new, Self.recording)
        try store.open(new, Self.recording) { $0.insert(item, ["name": "new"]) }
        #expect(store.file.integer("SELECT Z_PK FROM Z\(item.uppercased()) WHERE ZNAME = 'new'") ?? 0 > 9)
    }

    @Test(arguments: [nil, "OriginPolicy"]) func theHistoryStaysAsItWas(policy: String?) throws {
        _ = try fill()
        let changes =
            "SELECT c.ZENTITYPK, p.Z_NAME, c.ZCHANGETYPE, c.ZTRANSACTIONID FROM ACHANGE c "
            + "JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY ORDER BY c.Z_PK"
        let before = store.file.rows(changes)
        let new = version(text("origin"))
        try addMapping(policy: policy, to: new)
        try store.migrate(to: new, Self.recording)
        #expect(before.count == 16)
        #expect(store.file.rows(changes) == before)
    }

    @Test(arguments: [nil, "OriginPolicy"]) func aReaderOfTheHistoryGoesOnFromItsToken(policy: String?) throws {
        _ = try fill()
        let token = try store.open(version(), Self.recording) { context in
            context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
        }
        let new = version(text("origin"))
        try addMapping(policy: policy, to: new)
        try store.migrate(to: new, Self.recording)
        let entities = try store.open(new, Self.recording) { context in
            context.insert(group, ["name": "g3"])
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return transactions.flatMap { $0.changes ?? [] }.map(\.changedObjectID.entity.name)
        }
        #expect(entities == [group])
    }

    @Test func anErrorInTheCopyNamesTheStore() throws {
        _ = try fill()
        try store.open(version(), Self.recording) { $0.insert(group, ["name": "g1"]) }
        let new = version(text("origin"))
        new.entitiesByName[group]?.uniquenessConstraints = [["name"]]
        try addMapping(policy: "OriginPolicy", to: new)
        let error = try store.refusal(new, Self.recording)
        #expect(error.code == NSMigrationConstraintViolationError)
        #expect(error.localizedDescription.contains("at \(store.url.path) cannot"))
    }

    @Test func objectsThatAPolicyAddsGetNewKeys() throws {
        let before = try fill()
        let new = version(text("origin"))
        try addMapping(policy: "CopyingPolicy", to: new)
        try store.migrate(to: new, Self.recording)
        try store.open(new, Self.recording) { context in
            let found = try uris(context)
            #expect(found.filter { before[$0.key] != nil } == before)
            #expect(found.count == before.count + 6)
        }
        let copies = "SELECT min(Z_PK) FROM Z\(item.uppercased()) WHERE ZNAME LIKE 'copy%'"
        #expect(store.file.integer(copies) ?? 0 > 9)
    }
}

/// Makes a second object of each source.
final class CopyingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let copy = NSEntityDescription.insertNewObject(
            forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
        copy.setValue("copy of \(source.value(forKey: "name") ?? "")", forKey: "name")
        manager.associate(sourceInstance: source, withDestinationInstance: copy, for: mapping)
    }
}
