import SafeCoreData
import TestSupport

/// A shop of random items, the same ones for the same seed.
struct RandomShop {
    static let code = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let page = URL(fileURLWithPath: "/pages/1")
    static let picture = Data([1, 2, 3])
    static let day = Date(timeIntervalSinceReferenceDate: 86_400)

    private let folder: TemporaryFolder
    let context: NSManagedObjectContext

    init(_ kind: StoreKind, items: Int = 150) throws {
        folder = try TemporaryFolder()
        context = try Shop.coordinator(kind, at: kind.url(folder.file("shop.sqlite"))).newContext()
        try fill(items)
    }

    private func fill(_ count: Int) throws {
        var random = SeededGenerator(seed: 7)
        let names = ["", "a", "Bolt", "bolt", "Bölt", "Nut", "Nut M6", "Washer", "ACME", "x"]
        let suppliers = ["ACME", "Acme", "Steel", "Bolt & Sons"].map { name in
            let supplier = ShopSupplier(context: context)
            supplier.name = name
            supplier.city = random.chance() ? ["Oslo", "Bergen"].randomElement(using: &random) : nil
            supplier.rating = Int16.random(in: 0...5, using: &random)
            return supplier
        }
        let labels = ["new", "sale", "old"].map { text in
            let label = ShopLabel(context: context)
            label.text = text
            return label
        }
        for _ in 0..<count {
            let item = random.chance(1, 5) ? ShopBundle(context: context) : ShopItem(context: context)
            item.name = names.randomElement(using: &random)!
            item.note = random.chance() ? names.randomElement(using: &random) : nil
            item.stockCount = Int16.random(in: -3...8, using: &random)
            item.minimum = Int32.random(in: 0...6, using: &random)
            item.sold = Int64.random(in: -10...10, using: &random)
            item.reserved = random.chance() ? Int64.random(in: 0...3, using: &random) : nil
            item.weight = Double(Int.random(in: -8...8, using: &random)) / 4
            item.discount = random.chance() ? Double(Int.random(in: 0...4, using: &random)) / 4 : nil
            item.ratio = Float(Int.random(in: 0...4, using: &random)) / 2
            item.price = Decimal(Int.random(in: 0...300, using: &random)) / 100
            item.created = Self.day + Double(Int.random(in: -2...2, using: &random)) * 3600
            item.changed = random.chance() ? Self.day + Double(Int.random(in: -2...2, using: &random)) : nil
            item.code = random.chance(1, 3) ? Self.code : random.chance() ? UUID() : nil
            item.page = random.chance() ? Self.page : nil
            item.picture = random.chance() ? Self.picture : nil
            item.isActive = random.chance()
            item.kind = ShopItem.Kind.allCases.randomElement(using: &random)!
            item.supplier = random.chance(3, 4) ? suppliers.randomElement(using: &random) : nil
            item.labels = Set(labels.filter { _ in random.chance(1, 3) })
            item.parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                let part = ShopPart(context: context)
                part.title = random.chance() ? names.randomElement(using: &random) : nil
                part.number = Int16.random(in: 0...4, using: &random)
                return part
            }
        }
        try context.save()
    }
}

extension SeededGenerator {
    fileprivate mutating func chance(_ part: Int = 1, _ whole: Int = 2) -> Bool {
        Int.random(in: 0..<whole, using: &self) < part
    }
}
