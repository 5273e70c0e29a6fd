import TestSupport
import Testing

@testable import CoreData

/// Composite attributes and their elements from version to version.
struct CompositeMigrationTests {
    private let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private func item(_ composite: NSPropertyDescription) -> NSManagedObjectModel {
        model(entity("Item", text("name"), composite))
    }

    /// A store with two items, one of them without a value.
    private func fill(_ store: MigratedStore, _ old: NSManagedObjectModel, _ key: String, _ value: Any) throws {
        try store.open(old) { context in
            context.insert("Item", ["name": "a", key: value])
            context.insert("Item", ["name": "b"])
        }
    }

    @Test(arguments: StoreKind.persistent) func elementsAreAddedRemovedAndRenamed(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try fill(
            store,
            item(NSCompositeAttributeDescription("size", number("width"), number("depth"), text("unit"))), "size",
            ["width": 1, "depth": 2, "unit": "m"])
        let new = item(
            NSCompositeAttributeDescription(
                "size", number("breadth", was: "width"), text("unit"), text("note"),
                number("count", optional: false, default: 3)))
        try store.migrate(to: new)
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT ZBREADTH, ZUNIT, ZNOTE, ZCOUNT FROM ZITEM ORDER BY Z_PK") == [
                    ["1", "m", nil, "3"], [nil, nil, nil, nil],
                ])
    }

    @Test(arguments: StoreKind.persistent) func compositesAreRenamedWithTheirElements(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try fill(
            store, item(NSCompositeAttributeDescription("size", number("width"), text("unit"))), "size",
            ["width": 1, "unit": "m"])
        try store.migrate(
            to: item(
                NSCompositeAttributeDescription("measure", was: "size", text("unit"), number("width"), text("more"))))
        try store.open(item(NSCompositeAttributeDescription("measure", text("unit"), number("width"), text("more")))) {
            context in
            let widths = try context.objects("Item", by: "name").map { $0.value(forKeyPath: "measure.width") as? Int }
            #expect(widths == [1, nil])
        }
    }

    @Test(arguments: StoreKind.persistent) func anAttributeBecomesTheElementOfItsNameAndBack(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        let plain = model(entity("Item", text("name"), text("status")))
        try fill(store, plain, "status", "open")
        let composite = item(NSCompositeAttributeDescription("status", isEnumeration: true, text("status")))
        try store.migrate(to: composite)
        #expect(kind != .sqlite || store.file.column("SELECT ZSTATUS FROM ZITEM ORDER BY Z_PK") == ["open", nil])
        try store.migrate(to: plain)
        #expect(kind != .sqlite || store.file.column("SELECT ZSTATUS FROM ZITEM ORDER BY Z_PK") == ["open", nil])
    }

    @Test(arguments: StoreKind.persistent) func elementsComeFromAttributesThatTheirRenamingIdentifiersName(
        kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        let plain = model(entity("Item", text("name"), text("city"), number("zip")))
        try store.open(plain) { $0.insert("Item", ["name": "a", "city": "Vienna", "zip": 1010]) }
        let composite = item(
            NSCompositeAttributeDescription("address", text("town", was: "city"), number("code", was: "zip")))
        try store.migrate(to: composite)
        #expect(kind != .sqlite || store.file.rows("SELECT ZTOWN, ZCODE FROM ZITEM") == [["Vienna", "1010"]])
        try store.migrate(to: model(entity("Item", text("name"), text("city", was: "address.town"))))
        #expect(kind != .sqlite || store.file.rows("SELECT ZCITY FROM ZITEM") == [["Vienna"]])
    }

    @Test(arguments: StoreKind.persistent) func aCompositeThatIsRequiredNowIsMadeOfItsDefaults(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try fill(
            store, item(NSCompositeAttributeDescription("size", number("width"), text("unit"))), "size",
            ["width": 1, "unit": "m"])
        let required = NSCompositeAttributeDescription(
            "size", optional: false, number("width", optional: false, default: 7), text("unit", default: "cm"))
        try store.migrate(to: item(required))
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT ZWIDTH, ZUNIT FROM ZITEM ORDER BY Z_PK") == [["1", "m"], ["7", "cm"]])
    }

    /// A required element of an optional composite attribute is required only of objects that have
    /// the composite value.
    @Test(arguments: StoreKind.persistent) func anOptionalCompositeWithARequiredElementIsNewBesideObjects(
        kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item", ["name": "a"]) }
        let new = item(NSCompositeAttributeDescription("size", number("width", optional: false), text("unit")))
        try store.migrate(to: new)
        try store.open(new) { context in
            let sizes = try context.objects("Item", by: "name").map { $0.value(forKey: "size") == nil }
            #expect(sizes == [true])
        }
    }

    @Test func whatCannotBeInferredIsNamed() throws {
        try fill(
            store, item(NSCompositeAttributeDescription("size", number("width"), text("unit"))), "size", ["width": 1])
        for (composite, part) in [
            (NSCompositeAttributeDescription("size", text("width"), text("unit")), "size.width"),
            (NSCompositeAttributeDescription("size", number("width"), number("count", optional: false)), "size.count"),
            (NSCompositeAttributeDescription("size", number("length")), "none of its former elements"),
            (NSCompositeAttributeDescription("place", optional: false, text("x", optional: false)), "place.x"),
        ] {
            let error = try store.refusal(item(composite))
            #expect("\(error) \(error.userInfo)".contains(part), "\(error)")
        }
    }

    // MARK: Stores with archived composite attributes

    private static func sizes() -> NSCompositeAttributeDescription {
        NSCompositeAttributeDescription(
            "size", number("width"), NSAttributeDescription("price", .decimalAttributeType),
            NSAttributeDescription("made", .dateAttributeType),
            NSCompositeAttributeDescription("unit", text("symbol")))
    }

    /// A store as this project wrote it before: one column for the composite attribute, and the
    /// hashes of that form.
    private func archivedStore() throws -> NSManagedObjectModel {
        let model = item(Self.sizes())
        try store.open(model) { context in
            context.insert("Item", ["name": "a"])
            context.insert("Item", ["name": "b"])
        }
        let values: [String: Any] = [
            "width": 4, "price": NSDecimalNumber(string: "1.25"), "made": Date(timeIntervalSinceReferenceDate: 100),
            "unit": ["symbol": "m"],
        ]
        let archive = try #require(TransformableArchive.data(from: values))
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: store.url)
        let hash = Data(VersionHash.entity(try #require(model.entitiesByName["Item"]), archivesComposites: true))
        metadata[NSStoreModelVersionHashesKey] = ["Item": hash]
        func hex(_ data: Data) -> String { data.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined() }
        let file = store.file
        for statement in [
            "ALTER TABLE ZITEM DROP COLUMN ZWIDTH", "ALTER TABLE ZITEM DROP COLUMN ZPRICE",
            "ALTER TABLE ZITEM DROP COLUMN ZMADE",
            "ALTER TABLE ZITEM DROP COLUMN ZSYMBOL", "ALTER TABLE ZITEM ADD COLUMN ZSIZE BLOB",
            "UPDATE ZITEM SET ZSIZE = x'\(hex(archive))' WHERE ZNAME = 'a'",
            "UPDATE Z_METADATA SET Z_PLIST = x'\(hex(try StoreMetadata.encode(metadata)))'",
        ] {
            #expect(file.execute(statement), "\(statement)")
        }
        return item(Self.sizes())
    }

    @Test func archivedCompositesGetColumnsByMigration() throws {
        let model = try archivedStore()
        try store.migrate(to: model)
        #expect(
            store.file.rows("SELECT ZNAME, ZWIDTH, ZPRICE, ZMADE, ZSYMBOL FROM ZITEM ORDER BY Z_PK") == [
                ["a", "4", "1.25", "100", "m"], ["b", nil, nil, nil, nil],
            ])
        try store.open(item(Self.sizes())) { context in
            let symbols = try context.objects("Item", by: "name").map {
                $0.value(forKeyPath: "size.unit.symbol") as? String
            }
            #expect(symbols == ["m", nil])
        }
    }

    @Test func withoutMigrationArchivedCompositesAreNamed() throws {
        let model = try archivedStore()
        let error = try store.refusal(model, [:])
        #expect(error.code == CocoaError.persistentStoreIncompatibleVersionHash.rawValue)
        #expect(error.localizedDescription.contains("archived dictionary"), "\(error)")
    }
}

private func number(_ name: String, was former: String) -> NSAttributeDescription {
    let attribute = NSAttributeDescription(name, .integer64AttributeType)
    attribute.renamingIdentifier = former
    return attribute
}
