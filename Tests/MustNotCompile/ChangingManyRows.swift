// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
    @Managed var note: String?
    @Managed var stockCount: Int16
    @Managed var supplier: Supplier?

    convenience init(context: NSManagedObjectContext, name: String, stockCount: Int16 = 0) {
        self.init(context: context)
        self.name = name
        self.stockCount = stockCount
    }
}

final class Supplier: NSManagedObject {
    @Managed var name: String
}

// MARK: Compiles

func changes(_ context: WriteContext, _ supplier: Supplier) throws {
    try context.insertAll(Item.self, ["a", "b"]) { name, draft in Item(context: draft, name: name) }
    try context.upsert(Item.self, by: \.name, ["a"], updating: [\.stockCount]) { name, draft in
        Item(context: draft, name: name)
    }
    try context.update(
        Item.self, where: #Predicate { $0.stockCount < 3 }, set: .set(\.stockCount, to: 0), .set(\.note, to: nil))
    try context.update(Item.self, set: .increment(\.stockCount, by: -1), .set(\.supplier, to: supplier))
    try context.deleteAll(Item.self, where: #Predicate { $0.name == "a" })
}

// MARK: Does not

func mistakes(_ context: WriteContext, _ reading: ReadContext) throws {
    try context.insertAll(Item.self, ["a"]) { name, draft in
        Supplier(context: draft)  // error: cannot convert value of type 'Supplier'
    }
    try context.update(Item.self, set: .set(\.stockCount, to: "many"))  // error: cannot convert value of type 'String'
    try context.update(Item.self, set: .set(\.name, to: nil))  // error: 'nil'
    try context.update(Item.self, set: .increment(\.name, by: "x"))  // error: conform to 'Numeric'
    try context.update(Item.self, set: .set(\.price, to: 1))  // error: no member 'price'
    try context.upsert(Item.self, by: \.sku, ["a"]) { name, draft in  // error: cannot infer key path
        Item(context: draft, name: name)
    }
    try reading.deleteAll(Item.self)  // error: no member 'deleteAll'
}
