// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

enum Kind: String, Codable { case single, set }

struct Size: Codable, Hashable { var width = 0 }

final class Color {}

final class Supplier: NSManagedObject {
    @Managed var name: String
    @Managed var items: Set<Item>
}

final class Item: NSManagedObject {
    @Managed var name: String
    @Managed var note: String?
    @Managed var count: Int32
    @Managed var price: Decimal?
    @Managed var made: Date
    @Managed var number: NSNumber?
    @Managed var amount: NSDecimalNumber?
    @Managed var kind: Kind
    @Managed var formerKind: Kind?
    @Managed var supplier: Supplier?
    @Managed var parts: [Item]
    @Managed var labels: NSSet?
    @Managed var steps: NSOrderedSet?
    var size: Size { Size() }
    var formerSize: Size? { nil }
    var tags: [String] { [] }
    var color: Color { Color() }
}

let orders: [Ordering<Item>] = [
    .ascending(\.name), .descending(\.note), .ascending(\.count), .descending(\.price), .ascending(\.made),
    .descending(\.number),
    .ascending(\.amount), .ascending(\.kind), .descending(\.kind), .ascending(\.formerKind), .descending(\.formerKind),
    .ascending(\.supplier?.name), .descending(\.supplier), .ascending(\.name, .localized),
    .descending(\.note, .caseInsensitive),
]

func orders(_ context: NSManagedObjectContext) throws {
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.parts)])  // error: no store can sort by this
    _ = try context.fetch(Supplier.self, sortBy: [.descending(\.items)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.labels)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.steps)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.size)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.descending(\.formerSize)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.tags)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.color)])  // error: no store can sort by this
    _ = try context.fetch(Item.self, sortBy: [.ascending(\.name), .descending(\.count)])
}
