import SafeCoreData
import TestSupport
import Testing

/// Views of live objects.
struct ReadOnlyTests {
    let context: NSManagedObjectContext
    let item: ShopItem

    init() throws {
        context = try Shop.coordinator().newContext()
        item = ShopItem(context: context)
        item.name = "Bolt"
        item.stockCount = 3
    }

    private func supplier(_ name: String) -> ShopSupplier {
        let supplier = ShopSupplier(context: context)
        supplier.name = name
        return supplier
    }

    private func part(_ number: Int16) -> ShopPart {
        let part = ShopPart(context: context)
        part.number = number
        return part
    }

    @Test func attributesComeAsTheyAre() {
        item.price = Decimal(string: "1.25")!
        item.kind = .set
        item.code = UUID()
        let view = ReadOnly(item)
        #expect(view.name == "Bolt")
        #expect(view.note == nil)
        #expect(view.stockCount == 3)
        #expect(view.price == Decimal(string: "1.25"))
        #expect(view.kind == .set)
        #expect(view.code == item.code)
        #expect(view.created == Date(timeIntervalSinceReferenceDate: 0))
        #expect(view.isInserted)
        #expect(view.objectID == item.objectID)
    }

    @Test func aViewShowsWhatTheObjectBecomes() {
        let view = ReadOnly(item)
        item.stockCount = 9
        #expect(view.stockCount == 9)
    }

    @Test func aToOneRelationshipComesAsAView() {
        let view = ReadOnly(item)
        #expect(view.supplier == nil)
        item.supplier = supplier("ACME")
        let supplier: ReadOnly<ShopSupplier>? = view.supplier
        #expect(supplier?.name == "ACME")
        #expect(view.supplier?.items.first?.supplier?.name == "ACME")
    }

    @Test func aToManyRelationshipComesAsASetOfViews() {
        let acme = supplier("ACME")
        let other = ShopItem(context: context)
        item.supplier = acme
        let items: ReadOnlySet<ShopItem> = ReadOnly(acme).items
        #expect(items.count == 1)
        #expect(items.contains(ReadOnly(item)))
        #expect(!items.contains(ReadOnly(other)))
        #expect(items.map(\.name) == ["Bolt"])
        #expect(Set(items) == [ReadOnly(item)])
        #expect(items == ReadOnly(acme).items)
    }

    @Test func anOrderedRelationshipComesAsAnArrayOfViews() {
        item.parts = [part(3), part(1), part(2)]
        let parts: ReadOnlyArray<ShopPart> = ReadOnly(item).parts
        #expect(parts.map(\.number) == [3, 1, 2])
        #expect(parts[1].number == 1)
        #expect(parts.last?.number == 2)
        #expect(parts.reversed().map(\.number) == [2, 1, 3])
    }

    @Test func anUntypedSetGetsItsClassBack() {
        let label = ShopLabel(context: context)
        label.text = "new"
        item.labels = [label]
        let items = ReadOnly(label).items
        #expect(items.count == 1)
        #expect(items.of(ShopItem.self).map(\.name) == ["Bolt"])
        #expect(items.of(ShopBundle.self).isEmpty)
    }

    @Test func aViewCanBeNarrowedToASubclass() {
        let bundle = ShopBundle(context: context)
        bundle.size = 4
        let view: ReadOnly<ShopItem> = ReadOnly(bundle)
        #expect(ReadOnly<ShopBundle>(view)?.size == 4)
        #expect(ReadOnly<ShopBundle>(ReadOnly(item)) == nil)
        #expect(ReadOnly<NSManagedObject>(view)?.objectID == bundle.objectID)
    }

    @Test func viewsAreEqualWhenTheirObjectsAre() {
        let other = ShopItem(context: context)
        other.name = "Bolt"
        #expect(ReadOnly(item) == ReadOnly(item))
        #expect(ReadOnly(item) != ReadOnly(other))
        #expect(Set([ReadOnly(item), ReadOnly(item), ReadOnly(other)]).count == 2)
        #expect(ReadOnly(item).id == item.objectID)
    }

    @Test func aFetchGivesViews() throws {
        let request = NSFetchRequest<ShopItem>(entityName: "Item")
        let items: [ReadOnly<ShopItem>] = try context.fetch(readOnly: request)
        #expect(items == [ReadOnly(item)])
    }

    @Test func theContextOfAViewOnlyReads() throws {
        let context: ReadContext = try #require(ReadOnly(item).managedObjectContext)
        #expect(try context.count(for: NSFetchRequest<ShopItem>(entityName: "Item")) == 1)
    }

    @Test func reflectionDoesNotLeadToTheObject() {
        item.parts = [part(1)]
        item.supplier = supplier("ACME")
        let view = ReadOnly(item)
        let everything: [Any] = [
            view, view.parts, view.supplier!.items, view.supplier as Any, [view], view.managedObjectContext!,
        ]
        for value in everything { #expect(!reaches(value)) }
        var text = ""
        dump(view, to: &text)
        #expect(text.contains(item.objectID.description))
        #expect(String(describing: view) == "read-only \(item.description)")
    }

    /// Whether a managed object or a context can be found in a value by reflection.
    private func reaches(_ value: Any, depth: Int = 0) -> Bool {
        if value is NSManagedObject || value is NSManagedObjectContext { return true }
        if depth > 6 || value is NSManagedObjectID { return false }
        return Mirror(reflecting: value).children.contains { reaches($0.value, depth: depth + 1) }
    }
}
