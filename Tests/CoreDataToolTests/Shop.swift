import CoreData
import TestSupport
import Testing

/// A small store for tests: products of all sorts of values, with makers.
enum Shop {
    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let product = NSEntityDescription()
        product.name = "Product"
        // A class that no program has: such objects are plain managed objects.
        product.managedObjectClassName = "ShopOfSomeoneElse.Product"
        let maker = NSEntityDescription()
        maker.name = "Maker"
        let toMaker = NSRelationshipDescription()
        toMaker.name = "maker"
        toMaker.destinationEntity = maker
        toMaker.maxCount = 1
        let products = NSRelationshipDescription()
        products.name = "products"
        products.destinationEntity = product
        toMaker.inverseRelationship = products
        products.inverseRelationship = toMaker
        product.properties = [
            attribute("name", .stringAttributeType), attribute("stock", .integer64AttributeType),
            attribute("price", .decimalAttributeType), attribute("weight", .doubleAttributeType),
            attribute("added", .dateAttributeType), attribute("code", .UUIDAttributeType),
            attribute("page", .URIAttributeType), attribute("image", .binaryDataAttributeType),
            attribute("tags", .transformableAttributeType), attribute("isSold", .booleanAttributeType), toMaker,
        ]
        maker.properties = [attribute("name", .stringAttributeType), products]
        let model = NSManagedObjectModel()
        model.entities = [product, maker]
        return model
    }

    /// Three products of one maker, in a file or on a server.
    static func make(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let type = NSPersistentStore.StoreType(rawValue: NSPersistentStoreDescription(url: url).type)
        let store = try coordinator.addPersistentStore(type: type, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
            maker.setValue("Søren & Sons", forKey: "name")
            for (index, name) in ["Bolt, \"hex\"", "Nut\nM6", "漢字 screw"].enumerated() {
                let product = NSEntityDescription.insertNewObject(forEntityName: "Product", into: context)
                product.setValue(name, forKey: "name")
                product.setValue(index * 10, forKey: "stock")
                product.setValue(maker, forKey: "maker")
                guard index == 0 else { continue }
                product.setValue(Decimal(string: "12345678.0625"), forKey: "price")
                product.setValue(2.5, forKey: "weight")
                product.setValue(Date(timeIntervalSince1970: 1_700_000_000.25), forKey: "added")
                product.setValue(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"), forKey: "code")
                product.setValue(URL(string: "https://example.org/bolt"), forKey: "page")
                product.setValue(Data([0, 1, 2, 255]), forKey: "image")
                product.setValue(["steel", "hex"] as NSArray, forKey: "tags")
                product.setValue(true, forKey: "isSold")
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    /// A database that is no Core Data store.
    static func makePlainDatabase(at path: String) throws {
        try SQLiteFile(URL(fileURLWithPath: path)).run("CREATE TABLE Product (name TEXT)")
    }
}
