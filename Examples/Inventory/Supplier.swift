import CoreData

/// Someone who delivers items. A supplier may deliver many items, and an item may come from many suppliers.
final class Supplier: NSManagedObject {
    @Managed var name: String
    @Managed var items: Set<Item>

    /// The supplier of that name: the one in the store, or a new one.
    static func named(_ name: String, in context: NSManagedObjectContext) throws -> Supplier {
        let request = NSFetchRequest<Supplier>(entityName: "Supplier")
        // Values are bound with %@ and never pasted into the text: a name may hold quotes.
        request.predicate = NSPredicate(format: "name ==[c] %@", name)
        request.fetchLimit = 1
        if let known = try context.fetch(request).first { return known }
        let supplier = Supplier(context: context)
        supplier.name = name
        return supplier
    }
}
