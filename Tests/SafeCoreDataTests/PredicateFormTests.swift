import SafeCoreData
import TestSupport
import Testing

/// Every form of `#Predicate`: the store finds the objects for which the predicate is true in
/// Swift.
struct PredicateFormTests {
    private static let five: Int16 = 5
    private static let bounds: ClosedRange<Int16> = 1...5
    private static let numbers: [Int16] = [1, 3, 5]
    private static let nothing: String? = nil
    private static let acme: String? = "ACME"
    private static let same = ComparisonResult.orderedSame
    private static let before = ComparisonResult.orderedAscending

    @Test(arguments: StoreKind.allCases) func comparisons(kind: StoreKind) throws {
        let (five, price, day, code) = (Self.five, Decimal(string: "1.5")!, RandomShop.day, RandomShop.code)
        let (page, picture, single) = (RandomShop.page, RandomShop.picture, ShopItem.Kind.single)
        let (ratio, one): (Float, Int16) = (1, single.rawValue)
        try check(
            kind,
            [
                #Predicate { $0.stockCount < 5 }, #Predicate { $0.stockCount <= five },
                #Predicate { $0.stockCount > 0 },
                #Predicate { $0.stockCount >= 0 }, #Predicate { $0.stockCount == 3 }, #Predicate { $0.stockCount != 3 },
                #Predicate { 3 < $0.stockCount }, #Predicate { $0.stockCount < $0.stockCount },
                #Predicate { $0.minimum == 4 },
                #Predicate { $0.sold < 0 }, #Predicate { $0.weight > 0.5 }, #Predicate { $0.weight == -0.25 },
                #Predicate { $0.ratio >= ratio }, #Predicate { $0.price > price }, #Predicate { $0.price == price },
                #Predicate { $0.created < day }, #Predicate { $0.created >= day }, #Predicate { $0.changed == day },
                #Predicate { $0.code == code }, #Predicate { $0.code != code }, #Predicate { $0.page == page },
                #Predicate { $0.picture == picture }, #Predicate { $0.name == "Bolt" },
                #Predicate { $0.name != "Bolt" },
                #Predicate { $0.name < "Nut" }, #Predicate { $0.name >= "Nut" }, #Predicate { $0.kind == single },
                #Predicate { $0.kind != single }, #Predicate { $0.kind.rawValue == 2 },
                #Predicate { $0.kind.rawValue > one },
            ])
    }

    @Test(arguments: StoreKind.allCases) func logic(kind: StoreKind) throws {
        let (yes, no) = (true, false)
        try check(
            kind,
            [
                #Predicate { $0.isActive }, #Predicate { !$0.isActive }, #Predicate { $0.isActive == false },
                #Predicate { $0.isActive && $0.stockCount > 2 }, #Predicate { $0.isActive || $0.stockCount > 2 },
                #Predicate { !($0.isActive || $0.stockCount > 2) },
                #Predicate { !($0.note == "a") && !($0.note == nil) },
                #Predicate { $0.stockCount > 2 ? $0.isActive : $0.sold > 0 },
                #Predicate { ($0.stockCount > 2 ? $0.sold : 2) == 2 },
                #Predicate { if $0.stockCount > 2 { $0.isActive } else { $0.sold > 0 } },
                #Predicate { _ in true }, #Predicate { _ in false }, #Predicate { yes || $0.isActive },
                #Predicate { no || $0.isActive }, #Predicate { yes && $0.isActive }, #Predicate { no && $0.isActive },
                #Predicate { $0.isActive == ($0.stockCount > 2) }, #Predicate { $0.note != "a" || $0.isActive },
                #Predicate { !($0.note != "a") }, #Predicate { !($0.supplier?.name == "ACME") },
            ])
    }

    @Test(arguments: StoreKind.allCases) func optionals(kind: StoreKind) throws {
        let (nothing, acme) = (Self.nothing, Self.acme)
        try check(
            kind,
            [
                #Predicate { $0.note == nil }, #Predicate { $0.note != nil }, #Predicate { $0.note == nothing },
                #Predicate { $0.note == acme }, #Predicate { $0.note != acme }, #Predicate { $0.reserved == 2 },
                #Predicate { $0.reserved != 2 }, #Predicate { $0.reserved == nil },
                #Predicate { ($0.reserved ?? 0) == 0 },
                #Predicate { ($0.reserved ?? $0.sold) > 1 }, #Predicate { ($0.note ?? "none") == "none" },
                #Predicate { ($0.note ?? "none").contains("n") }, #Predicate { $0.note?.contains("o") ?? false },
                #Predicate { $0.note?.contains("o") ?? true }, #Predicate { $0.note?.contains("o") == true },
                #Predicate { $0.note?.contains("o") == false }, #Predicate { $0.note?.contains("o") != true },
                #Predicate { $0.note.flatMap { $0.contains("o") } == true },
                #Predicate { if let note = $0.note { note.contains("o") && note != "Bolt" } else { false } },
                #Predicate { if let note = $0.note { note.contains("o") } else { $0.isActive } },
                #Predicate { if let reserved = $0.reserved { reserved > 1 } else { true } },
                #Predicate { $0.note != nil && $0.note! == "Bolt" },
                #Predicate { $0.discount != nil && $0.discount! > 0.25 },
                #Predicate { ($0.discount ?? 1) * 2 > 1 }, #Predicate { ($0.note ?? "") == $0.name },
                #Predicate { ($0.note ?? "") != $0.name },
                #Predicate { $0.note?.isEmpty == true }, #Predicate { $0.note?.isEmpty == false },
                #Predicate { $0.note?.count == 1 }, #Predicate { ($0.note?.count ?? 7) == 7 },
            ])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases) func texts(kind: StoreKind) throws {
        let (part, empty, same, before) = ("ol", "", Self.same, Self.before)
        try check(
            kind,
            [
                #Predicate { $0.name.contains("ol") }, #Predicate { $0.name.contains(part) },
                #Predicate { $0.name.contains("") },
                #Predicate { $0.name.contains(empty) }, #Predicate { $0.name.starts(with: "Nut") },
                #Predicate { $0.name.starts(with: "") }, #Predicate { !$0.name.contains("ol") },
                #Predicate { $0.name.starts(with: $0.name) }, #Predicate { $0.name.isEmpty },
                #Predicate { !$0.name.isEmpty },
                #Predicate { $0.name.count == 4 }, #Predicate { $0.name.count > 3 },
                #Predicate { $0.name.localizedStandardContains("") },
                #Predicate { !$0.name.localizedStandardContains($0.note ?? "") },
                #Predicate { $0.name.localizedStandardContains("BOLT") },
                #Predicate { $0.name.localizedStandardContains("b\u{f6}") },
                #Predicate { $0.name.caseInsensitiveCompare("BOLT") == same },
                #Predicate { $0.name.caseInsensitiveCompare("BOLT") != same },
                #Predicate { $0.name.caseInsensitiveCompare("nut") == before },
                #Predicate { $0.note?.localizedStandardContains("nut") == true },
                #Predicate { "Bolt and Nut".contains($0.name) },
            ])
    }

    @Test(arguments: StoreKind.allCases) func ranges(kind: StoreKind) throws {
        let (bounds, day) = (Self.bounds, RandomShop.day)
        let (dates, prices) = (day...(day + 3600), Decimal(1)..<Decimal(2))
        let (from, through, upTo, since): (PartialRangeFrom<Int16>, _, _, _) = (3..., ...Int16(2), ..<Int16(2), day...)
        try check(
            kind,
            [
                #Predicate { (1...5).contains($0.stockCount) }, #Predicate { (1..<5).contains($0.stockCount) },
                #Predicate { bounds.contains($0.stockCount) }, #Predicate { !bounds.contains($0.stockCount) },
                #Predicate { dates.contains($0.created) }, #Predicate { prices.contains($0.price) },
                #Predicate { ("B"..."N").contains($0.name) }, #Predicate { (0...$0.minimum).contains(4) },
                #Predicate { from.contains($0.stockCount) }, #Predicate { through.contains($0.stockCount) },
                #Predicate { upTo.contains($0.stockCount) }, #Predicate { !upTo.contains($0.stockCount) },
                #Predicate { since.contains($0.created) },
            ])
    }

    @Test(arguments: StoreKind.allCases) func arithmetic(kind: StoreKind) throws {
        let (two, price) = (Int16(2), Decimal(2))
        try check(
            kind,
            [
                #Predicate { $0.stockCount + 1 > 3 }, #Predicate { $0.stockCount - two == 1 },
                #Predicate { $0.stockCount * 2 > 7 },
                #Predicate { -$0.stockCount > 1 }, #Predicate { $0.stockCount / 2 == 1 },
                #Predicate { $0.stockCount / 2 == -1 },
                #Predicate { $0.stockCount % 2 == 1 }, #Predicate { $0.stockCount % 2 == -1 },
                #Predicate { $0.stockCount / 3 == 0 },
                #Predicate { $0.weight / 2 > 0.25 }, #Predicate { $0.weight * $0.weight > 1 },
                #Predicate { $0.price * price > 3 },
                #Predicate { ($0.stockCount + two) * 3 - 1 > $0.stockCount * two }, #Predicate { $0.price + 1 > price },
            ])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases) func relationships(kind: StoreKind) throws {
        try check(
            kind,
            [
                #Predicate { $0.supplier == nil }, #Predicate { $0.supplier != nil },
                #Predicate { $0.supplier?.name == "ACME" },
                #Predicate { $0.supplier?.name != "ACME" }, #Predicate { $0.supplier?.city == nil },
                #Predicate { $0.supplier?.city != nil }, #Predicate { $0.supplier?.city?.contains("s") == true },
                #Predicate { $0.supplier?.city?.contains("s") ?? false },
                #Predicate { $0.supplier?.city?.contains("s") == false },
                #Predicate { ($0.supplier?.rating ?? 0) > 2 },
                #Predicate { $0.supplier != nil && $0.supplier!.rating > 2 },
                #Predicate {
                    if let supplier = $0.supplier {
                        supplier.rating > 2 && supplier.name != "ACME"
                    } else {
                        $0.isActive
                    }
                },
                #Predicate { $0.supplier?.items.count == 30 }, #Predicate { ($0.supplier?.items.count ?? -1) < 30 },
                #Predicate { $0.supplier?.items.isEmpty == true }, #Predicate { $0.supplier?.items.isEmpty == false },
                #Predicate { $0.supplier?.name.localizedStandardContains("acme") == true },
                #Predicate { $0.supplier?.items.contains { $0.stockCount > 7 } ?? false },
            ])
    }

    @Test(arguments: StoreKind.allCases) func collections(kind: StoreKind) throws {
        try check(
            kind,
            [
                #Predicate { $0.parts.isEmpty }, #Predicate { !$0.parts.isEmpty }, #Predicate { $0.parts.count == 2 },
                #Predicate { $0.labels.count > 1 }, #Predicate { $0.labels.isEmpty },
                #Predicate { $0.parts.contains { $0.number > 2 } }, #Predicate { !$0.parts.contains { $0.number > 2 } },
                #Predicate { $0.labels.contains { $0.text == "sale" } },
                #Predicate { $0.parts.allSatisfy { $0.number > 1 } },
                #Predicate { !$0.parts.allSatisfy { $0.number > 1 } },
                #Predicate { $0.parts.allSatisfy { $0.title != nil } },
                #Predicate { $0.parts.contains { $0.title == nil } },
                #Predicate { $0.parts.filter { $0.number > 1 }.count > 1 },
                #Predicate { $0.parts.filter { $0.number > 1 }.isEmpty },
                #Predicate { $0.parts.filter { $0.number > 1 }.contains { $0.title != nil } },
                #Predicate { $0.parts.filter { $0.number > 1 }.allSatisfy { $0.title != nil } },
                #Predicate { item in item.parts.contains { part in part.number == item.stockCount } },
                #Predicate { item in item.parts.contains { ($0.title ?? "?") == item.name || $0.title == item.note } },
                #Predicate { $0.parts.contains { $0.item?.isActive == true } },
                #Predicate { $0.labels.contains { $0.text.starts(with: "s") && $0.text.count == 4 } },
                #Predicate { $0.parts.contains { $0.title?.contains("o") ?? false } },
            ])
    }

    @Test(arguments: StoreKind.allCases) func capturedCollections(kind: StoreKind) throws {
        let (numbers, none, many) = (Self.numbers, [Int16](), Array(Int16(2)...40))
        let (names, notes): (Set<String>, [String?]) = (["Bolt", "Nut"], ["a", nil])
        let (prices, kinds, days) = (
            [Decimal(1), Decimal(string: "1.5")!], [ShopItem.Kind.set, .service], [RandomShop.day]
        )
        let limits = ["low": Int16(2), "high": Int16(6)]
        try check(
            kind,
            [
                #Predicate { numbers.contains($0.stockCount) }, #Predicate { !numbers.contains($0.stockCount) },
                #Predicate { none.contains($0.stockCount) }, #Predicate { many.contains($0.stockCount) },
                #Predicate { names.contains($0.name) }, #Predicate { notes.contains($0.note) },
                #Predicate { prices.contains($0.price) },
                #Predicate { kinds.contains($0.kind) }, #Predicate { days.contains($0.created) },
                #Predicate { [1, 2].contains($0.sold) },
                #Predicate { item in numbers.contains { $0 == item.stockCount } },
                #Predicate { item in numbers.contains { $0 + 1 == item.stockCount } },
                #Predicate { item in numbers.allSatisfy { $0 > item.stockCount } },
                #Predicate { item in none.allSatisfy { $0 > item.stockCount } },
                #Predicate { item in numbers.filter { $0 > item.stockCount }.count == 2 },
                #Predicate { item in numbers.filter { $0 > item.stockCount }.isEmpty },
                #Predicate { item in none.filter { $0 > item.stockCount }.count == 0 },
                #Predicate { item in many.filter { $0 > item.stockCount && $0 < 30 }.count < 25 },
                #Predicate { item in numbers.filter { $0 > item.stockCount }.count > item.parts.count },
                #Predicate { $0.stockCount > numbers[0] && $0.stockCount < numbers[2] },
                #Predicate { $0.stockCount < limits["low"]! },
                #Predicate { $0.stockCount == limits["low", default: 0] },
                #Predicate { $0.minimum < 2 && numbers.count > 2 },
                #Predicate { item in item.parts.contains { numbers.contains($0.number) } },
            ])
    }

    private func check(_ kind: StoreKind, _ predicates: [Predicate<ShopItem>]) throws {
        let shop = try RandomShop(kind)
        #expect(try shop.context.fetch(ShopItem.self).count == 150)
        try checkEverywhere(predicates, in: shop.context)
    }
}
