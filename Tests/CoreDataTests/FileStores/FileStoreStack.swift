import CoreData
import TestSupport

/// The types of stores that are one file, read and written as a whole.
enum FileStoreType: String, CaseIterable, Sendable {
    case xml = "XML"
    case binary = "Binary"
}

/// A store in one file, and a context on it.
final class FileStoreStack {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext

    convenience init(_ type: FileStoreType, at url: URL, options: [AnyHashable: Any]? = nil) throws {
        try self.init(FileStoreModel.make(), type, at: url, options: options)
    }

    init(
        _ model: NSManagedObjectModel, _ type: FileStoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: type.rawValue, configurationName: nil, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let description = coordinator.managedObjectModel.entitiesByName[entity]!
        let object = NSManagedObject(entity: description, insertInto: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// The values of a key of all objects of an entity.
    func values(_ entity: String, _ key: String) throws -> [Any?] {
        try all(entity).map { $0.value(forKey: key) }
    }

    func all(_ entity: String, by key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try context.fetch(request)
    }
}

/// Boxes hold things in order, some of which are gadgets, and bear tags.
enum FileStoreModel {
    static func make() -> NSManagedObjectModel {
        let transformable = NSAttributeDescription("list", .transformableAttributeType)
        let bytes = NSAttributeDescription("bytes", .binaryDataAttributeType)
        bytes.allowsExternalBinaryDataStorage = true
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject",
            [
                .init("text", .stringAttributeType), .init("small", .integer16AttributeType),
                .init("medium", .integer32AttributeType), .init("large", .integer64AttributeType),
                .init("amount", .decimalAttributeType), .init("ratio", .doubleAttributeType),
                .init("part", .floatAttributeType), .init("flag", .booleanAttributeType),
                .init("moment", .dateAttributeType), bytes, .init("code", .UUIDAttributeType),
                .init("link", .URIAttributeType), transformable,
            ])
        let gadget = NSEntityDescription(
            "Gadget", class: "NSManagedObject", [.init("power", .integer16AttributeType)])
        thing.subentities = [gadget]
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [.init("city", .stringAttributeType), .init("floor", .integer16AttributeType)]
        let note = NSAttributeDescription("note", .stringAttributeType)
        note.isTransient = true
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType), place, note,
                NSDerivedAttributeDescription("size", .integer32AttributeType, from: "things.@count"),
            ])
        let tag = NSEntityDescription("Tag", class: "NSManagedObject", [.init("label", .stringAttributeType)])
        relate(box, "things", toMany: true, ordered: true, thing, inverse: "box")
        relate(box, "tags", toMany: true, tag, inverse: "boxes", inverseToMany: true)
        relate(box, "lid", gadget, inverse: "covered")
        tag.properties += [NSRelationshipDescription("pinned", to: thing, toMany: true)]
        return NSManagedObjectModel([thing, gadget, box, tag])
    }
}
