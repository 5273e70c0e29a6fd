import CoreData
import TestSupport

/// A store of a model, and contexts on it, for changes of many rows.
final class BatchStack {
    let folder: TemporaryFolder
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    let url: URL
    private var contexts: [NSManagedObjectContext] = []

    init(_ kind: StoreKind, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws {
        folder = try TemporaryFolder()
        url = folder.file("batch.sqlite")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(url),
            options: options)
        context = coordinator.newContext()
    }

    /// The file as the sqlite3 library sees it.
    var file: SQLiteFile { SQLiteFile(url) }

    /// Another context, which lives as long as the stack.
    func newContext() -> NSManagedObjectContext {
        let context = coordinator.newContext()
        contexts.append(context)
        return context
    }

    /// The values of a property of all objects of an entity, in order of another one, as a new
    /// context reads them.
    func values(_ name: String, of entity: String, by order: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: order, ascending: true)]
        return try newContext().fetch(request).map { object in
            let value = object.value(forKeyPath: name)
            return value.map { "\($0)" } ?? "nil"
        }
    }

    /// The IDs of all objects of an entity in order of a property.
    func objectIDs(of entity: String, by order: String) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: order, ascending: true)]
        return try newContext().fetch(request).map(\.objectID)
    }
}

/// A warehouse: items, some of them fragile, in categories, with labels and with one certificate
/// each.
enum Warehouse {
    struct Rules {
        var itemsOfCategory = NSDeleteRule.nullifyDeleteRule
        var categoryOfItem = NSDeleteRule.nullifyDeleteRule
        var labelsOfItem = NSDeleteRule.nullifyDeleteRule
        var certificateOfItem = NSDeleteRule.nullifyDeleteRule
        /// Whether the relationships of a category and of a label to their items are not optional.
        var requiresItems = false
        var requiresCategory = false
        /// PostgreSQL takes no row without what is required.
        var requiresName = true
    }

    /// Without the name in capital letters where a kind of stores does not derive it.
    static func model(_ rules: Rules = Rules(), isUnique: Bool = true) -> NSManagedObjectModel {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let upper = NSDerivedAttributeDescription("upperName", .stringAttributeType, from: "uppercase:(name)")
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                NSAttributeDescription("sku", .stringAttributeType),
                NSAttributeDescription("name", .stringAttributeType, optional: !rules.requiresName),
                NSAttributeDescription("stock", .integer32AttributeType, default: 5),
                NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("added", .dateAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType), photo,
            ] + (StoreKind.foldTexts ? [upper] : []))
        if isUnique { item.uniquenessConstraints = [["sku"]] }
        let fragile = NSEntityDescription(
            "Fragile", class: "NSManagedObject", [NSAttributeDescription("care", .stringAttributeType)])
        item.subentities = [fragile]
        let count = NSDerivedAttributeDescription("itemCount", .integer64AttributeType, from: "items.@count")
        let category = NSEntityDescription(
            "Category", class: "NSManagedObject",
            [
                NSAttributeDescription("title", .stringAttributeType),
                NSAttributeDescription("level", .integer16AttributeType), count,
            ])
        let label = NSEntityDescription(
            "Label", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let certificate = NSEntityDescription(
            "Certificate", class: "NSManagedObject", [NSAttributeDescription("number", .integer64AttributeType)])
        relate(
            category, "items", toMany: true, optional: !rules.requiresItems, deleteRule: rules.itemsOfCategory, item,
            inverse: "category",
            inverseDeleteRule: rules.categoryOfItem)
        if rules.requiresCategory { item.relationshipsByName["category"]?.isOptional = false }
        relate(
            label, "items", toMany: true, optional: !rules.requiresItems, item, inverse: "labels", inverseToMany: true,
            inverseDeleteRule: rules.labelsOfItem)
        relate(item, "certificate", deleteRule: rules.certificateOfItem, certificate, inverse: "item")
        return NSManagedObjectModel([item, fragile, category, label, certificate])
    }

    static func stack(_ kind: StoreKind, _ rules: Rules = Rules(), options: [AnyHashable: Any]? = nil) throws
        -> BatchStack
    {
        let stack = try BatchStack(kind, model(rules), options: options)
        let context = stack.context
        func new(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }
        let tools = new("Category", ["title": "Tools", "level": 1])
        let glass = new("Category", ["title": "Glass", "level": 2])
        let (new, old) = (new("Label", ["text": "new"]), new("Label", ["text": "old"]))
        let entries: [(String, String, String, NSManagedObject?, [NSManagedObject])] = [
            ("Item", "a", "Hammer", tools, [new]), ("Item", "b", "Saw", tools, [new, old]),
            ("Item", "c", "Rope", rules.requiresCategory ? tools : nil, []),
            ("Fragile", "d", "Vase", glass, [old]), ("Fragile", "e", "Bulb", glass, []),
        ]
        for (entity, sku, name, category, labels) in entries {
            let item = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            item.setValuesForKeys(["sku": sku, "name": name, "labels": NSSet(array: labels)])
            item.setValue(category, forKey: "category")
            if sku == "a" { item.setValue(Decimal(2), forKey: "price") }
            let certificate = NSEntityDescription.insertNewObject(forEntityName: "Certificate", into: context)
            certificate.setValue(item, forKey: "item")
        }
        try context.save()
        return stack
    }
}
