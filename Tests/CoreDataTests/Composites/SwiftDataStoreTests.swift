import TestSupport
import Testing

@testable import CoreData

/// Stores laid out as SwiftData has them, written as SQL: the elements of a composite attribute are
/// columns of the entity.
struct SwiftDataStoreTests {
    private static let table =
        "CREATE TABLE ZORDER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZZIP INTEGER, ZID1 INTEGER, "
        + "ZOPACITY FLOAT, "
        + "ZOPACITY1 FLOAT, ZCITY VARCHAR, ZID VARCHAR, ZNAME VARCHAR, ZFRESH VARCHAR, ZUSED VARCHAR, ZSTATUS VARCHAR )"

    /// An optional structure, a structure with an element named like an attribute, two composites
    /// of one type, an enumeration without a raw value and one with.
    private static func model() -> NSManagedObjectModel {
        func element(_ name: String, _ type: NSAttributeType = .stringAttributeType, optional: Bool = false)
            -> NSAttributeDescription
        {
            NSAttributeDescription(name, type, optional: optional)
        }
        let order = NSEntityDescription(
            "Order", class: "NSManagedObject",
            [
                NSCompositeAttributeDescription(
                    "address", element("city", optional: true),
                    element("zip", .integer64AttributeType, optional: true)),
                NSCompositeAttributeDescription("author", optional: false, element("id"), element("name")),
                NSAttributeDescription("id", .integer64AttributeType, optional: false, default: 0),
                NSCompositeAttributeDescription(
                    "kind", optional: false, isEnumeration: true, element("fresh", optional: true),
                    element("used", optional: true)),
                NSCompositeAttributeDescription("light", optional: false, element("opacity", .doubleAttributeType)),
                NSCompositeAttributeDescription("shade", optional: false, element("opacity", .doubleAttributeType)),
                NSCompositeAttributeDescription("status", optional: false, isEnumeration: true, element("status")),
            ])
        let model = NSManagedObjectModel([order])
        model.versionIdentifiers = ["1.0.0"]
        return model
    }

    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("default.store")
        let model = Self.model()
        let metadata = try StoreMetadata.encode(StoreMetadata.make(for: model.entities, of: model))
        let file = SQLiteFile(url)
        for statement in [
            Self.table,
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)", "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Order', 0, 2)",
            "INSERT INTO Z_METADATA VALUES (1, '2C2A1A8E-7E55-4B6F-9B0C-0A3C1F0E5D11', x'\(Self.hex(metadata))')",
            "INSERT INTO Z_MODELCACHE VALUES (x'\(Self.hex(try model.encodedModelCache()))')",
            "INSERT INTO ZORDER VALUES (1, 1, 1, 1010, 7, 0.5, 0.25, 'Vienna', 'a1', 'Ada', NULL, 'used', 'open')",
            "INSERT INTO ZORDER VALUES (2, 1, 3, NULL, 8, 1.0, 0.0, NULL, 'b2', 'Bob', 'fresh', NULL, 'closed')",
        ] {
            #expect(file.execute(statement), "\(statement)")
        }
    }

    private static func hex(_ data: Data) -> String {
        data.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// The store with the model that it keeps in itself.
    private func open() throws -> TestStack {
        try TestStack(try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url), url: url)
    }

    private func orders(_ format: String?, _ context: NSManagedObjectContext, by key: String = "id") throws
        -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }

    @Test func aNewStoreHasTheElementsAsColumns() throws {
        let other = folder.file("new.store")
        _ = try TestStack(Self.model(), url: other)
        #expect(SQLiteFile(other).value("SELECT sql FROM sqlite_master WHERE name = 'ZORDER'") == Self.table)
    }

    @Test func compositesAreReadAsDictionaries() throws {
        let stack = try open()
        let orders = try orders(nil, stack.context)
        #expect(orders.map { $0.value(forKey: "id") as? Int } == [7, 8])
        let address = try #require(orders[0].value(forKey: "address") as? [String: Any])
        #expect(address["city"] as? String == "Vienna")
        #expect(address["zip"] as? Int == 1010)
        #expect(orders[1].value(forKey: "address") == nil)
        #expect(orders.map { ($0.value(forKey: "author") as? [String: Any])?["id"] as? String } == ["a1", "b2"])
        #expect(orders.map { $0.value(forKeyPath: "light.opacity") as? Double } == [0.5, 1])
        #expect(orders.map { $0.value(forKeyPath: "shade.opacity") as? Double } == [0.25, 0])
        #expect(orders.map { $0.value(forKey: "kind") as? [String: String] } == [["used": "used"], ["fresh": "fresh"]])
        #expect(orders.map { $0.value(forKeyPath: "status.status") as? String } == ["open", "closed"])
    }

    @Test(arguments: [
        ("address.city == 'Vienna'", [7]), ("address.zip > 1000", [7]), ("address == nil", [8]),
        ("address != nil", [7]),
        ("author.id == 'b2' AND id == 8", [8]), ("shade.opacity < light.opacity", [7, 8]), ("kind.used != nil", [7]),
        ("status.status IN {'open', 'none'}", [7]), ("author.name BEGINSWITH 'B'", [8]),
        ("author.name.length == 3", [7, 8]),
        ("address.city ==[c] 'VIENNA'", [7]), ("NOT (status.status CONTAINS 'o')", []), ("kind == kind", [7, 8]),
    ])
    func predicatesReachElements(_ format: String, _ ids: [Int]) throws {
        let stack = try open()
        #expect(try orders(format, stack.context).map { $0.value(forKey: "id") as? Int } == ids)
    }

    @Test func resultsAreSortedByElements() throws {
        let stack = try open()
        #expect(try orders(nil, stack.context, by: "shade.opacity").map { $0.value(forKey: "id") as? Int } == [8, 7])
    }

    @Test func changedElementsAreWrittenAlone() throws {
        let stack = try open()
        let order = try orders("id == 7", stack.context)[0]
        order.setValue("Graz", forKeyPath: "address.city")
        #expect(order.changedValues().keys.sorted() == ["address"])
        try stack.context.save()
        let columns = "SELECT Z_OPT, ZCITY, ZZIP, ZID, ZID1, ZOPACITY, ZUSED, ZSTATUS FROM ZORDER WHERE Z_PK = 1"
        #expect(stack.file.rows(columns) == [["2", "Graz", "1010", "a1", "7", "0.5", "used", "open"]])
    }

    @Test func newRowsHaveTheirElementsInColumns() throws {
        let stack = try open()
        let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: stack.context)
        order.setValue(9, forKey: "id")
        order.setValue(["id": "c3", "name": "Cyd"], forKey: "author")
        order.setValue(["fresh": "fresh"], forKey: "kind")
        order.setValue(["opacity": 0.75], forKey: "light")
        order.setValue(["opacity": 0.1], forKey: "shade")
        order.setValue(["status": "open"], forKey: "status")
        try stack.context.save()
        let columns =
            "SELECT ZID1, ZID, ZNAME, ZCITY, ZZIP, ZOPACITY, ZOPACITY1, ZFRESH, ZUSED, ZSTATUS FROM ZORDER WHERE "
            + "Z_PK = 3"
        #expect(stack.file.rows(columns) == [["9", "c3", "Cyd", nil, nil, "0.75", "0.1", "fresh", nil, "open"]])
    }

    @Test func aRequiredEnumerationIsNeverWithoutACase() throws {
        let stack = try open()
        let order = try orders("id == 7", stack.context)[0]
        order.setValue(nil, forKey: "kind")
        let error = errorThrown { try stack.context.save() }
        #expect(error?.code == CocoaError.validationMissingMandatoryProperty.rawValue)
        #expect(error?.validationKeys == ["kind"])
    }
}
