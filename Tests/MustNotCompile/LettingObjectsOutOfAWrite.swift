// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
}

func results(_ stack: DataStack) async throws {
    let item = try await stack.write { Item(context: $0) }  // error: return its objectID or a snapshot
    _ = try await stack.write { [Item(context: $0)] }  // error: return its objectID or a snapshot
    _ = try await stack.write { Item(context: $0) as Item? }  // error: return its objectID or a snapshot
    _ = try await stack.write { ReadOnly(Item(context: $0)) }  // error: return its objectID or a snapshot
    _ = try await stack.write { (1, Item(context: $0)) }  // error: return its objectID or a snapshot
    print(item)
}

func callbacks(_ stack: DataStack) {
    stack.write {  // error: return its objectID or a snapshot
        Item(context: $0)
    } completion: { _ in
    }
}

@Entity final class Book: NSManagedObject {
    var title: String
}

@Entity final class Shelf: NSManagedObject {
    var books: Set<Book>
}

func onlyExpressions(_ stack: DataStack, _ book: Book.Snapshot, _ shelf: NSManagedObjectID) async throws {
    try await stack.write { try $0.apply([book]) }
    try await stack.write { try $0.apply(book) }
    try await stack.write { try $0.applyAll([book]) }
    try await stack.write { try $0.apply(SnapshotGraph(root: book, related: [])) }
    try await stack.write { try $0.object(with: shelf, as: Shelf.self).books = [] }
    try await stack.write { try $0.deleteAll(Book.self) }
    try await stack.write { $0.processPendingChanges() }
    let count = try await stack.write { try $0.apply([book, book]).count }
    print(count)
}

func blocksThatUseWhatTheyApply(_ stack: DataStack, _ book: Book.Snapshot) async throws {
    try await stack.write { context in
        let books = try context.apply([book])
        try context.apply(books.map { $0.snapshot() })
        let one = try context.apply(book)
        one.title = books[0].title
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
