// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var name: String
}

func sendingAView(_ view: ReadOnly<Item>) {
    Task.detached { print(view.name) }  // error: risks causing data races
}

func sendingAnObject(_ item: Item) {
    Task.detached { print(item.name) }  // error: risks causing data races
}

func sendingWhatAReadFound(_ context: ReadContext) throws {
    let items = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
    Task.detached { print(items.count) }  // error: risks causing data races
}

func sendingWhatIsUsedAfterwards(_ context: NSManagedObjectContext) throws {
    let items = try context.fetch(readOnly: NSFetchRequest<Item>(entityName: "Item"))
    Task.detached { print(items[0].name) }  // error: risks causing data races
    print(items.count)
}

@MainActor func sendingFromTheMainActor(_ view: ReadOnly<Item>) async {
    await Task.detached { print(view.name) }.value  // error: risks causing data races
}

func usingFromAnotherActor(_ view: ReadOnly<Item>) async {
    await MainActor.run { print(view.name) }  // error: data race
}

func sendingAnID(_ view: ReadOnly<Item>) {
    let id = view.objectID
    Task.detached { print(id) }
}
