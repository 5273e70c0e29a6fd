import SafeCoreData

/// Something that is kept in stock.
///
/// The class is its own model: `@Entity` makes an entity of it, and an initializer that asks for
/// what a new item must have. The methods below are the life-cycle hooks, which Core Data calls;
/// each leaves a note in the journal, so that `inventory history` can show when they run.
@Entity(indexes: [["name"]])
final class Item: NSManagedObject {
    // Initial values are made anew for each object. Whoever reads these values cannot set them.
    @Attribute(.unique) private(set) var itemId: String = UUID().uuidString
    private(set) var dateCreated: Date = .now
    private(set) var dateModified: Date = .now
    @Attribute(.length(1...)) var name: String
    @Attribute(.range(0...)) var unitCost: Decimal
    @Attribute(.range(0...)) var unitPrice: Decimal
    @Attribute(.range(0...)) var stockCount: Int = 0
    @Relationship(inverse: \Supplier.items) var suppliers: Set<Supplier>

    /// What is left of the price of one piece.
    var margin: Decimal { unitPrice - unitCost }

    // MARK: Life cycle

    /// Called once in the life of an item, not when it is fetched.
    override func awakeFromInsert() {
        super.awakeFromInsert()
        note("awakeFromInsert", "inserted")
    }

    /// Called before each save that writes this item.
    override func willSave() {
        super.willSave()
        guard !isDeleted else { return note("willSave", "about to be deleted") }
        // An ordinary setter would make the object changed again, and Core Data would call
        // `willSave` once more, for ever.
        setPrimitiveValue(Date(), forKey: "dateModified")
        // The dates change with every save; they would only be noise.
        let changes = changedValues().keys.filter { !$0.hasPrefix("date") }.sorted()
        note("willSave", isInserted ? "new" : "changed: " + changes.joined(separator: ", "))
    }

    /// Called after the save, also for deleted items.
    override func didSave() {
        super.didSave()
        note("didSave", isDeleted || managedObjectContext == nil ? "gone from the store" : "\(stockCount) in stock")
    }

    /// Called when the item is deleted, while its relationships can still be followed.
    override func prepareForDeletion() {
        super.prepareForDeletion()
        let names = suppliers.map(\.name).sorted().joined(separator: ", ")
        note("prepareForDeletion", names.isEmpty ? "no suppliers" : "leaves \(names)")
    }

    // MARK: Validation

    /// The model already demands that the stock is not negative; this adds words that a customer
    /// understands.
    override func validateForUpdate() throws {
        if stockCount < 0 {
            let before = committedValues(forKeys: ["stockCount"])["stockCount"] as? Int ?? 0
            throw InventoryError.notEnough(item: name, wanted: before - stockCount, available: before)
        }
        try super.validateForUpdate()
    }

    private func note(_ event: String, _ detail: String) {
        Journal.shared.note(event, subject: knownName, detail)
    }

    /// The name for notes: a new item has none yet, a deleted one none any more.
    private var knownName: String {
        (primitiveValue(forKey: "name") as? String) ?? "item"
    }
}
