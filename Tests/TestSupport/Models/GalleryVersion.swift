import CoreData

/// Versions of a gallery's model between which its store is migrated forth and back.
public enum GalleryVersion: Int, CaseIterable, Sendable {
    /// The gallery with a sketch of each person, which may be a file of its own.
    case first = 1
    /// Without sketches, with a mark and friends for each person, and covers that are no files.
    case second

    public var other: GalleryVersion { self == .first ? .second : .first }

    public var model: NSManagedObjectModel {
        let model = Gallery.model()
        guard let person = model.entitiesByName["Person"] else { return model }
        switch self {
        case .first:
            let sketch = NSAttributeDescription("sketch", .binaryDataAttributeType)
            sketch.allowsExternalBinaryDataStorage = true
            person.properties.append(sketch)
        case .second:
            person.properties.append(
                NSAttributeDescription("mark", .integer64AttributeType, optional: false, default: 7))
            model.entitiesByName["Album"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = false
            relate(person, "friends", toMany: true, person, inverse: "friendOf", inverseToMany: true)
        }
        return model
    }

    /// The version that a store has.
    public init?(of url: URL) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        let found = Self.allCases.first {
            $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        guard let found else { return nil }
        self = found
    }

    /// Opens a gallery's store with this version, migrating it where it has the other one.
    ///
    /// - Parameter progress: told of the migration, from its beginning on.
    public func open(_ url: URL, _ progress: (@Sendable (Double) -> Void)? = nil) throws -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.migrationProgressHandler = progress
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        return coordinator
    }

    /// A line for each object with what both versions say of it, and with its sketch, which only
    /// the first one has.
    public func lines(_ context: NSManagedObjectContext) throws -> (common: [String], sketches: [String]) {
        func name(_ object: Any?, _ key: String) -> String {
            (object as? NSManagedObject)?.value(forKey: key) as? String ?? "none"
        }
        var (common, sketches): ([String], [String]) = ([], [])
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            let notes = person.mutableOrderedSetValue(forKey: "notes").map { name($0, "text") }.joined(separator: ", ")
            let number = person.value(forKey: "number") as? Int64 ?? 0
            common.append(
                "\(name(person, "name")) \(number) in \(name(person.value(forKey: "album"), "title")): \(notes)")
            if self == .first {
                sketches.append("\(name(person, "name")) \((person.value(forKey: "sketch") as? Data)?.count ?? 0)")
            }
        }
        for (entity, key) in [("Album", "title"), ("Note", "text")] {
            common += try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map {
                "\(entity) \(name($0, key))"
            }
        }
        return (common.sorted(), sketches.sorted())
    }
}
