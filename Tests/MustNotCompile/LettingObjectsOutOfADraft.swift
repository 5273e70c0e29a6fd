// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
}

func results(_ stack: DataStack, _ id: NSManagedObjectID) async throws {
    _ = try await stack.edit(id, as: Item.self) { $0.object }  // error: return its objectID or a snapshot
    _ = try await stack.edit(id, as: Item.self) { $0 }  // error: a draft's object belongs to the queue
    _ = try await stack.edit(id, as: Item.self) { ReadOnly($0.object) }  // error: return its objectID or a snapshot
}

func captures(_ stack: DataStack, _ id: NSManagedObjectID, _ item: Item, _ view: ReadOnly<Item>) async throws {
    try await stack.edit(id, as: Item.self) { _ in
        item.name = ""  // error: capture of 'item' with non-Sendable type 'Item'
    }
    try await stack.edit(id, as: Item.self) { _ in
        print(view.name)  // error: capture of 'view' with non-Sendable type 'ReadOnly<Item>'
    }
    var names: [String] = []
    try await stack.edit(id, as: Item.self) { names.append($0.name) }  // error: mutation of captured var 'names'
    print(names)
}

func usingADraftsObjectOutsideOfItsBlocks(_ draft: Draft<Item>) async throws {
    print(draft.name)  // error: no member 'name'
    print(draft.object)  // error: 'object' is inaccessible
    _ = try await draft.perform { $0.object }  // error: return its objectID or a snapshot
}

func valuesAndIDs(_ stack: DataStack, _ view: ReadOnly<Item>) async throws -> NSManagedObjectID {
    let draft = try await stack.draft(of: view)
    _ = try await draft.perform { draft in
        draft.name = "Nut"
        return draft.name.count
    }
    try await draft.apply()
    return try await stack.edit(view) { draft in
        draft.name = "Bolt"
        return draft.object.objectID
    }
}
