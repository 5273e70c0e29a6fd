import CoreData

/// Something that is kept in stock.
///
/// The properties are those of the entity `Item` in `Inventory.xcdatamodeld`; `@Managed` is what `@NSManaged` is on a Mac.
/// The methods below are the life-cycle hooks, which Core Data calls; each leaves a note in the context's journal, so that
/// `inventory history` can show when they run.
final class Item: NSManagedObject {
    @Managed private(set) var itemId: String
    @Managed private(set) var dateCreated: Date
    @Managed private(set) var dateModified: Date
    @Managed var name: String
    @Managed var unitCost: Decimal
    @Managed var unitPrice: Decimal
    @Managed var stockCount: Int
    @Managed var suppliers: Set<Supplier>

    /// What is left of the price of one piece.
    var margin: Decimal { unitPrice - unitCost }

    // MARK: Life cycle

    /// A new object gets what no caller should have to give. Called once in the life of an item, not when it is fetched.
    override func awakeFromInsert() {
        super.awakeFromInsert()
        let now = Date()
        // Primitive setters: these values belong to the insertion and are no changes of their own.
        setPrimitiveValue(UUID().uuidString, forKey: "itemId")
        setPrimitiveValue(now, forKey: "dateCreated")
        setPrimitiveValue(now, forKey: "dateModified")
        note("awakeFromInsert", "given its ID")
    }

    /// Called before each save that writes this item.
    override func willSave() {
        super.willSave()
        guard !isDeleted else { return note("willSave", "about to be deleted") }
        // An ordinary setter would make the object changed again, and Core Data would call `willSave` once more, for ever.
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

    /// The model already demands that the stock is not negative; this adds words that a customer understands.
    override func validateForUpdate() throws {
        if stockCount < 0 {
            let before = committedValues(forKeys: ["stockCount"])["stockCount"] as? Int ?? 0
            throw InventoryError.notEnough(item: name, wanted: before - stockCount, available: before)
        }
        try super.validateForUpdate()
    }

    private func note(_ event: String, _ detail: String) {
        // After its deletion an item has neither a context nor values any more.
        guard let context = managedObjectContext ?? Journal.saving else { return }
        Journal.of(context).note(event, subject: knownName, detail)
    }

    /// The name for notes: a new item has none yet, a deleted one none any more.
    private var knownName: String {
        (primitiveValue(forKey: "name") as? String) ?? "item"
    }
}
