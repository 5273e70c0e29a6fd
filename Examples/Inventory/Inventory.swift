import CoreDataPostgreSQL
import SafeCoreData

/// The items of a store, and what can be done with them.
///
/// What is read comes as read-only views, on the main actor; what is written is written in the
/// background. The compiler refuses to write through a view, and to let a live object out of a
/// write.
@MainActor
struct Inventory {
    private let stack: DataStack

    /// Opens the store, making it when there is none.
    ///
    /// - Parameter place: the path of the store's file, or the URL of a PostgreSQL database; nil
    ///   for a place in the user's data directory.
    init(storeAt place: String?) {
        let location: StoreLocation
        if let place, place.hasPrefix("postgresql:"), let url = URL(string: place) {
            location = .postgreSQL(url)
        } else if let place {
            location = .file(URL(fileURLWithPath: place))
        } else {
            location = .file(NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Inventory.sqlite"))
        }
        stack = DataStack(entities: Item.self, Supplier.self, LogEntry.self, store: location)
    }

    // MARK: Finding

    /// All items, or those that match a predicate, by name.
    func items(matching predicate: NSPredicate? = nil) async throws -> [ReadOnly<Item>] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = predicate
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
        ]
        // Every row of the list shows its suppliers: one fetch for all of them instead of one an
        // item.
        request.relationshipKeyPathsForPrefetching = ["suppliers"]
        return try await stack.read { context in try context.fetch(request) }
    }

    /// The one item of a name, of the beginning of a name, or of the beginning of an ID.
    func item(named text: String) async throws -> ReadOnly<Item> {
        let exact = try await items(matching: NSPredicate(format: "name ==[cd] %@", text))
        if exact.count == 1 { return exact[0] }
        let near = try await items(
            matching: NSPredicate(format: "name BEGINSWITH[cd] %@ OR itemId BEGINSWITH[c] %@", text, text))
        if near.count == 1 { return near[0] }
        if near.isEmpty { throw InventoryError.noItem(text) }
        throw InventoryError.severalItems(text, near.map { "'\($0.name)' (\($0.itemId.prefix(8)))" })
    }

    /// The items that a predicate selects, or whose name or supplier holds a text.
    func search(_ text: String) async throws -> [ReadOnly<Item>] {
        try await items(matching: Self.predicate(for: text))
    }

    private static func predicate(for text: String) throws -> NSPredicate {
        do {
            // `NSPredicate(format:)` ends the program for text that is no predicate; `parse`
            // throws, and is for people's text.
            return try NSPredicate.parse(text)
        } catch {
            // Whoever writes an operator means a predicate.
            if text.contains(where: { "=<>".contains($0) }) {
                throw InventoryError.badPredicate("\(error.message)\n\(error.rendering)")
            }
            return try NSPredicate.translating(
                #Predicate<Item> { item in
                    item.name.localizedStandardContains(text)
                        || item.suppliers.contains { $0.name.localizedStandardContains(text) }
                })
        }
    }

    // MARK: Changing

    /// Adds an item.
    func add(name: String, cost: Decimal, price: Decimal, stock: Int, suppliers: [String]) async throws -> Item.Snapshot
    {
        try await write { context in
            let item = Item(context: context, name: name, unitCost: cost, unitPrice: price, stockCount: stock)
            // Core Data keeps the inverse, `Supplier.items`, up to date by itself.
            item.suppliers = Set(try suppliers.map { try Supplier.named($0, in: context) })
            // A live object could not leave the write; its values can.
            return item.snapshot()
        }
    }

    /// Changes how many pieces of an item there are. Validation refuses to go below zero.
    ///
    /// - Returns: the number of pieces afterwards.
    func changeStock(of item: ReadOnly<Item>, by count: Int) async throws -> Int {
        let itemID = item.objectID
        return try await write { context in
            let item = try context.object(with: itemID, as: Item.self)
            item.stockCount += count
            return item.stockCount
        }
    }

    /// Deletes an item.
    func delete(_ item: ReadOnly<Item>) async throws {
        let itemID = item.objectID
        try await write { context in context.delete(try context.object(with: itemID, as: Item.self)) }
    }

    /// Saves all changes of a block or none, then the notes of the hooks that ran.
    private func write<Output: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> Output
    ) async throws -> Output {
        do {
            // Another program may have written the same item meanwhile: then the block reads it
            // anew.
            let output = try await stack.write(retries: 5, body)
            try await stack.write { try Journal.shared.writeEntries(in: $0) }
            return output
        } catch {
            // Nothing of a failed write is left.
            Journal.shared.note("save", subject: "inventory", "refused: \(error.localizedDescription)")
            try await stack.write { try Journal.shared.writeEntries(in: $0) }
            throw error
        }
    }

    // MARK: History

    /// What the hooks noted, oldest first.
    func history() async throws -> [ReadOnly<LogEntry>] {
        try await stack.read { try $0.fetch(LogEntry.self, sortBy: [.ascending(\.number)]) }
    }
}
