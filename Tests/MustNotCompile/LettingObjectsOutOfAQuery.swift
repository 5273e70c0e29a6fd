// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

@Entity final class Item: NSManagedObject {
    var name: String
    var stockCount: Int = 0
}

func results(_ stack: DataStack) async throws {
    let views = try await stack.query { try $0.fetch(Item.self) }  // error: return its objectID or a snapshot
    _ = try await stack.query { try $0.first(Item.self) }  // error: return its objectID or a snapshot
    _ = try await stack.query { (1, try $0.fetch(Item.self)) }  // error: return its objectID or a snapshot
    _ = try await stack.query { $0 }  // error: conformance of 'ReadContext' to 'Sendable' is unavailable
    print(views)
}

func changes(_ stack: DataStack) async throws {
    try await stack.query { context in try context.save() }  // error: no member 'save'
    try await stack.query { context in try context.first(Item.self)?.name = "" }  // error: views cannot be written
}

func captures(_ stack: DataStack, _ view: ReadOnly<Item>) async throws {
    _ = try await stack.query { _ in view.name }  // error: capture of 'view' with non-Sendable type 'ReadOnly<Item>'
}

func values(_ stack: DataStack, _ id: NSManagedObjectID) async throws -> [Item.Snapshot] {
    let (name, count) = try await stack.query { (try $0.object(with: id, as: Item.self).name, try $0.count(Item.self)) }
    let ids = try await stack.query { context in try context.fetch(Item.self).map(\.objectID) }
    let few = try await stack.fetch(
        Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)], limit: 10)
    print(name, count, ids, few.map(\.name))
    return try await stack.query { try $0.snapshots(Item.self, where: #Predicate { $0.name == "Bolt" }) }
}
