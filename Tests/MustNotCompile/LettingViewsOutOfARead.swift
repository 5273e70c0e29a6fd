// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
}

func all() -> NSFetchRequest<Item> { NSFetchRequest(entityName: "Item") }

func elsewhere(_ stack: DataStack) async throws {
    let items = try await stack.read { try $0.fetch(all()) }  // error: can not be returned from main actor-isolated
    print(items)
}

func keepingTheContext(_ stack: DataStack) async throws {
    let context = try await stack.read { $0 }  // error: can not be returned from main actor-isolated
    print(context)
}

@MainActor func onTheMainActor(_ stack: DataStack) async throws {
    let items = try await stack.read { try $0.fetch(all()) }
    print(items)
}

@MainActor func sendingFromTheMainActor(_ stack: DataStack) async throws {
    let items = try await stack.read { try $0.fetch(all()) }
    Task.detached { print(items.count) }  // error: risks causing data races
    print(items.count)
}
