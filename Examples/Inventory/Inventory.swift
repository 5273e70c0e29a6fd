import CoreData

/// The items of a store, and what can be done with them.
struct Inventory {
    private let context: NSManagedObjectContext

    /// Opens the store, making it when there is none.
    ///
    /// - Parameter url: where the store is; nil for the container's own place in the user's data directory.
    init(storeAt url: URL?) throws {
        // Looks for Inventory.xcdatamodeld among the resources of this program.
        let container = NSPersistentContainer(name: "Inventory")
        if let url { container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)] }
        // Descriptions are loaded before the method returns unless they say otherwise.
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error ?? failure }
        if let failure { throw failure }
        context = container.viewContext
    }

    // MARK: Finding

    /// All items, or those that match a predicate, by name.
    func items(matching predicate: NSPredicate? = nil) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = predicate
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
        ]
        // Every row of the list shows its suppliers: one fetch for all of them instead of one an item.
        request.relationshipKeyPathsForPrefetching = ["suppliers"]
        return try context.fetch(request)
    }

    /// The one item of a name, of the beginning of a name, or of the beginning of an ID.
    func item(named text: String) throws -> Item {
        let exact = try items(matching: NSPredicate(format: "name ==[cd] %@", text))
        if exact.count == 1 { return exact[0] }
        let near = try items(
            matching: NSPredicate(format: "name BEGINSWITH[cd] %@ OR itemId BEGINSWITH[c] %@", text, text))
        if near.count == 1 { return near[0] }
        if near.isEmpty { throw InventoryError.noItem(text) }
        throw InventoryError.severalItems(text, near.map { "'\($0.name)' (\($0.itemId.prefix(8)))" })
    }

    /// The items that a predicate selects, or whose name or supplier holds a text.
    func search(_ text: String) throws -> [Item] {
        try items(matching: Self.predicate(for: text))
    }

    private static func predicate(for text: String) throws -> NSPredicate {
        do {
            // `NSPredicate(format:)` ends the program for text that is no predicate; `parse` throws, and is for people's text.
            return try NSPredicate.parse(text)
        } catch {
            // Whoever writes an operator means a predicate.
            if text.contains(where: { "=<>".contains($0) }) {
                throw InventoryError.badPredicate("\(error.message)\n\(error.rendering)")
            }
            return NSPredicate(format: "name CONTAINS[cd] %@ OR ANY suppliers.name CONTAINS[cd] %@", text, text)
        }
    }

    // MARK: Changing

    /// Adds an item.
    func add(name: String, cost: Decimal, price: Decimal, stock: Int, suppliers: [String]) throws -> Item {
        let item = Item(context: context)
        item.name = name
        item.unitCost = cost
        item.unitPrice = price
        item.stockCount = stock
        // Core Data keeps the inverse, `Supplier.items`, up to date by itself.
        item.suppliers = Set(try suppliers.map { try Supplier.named($0, in: context) })
        try save()
        return item
    }

    /// Changes how many pieces of an item there are. Validation refuses to go below zero.
    func changeStock(of item: Item, by count: Int) throws {
        item.stockCount += count
        try save()
    }

    /// Deletes an item.
    func delete(_ item: Item) throws {
        context.delete(item)
        try save()
    }

    /// Saves all changes or none, then the notes of the hooks that ran.
    private func save() throws {
        do {
            try Journal.$saving.withValue(context) { try context.save() }
        } catch {
            // A failed save leaves the changes in the context; this program gives them up.
            context.rollback()
            Journal.of(context).note("save", subject: "inventory", "refused: \(error.localizedDescription)")
            try writeJournal()
            throw error
        }
        try writeJournal()
    }

    private func writeJournal() throws {
        try Journal.of(context).writeEntries(in: context)
        if context.hasChanges { try context.save() }
    }

    // MARK: History

    /// What the hooks noted, oldest first.
    func history() throws -> [LogEntry] {
        let request = NSFetchRequest<LogEntry>(entityName: "LogEntry")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return try context.fetch(request)
    }
}
