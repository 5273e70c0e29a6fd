import CoreData
import TestSupport
import Testing

/// Derived values, which the root's save makes, in the levels below it.
@Suite(.foldsTexts) struct DerivedInTreeTests {
    @Test("What the store has derived meanwhile is no conflict with a parent", arguments: StoreKind.allCases)
    func whatTheStoreHasDerivedIsNoConflict(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let child = stack.context.newChild()
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: child)
        for name in ["Mug", "Cup", "Glass"] {
            new.setValue(name, forKey: "name")
            try child.save()
            try stack.context.save()
            #expect(try stack.values("upperName", of: "Item", by: "stock").contains(name.uppercased()))
        }
        child.refresh(new, mergeChanges: false)
        #expect(new.value(forKey: "upperName") as? String == "GLASS")
        child.delete(new)
        try child.save()
        try stack.context.save()
        #expect(try stack.values("sku", of: "Item", by: "sku").count == 5)
        withExtendedLifetime((stack, child)) {}
    }
}
