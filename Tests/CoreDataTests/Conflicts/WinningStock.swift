import CoreData
import TestSupport

/// Items with unique names, which new objects of the same names meet.
///
/// The row `Bolt` of size 7 belongs to the owner `Old`, has the tag `first`, a badge and the note
/// `one`.
final class WinningStock {
    let coordinator: NSPersistentStoreCoordinator
    /// A context that has no object of any row.
    let context: NSManagedObjectContext
    /// The ID of the row.
    let bolt: NSManagedObjectID
    private let folder: TemporaryFolder
    private let first: NSManagedObjectContext

    init(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("size", .integer32AttributeType),
                NSAttributeDescription("colour", .stringAttributeType, default: "grey"),
            ])
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject", [NSAttributeDescription("grade", .integer32AttributeType)])
        item.subentities = [part]
        item.uniquenessConstraints = [["name"]]
        func named(_ name: String) -> NSEntityDescription {
            NSEntityDescription(name, class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        }
        let (owner, tag, badge, note) = (named("Owner"), named("Tag"), named("Badge"), named("Note"))
        relate(owner, "items", toMany: true, item, inverse: "owner")
        relate(tag, "items", toMany: true, item, inverse: "tags", inverseToMany: true)
        relate(item, "badge", badge, inverse: "item")
        relate(item, "notes", toMany: true, ordered: true, note, inverse: "item")
        let order = named("Order")
        order.properties += [
            NSRelationshipDescription("first", to: item), NSRelationshipDescription("others", to: item, toMany: true),
        ]
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel([item, part, owner, tag, badge, note, order]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
        first = coordinator.newContext()
        context = coordinator.newContext()
        context.mergePolicy = policy
        let old = first.new("Item", ["name": "Bolt", "size": 7])
        old.setValue(first.new("Owner", ["name": "Old"]), forKey: "owner")
        old.setValue(NSSet(array: [first.new("Tag", ["name": "first"])]), forKey: "tags")
        old.setValue(first.new("Badge", ["name": "B"]), forKey: "badge")
        old.setValue(NSOrderedSet(array: [first.new("Note", ["name": "one"])]), forKey: "notes")
        try first.save()
        bolt = old.objectID
        first.reset()
    }

    /// The items as a new context reads them: name, size, colour, owner, tags, badge and notes.
    func items() throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let context = coordinator.newContext()
        return try context.fetch(request).map { item in
            let values = ["name", "size", "colour", "owner.name", "badge.name"].map {
                item.value(forKeyPath: $0).map { "\($0)" } ?? "nil"
            }
            let tags = item.mutableSetValue(forKey: "tags").compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            let notes = item.mutableOrderedSetValue(forKey: "notes").compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            return (values + [tags.sorted().joined(separator: "+"), notes.joined(separator: "+")]).joined(
                separator: " ")
        }
    }

    /// The inverse relationships, by the names of the items.
    func otherSides() throws -> [String] {
        let context = coordinator.newContext()
        return try ["Owner", "Tag", "Badge", "Note"].map { entity in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { object in
                let items: [Any] =
                    entity == "Owner" || entity == "Tag"
                    ? object.mutableSetValue(forKey: "items").allObjects
                    : [object.value(forKey: "item")].compactMap { $0 }
                let names = items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
                return "\(object.value(forKey: "name") ?? "nil"): \(names.joined(separator: "+"))"
            }.joined(separator: ", ")
        }
    }
}

extension NSManagedObjectContext {
    /// A new object with some values.
    @discardableResult
    func new(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}
