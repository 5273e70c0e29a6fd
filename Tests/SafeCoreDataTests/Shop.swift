import SafeCoreData
import TestSupport

// A shop: suppliers deliver items, which carry labels and consist of parts in an order.

final class ShopSupplier: NSManagedObject {
    @Managed var name: String
    @Managed var city: String?
    @Managed var rating: Int16
    @Managed var items: Set<ShopItem>
}

class ShopItem: NSManagedObject {
    enum Kind: Int16, CaseIterable, Codable, Sendable {
        case single = 1
        case set = 2
        case service = 3
    }

    @Managed var name: String
    @Managed var note: String?
    @Managed var stockCount: Int16
    @Managed var minimum: Int32
    @Managed var sold: Int64
    @Managed var reserved: Int64?
    @Managed var weight: Double
    @Managed var discount: Double?
    @Managed var ratio: Float
    @Managed var price: Decimal
    @Managed var created: Date
    @Managed var changed: Date?
    @Managed var code: UUID?
    @Managed var page: URL?
    @Managed var picture: Data?
    @Managed var isActive: Bool
    @Managed var kind: Kind
    @Managed var supplier: ShopSupplier?
    @Managed var labels: Set<ShopLabel>
    @Managed var parts: [ShopPart]

    /// Not in the model.
    var shout: String { name.uppercased() }
    var isLow: Bool { stockCount < 5 }
    var isInStock: Bool { stockCount != 0 }
    var noteOrNothing: String { note ?? "" }
    var supplierName: String { supplier?.name ?? "" }
    var fullName: String { name + (note ?? "") }
    /// A getter that writes: what the type of a view cannot see.
    var soldOnceMore: Int64 {
        sold += 1
        return sold
    }
}

final class ShopBundle: ShopItem {
    @Managed var size: Int16
}

final class ShopLabel: NSManagedObject {
    @Managed var text: String
    @Managed var items: NSSet?
}

final class ShopPart: NSManagedObject {
    @Managed var title: String?
    @Managed var number: Int16
    @Managed var item: ShopItem?
}

/// The model of the shop.
enum Shop {
    static func model() -> NSManagedObjectModel {
        let supplier = NSEntityDescription(
            "Supplier", class: "ShopSupplier",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false),
                NSAttributeDescription("city", .stringAttributeType),
                NSAttributeDescription("rating", .integer16AttributeType, optional: false, default: 0),
            ])
        let item = NSEntityDescription(
            "Item", class: "ShopItem",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false),
                NSAttributeDescription("note", .stringAttributeType),
                NSAttributeDescription("stockCount", .integer16AttributeType, optional: false, default: 0),
                NSAttributeDescription("minimum", .integer32AttributeType, optional: false, default: 0),
                NSAttributeDescription("sold", .integer64AttributeType, optional: false, default: 0),
                NSAttributeDescription("reserved", .integer64AttributeType),
                NSAttributeDescription("weight", .doubleAttributeType, optional: false, default: 0),
                NSAttributeDescription("discount", .doubleAttributeType),
                NSAttributeDescription("ratio", .floatAttributeType, optional: false, default: 0),
                NSAttributeDescription("price", .decimalAttributeType, optional: false, default: 0),
                NSAttributeDescription(
                    "created", .dateAttributeType, optional: false, default: Date(timeIntervalSinceReferenceDate: 0)),
                NSAttributeDescription("changed", .dateAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType),
                NSAttributeDescription("page", .URIAttributeType),
                NSAttributeDescription("picture", .binaryDataAttributeType),
                NSAttributeDescription("isActive", .booleanAttributeType, optional: false, default: false),
                NSAttributeDescription("kind", .integer16AttributeType, optional: false, default: 1),
            ])
        let bundle = NSEntityDescription(
            "Bundle", class: "ShopBundle",
            [NSAttributeDescription("size", .integer16AttributeType, optional: false, default: 0)])
        item.subentities = [bundle]
        let label = NSEntityDescription(
            "Label", class: "ShopLabel", [NSAttributeDescription("text", .stringAttributeType, optional: false)])
        let part = NSEntityDescription(
            "Part", class: "ShopPart",
            [
                NSAttributeDescription("title", .stringAttributeType),
                NSAttributeDescription("number", .integer16AttributeType, optional: false, default: 0),
            ])
        relate(supplier, "items", toMany: true, item, inverse: "supplier")
        relate(item, "labels", toMany: true, label, inverse: "items", inverseToMany: true)
        relate(item, "parts", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, part, inverse: "item")
        return NSManagedObjectModel([supplier, item, bundle, label, part])
    }

    /// A coordinator with one store of the shop's model.
    static func coordinator(_ kind: StoreKind = .inMemory, at url: URL? = nil) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        return coordinator
    }
}
