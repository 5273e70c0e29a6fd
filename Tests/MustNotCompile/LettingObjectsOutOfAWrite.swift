// Every line with a mark must be refused with an error that contains the text of the mark, and no other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
}

func results(_ stack: DataStack) async throws {
    let item = try await stack.write { Item(context: $0) }  // error: type 'Item' does not conform to the 'Sendable' protocol
    _ = try await stack.write { [Item(context: $0)] }  // error: type 'Item' does not conform to the 'Sendable' protocol
    _ = try await stack.write { Item(context: $0) as Item? }  // error: type 'Item' does not conform to the 'Sendable' protocol
    _ = try await stack.write { ReadOnly(Item(context: $0)) }  // error: 'ReadOnly<Object>' to 'Sendable' is unavailable
    _ = try await stack.write { (1, Item(context: $0)) }  // error: type 'Item' does not conform to the 'Sendable' protocol
    print(item)
}

func callbacks(_ stack: DataStack) {
    stack.write {  // error: type 'Item' does not conform to the 'Sendable' protocol
        Item(context: $0)
    } completion: { _ in
    }
}

func valuesAndIDs(_ stack: DataStack) async throws -> NSManagedObjectID {
    try await stack.write { Item(context: $0).objectID }
}

func captures(_ stack: DataStack, _ item: Item, _ view: ReadOnly<Item>) async throws {
    try await stack.write { _ in item.name = "" }  // error: capture of 'item' with non-Sendable type 'Item'
    try await stack.write { _ in print(view.name) }  // error: capture of 'view' with non-Sendable type 'ReadOnly<Item>'
    var count = 0
    try await stack.write { _ in count += 1 }  // error: mutation of captured var 'count'
    print(count)
}

func keepingTheContextOfARead(_ stack: DataStack) async throws {
    _ = try await stack.read { context in context.save() }  // error: no member 'save'
    try await stack.read { context in _ = Item(context: context) }  // error: cannot convert value of type 'ReadContext'
    _ = try await stack.read { context in context.insert(1) }  // error: no member 'insert'
}
