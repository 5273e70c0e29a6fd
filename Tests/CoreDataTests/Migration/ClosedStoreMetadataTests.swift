import CoreData
import TestSupport
import Testing

/// Metadata that a program gives to a store that is not open, which say nothing of the model.
struct ClosedStoreMetadataTests {
    @Test(arguments: StoreKind.persistent) func aStoreCanBeMigratedAfterwards(kind: StoreKind) throws {  // 302
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item", ["name": "a"]) }
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: store.url)
        try NSPersistentStoreCoordinator.setMetadata(
            ["city": "Rome"], forPersistentStoreOfType: kind.type, at: store.url)
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: store.url)
        #expect(after["city"] as? String == "Rome")
        #expect(Set(after.keys) == Set(before.keys).union(["city"]))
        let new = model(entity("Item", text("name"), text("note")))
        try store.migrate(to: new)
        #expect(try store.open(new) { try $0.values("Item", "name") } == ["a"])
        // A program's own entries are replaced, as those of an open store are.
        try NSPersistentStoreCoordinator.setMetadata(nil, forPersistentStoreOfType: kind.type, at: store.url)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: store.url)["city"] == nil
        )
    }
}
