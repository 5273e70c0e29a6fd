import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// A store with everything that relationships and attributes can be: composites, subentities,
/// ordered and many-to-many relationships, delete rules, constraints, limits, derived attributes.
struct Warehouse {
    let workplace: Workplace
    let url: URL

    var path: String { url.path }
    var file: SQLiteFile { SQLiteFile(url) }

    /// A shelf "A" (width 3) with the boxes "one", "two" and the crate "three", in this order; a
    /// shelf "B" (width 3) without. The boxes "one" and "two" have the label "red", which denies
    /// its deletion.
    init() throws {
        workplace = try Workplace()
        url = workplace.folder.appendingPathComponent("Warehouse.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let shelf = insert("Shelf", ["code": "A", "size": ["width": 3, "height": 2.5] as [String: Any]])
            _ = insert("Shelf", ["code": "B", "size": ["width": 3] as [String: Any]])
            try context.save()
            let red = insert("Label", ["text": "red"])
            for (name, entity) in [("one", "Box"), ("two", "Box"), ("three", "Crate")] {
                let box = insert(entity, ["name": name, "weight": name.count, "tags": [name] as NSArray])
                shelf.mutableOrderedSetValue(forKey: "boxes").add(box)
                if entity == "Box" { box.mutableSetValue(forKey: "labels").add(red) }
                // Keys in the order of insertion.
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    /// Runs statements on the file; all must succeed. Its triggers, which need functions of Core
    /// Data, are dropped first.
    func change(_ statements: String...) {
        let file = file
        let triggers = file.column("SELECT name FROM sqlite_master WHERE type = 'trigger'").compactMap { $0 }
        for statement in triggers.map({ "DROP TRIGGER \"\($0)\"" }) + statements {
            #expect(file.execute(statement), "\(statement)")
        }
    }

    static func model() -> NSManagedObjectModel {
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.isOptional = true
        size.elements = [
            NSAttributeDescription("width", .integer64AttributeType),
            NSAttributeDescription("height", .doubleAttributeType),
        ]
        let code = NSAttributeDescription("code", .stringAttributeType, optional: false)
        let shelf = NSEntityDescription("Shelf", [code, size])
        shelf.uniquenessConstraints = [["code"]]
        let name = NSAttributeDescription("name", .stringAttributeType)
        name.setValidationPredicates([NSPredicate(format: "length <= 8")], withValidationWarnings: ["too long"])
        let tags = NSAttributeDescription("tags", .transformableAttributeType)
        let memo = NSAttributeDescription("memo", .stringAttributeType)
        memo.isTransient = true
        let box = NSEntityDescription(
            "Box",
            [
                name, NSAttributeDescription("weight", .integer16AttributeType), tags, memo,
                NSAttributeDescription("packed", .dateAttributeType),
                NSAttributeDescription("photo", .binaryDataAttributeType),
                NSAttributeDescription("serial", .UUIDAttributeType),
                NSAttributeDescription("isOpen", .booleanAttributeType),
                NSDerivedAttributeDescription("sortName", .stringAttributeType, from: "canonical:(name)"),
            ])
        let crate = NSEntityDescription("Crate", [NSAttributeDescription("depth", .doubleAttributeType)])
        box.subentities = [crate]
        let label = NSEntityDescription("Label", [NSAttributeDescription("text", .stringAttributeType)])
        relate(
            shelf, "boxes", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, box, inverse: "shelf",
            inverseToMany: false)
        relate(
            label, "boxes", toMany: true, deleteRule: .denyDeleteRule, box, inverse: "labels", inverseToMany: true)
        return NSManagedObjectModel([shelf, box, crate, label])
    }
}
