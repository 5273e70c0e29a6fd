import SafeCoreData

/// Someone who delivers items. A supplier may deliver many items, and an item may come from many
/// suppliers.
@Entity
final class Supplier: NSManagedObject {
    @Attribute(.unique, .length(1...)) var name: String
    /// The other side of `Item.suppliers`, which names it as its inverse.
    var items: Set<Item>

    /// The supplier of that name: the one in the store, or a new one.
    static func named(_ name: String, in context: NSManagedObjectContext) throws -> Supplier {
        // The compiler checks the property, and the value is bound: a name may hold quotes.
        let same = ComparisonResult.orderedSame
        let known = try context.first(Supplier.self, where: #Predicate { $0.name.caseInsensitiveCompare(name) == same })
        return known ?? Supplier(context: context, name: name)
    }
}
