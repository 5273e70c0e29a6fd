import SafeCoreData
import TestSupport
import Testing

// How programs made objects read-only before there were views: a protocol an entity, written by
// hand, with sets whose type is erased because a set of a class cannot be a set of a protocol. It
// goes on working, beside views.

protocol ShopSupplierRO: AnyObject {
    var name: String { get }
    var itemsRO: AnyCollection<any ShopItemRO> { get }
}

protocol ShopItemRO: AnyObject {
    var name: String { get }
    var stockCount: Int16 { get }
    var supplierRO: (any ShopSupplierRO)? { get }
}

extension ShopSupplier: ShopSupplierRO {
    var itemsRO: AnyCollection<any ShopItemRO> { AnyCollection(items.lazy.map { $0 as any ShopItemRO }) }
}

extension ShopItem: ShopItemRO {
    var supplierRO: (any ShopSupplierRO)? { supplier }
}

/// Read-only protocols written by hand.
struct ReadOnlyProtocolTests {
    private func stock(_ supplier: any ShopSupplierRO) -> Int {
        supplier.itemsRO.reduce(0) { $0 + Int($1.stockCount) }
    }

    private func stock(_ supplier: ReadOnly<ShopSupplier>) -> Int {
        supplier.items.reduce(0) { $0 + Int($1.stockCount) }
    }

    /// Works with views of any class that has what it needs, without a protocol.
    private func total<Owner, Member: NSManagedObject>(
        of owner: ReadOnly<Owner>, _ members: KeyPath<Owner, Set<Member>>, _ value: KeyPath<Member, Int16>
    ) -> Int {
        owner[dynamicMember: members].reduce(0) { $0 + Int($1[value]) }
    }

    @Test func aFunctionOverViewsDoesWhatOneOverProtocolsDoes() throws {
        let context = try Shop.coordinator().newContext()
        let supplier = ShopSupplier(context: context)
        supplier.name = "ACME"
        for count in 1...4 {
            let item = ShopItem(context: context)
            item.stockCount = Int16(count)
            item.supplier = supplier
        }
        #expect(stock(supplier as any ShopSupplierRO) == 10)
        #expect(stock(ReadOnly(supplier)) == 10)
        #expect(total(of: ReadOnly(supplier), \.items, \.stockCount) == 10)
        #expect(supplier.itemsRO.allSatisfy { $0.supplierRO === supplier })
        #expect(ReadOnly(supplier).items.allSatisfy { $0.supplier == ReadOnly(supplier) })
    }
}
