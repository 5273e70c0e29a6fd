import CoreData
import TestSupport
import Testing

final class SpecialItem: NSManagedObject {
    @Managed var name: String?
    @Managed var list: NSArray?
    @Managed var reversed: String?
    @Managed var blob: Data?
    @Managed var uuid: UUID?
    @Managed var link: URL?
    @Managed var price: NSDecimalNumber?
    @Managed var cache: String?
    @Managed var short: Int16
    @Managed var double: Double
    @Managed var flag: Bool
    @Managed var optionalLong: Int64?
    // As Xcode declares transformable attributes, and in less.
    @Managed(key: "list") var listAsObject: NSObject?
    @Managed(key: "list") var requiredList: NSObject
    @Managed(key: "list") var listAsAnyObject: AnyObject?
    @Managed(key: "list") var listAsAny: Any?
}

/// Stores a text as the bytes of its characters in reverse order.
final class ReversingTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { Data(String($0.reversed()).utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
}

@Suite(.everyStore) struct SpecialAttributeTests {
    let stack: TestStack
    static let large = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    static let transformer = NSValueTransformerName("SpecialAttributeTestsReversing")

    init() throws {
        ValueTransformer.setValueTransformer(ReversingTransformer(), forName: Self.transformer)
        let reversed = NSAttributeDescription("reversed", .transformableAttributeType)
        reversed.valueTransformerName = Self.transformer.rawValue
        let blob = NSAttributeDescription("blob", .binaryDataAttributeType)
        blob.allowsExternalBinaryDataStorage = true
        let cache = NSAttributeDescription("cache", .stringAttributeType)
        cache.isTransient = true
        stack = try TestStack([
            NSEntityDescription(
                "Item", class: "SpecialItem",
                [
                    .init("name", .stringAttributeType), .init("list", .transformableAttributeType), reversed, blob,
                    .init("uuid", .UUIDAttributeType), .init("link", .URIAttributeType),
                    .init("price", .decimalAttributeType), cache, .init("short", .integer16AttributeType),
                    .init("double", .doubleAttributeType), .init("flag", .booleanAttributeType),
                    .init("optionalLong", .integer64AttributeType),
                ])
        ])
    }

    func fresh() throws -> SpecialItem {
        try #require(try stack.newContext().fetch(NSFetchRequest<SpecialItem>(entityName: "Item")).first)
    }

    @Test func aTransformableAttributeMayBeDeclaredAsAnyObject() throws {
        let item = SpecialItem(context: stack.context)
        #expect(item.listAsObject == nil)
        #expect(item.listAsAnyObject == nil)
        #expect(item.listAsAny == nil)
        item.listAsObject = ["one"] as NSArray
        try stack.context.save()
        let fetched = try fresh()
        #expect(fetched.listAsObject == ["one"] as NSArray)
        #expect(fetched.requiredList == ["one"] as NSArray)
        #expect(fetched.listAsAnyObject as? NSArray == ["one"])
        #expect(fetched.listAsAny as? NSArray == ["one"])
        item.listAsAny = ["two"] as NSArray
        #expect(item.list == ["two"])
    }

    @Test("324: a transformable attribute without transformer is stored as a keyed archive")
    func transformablesAreArchived() throws {
        let item = SpecialItem(context: stack.context)
        item.list = ["one", "two"]
        try stack.context.save()
        let start = stack.kind == .sqlite ? "hex(substr({list}, 1, 6))" : "upper(encode(substr({list}, 1, 6), 'hex'))"
        stack.expectColumn("SELECT \(start) FROM {item}", is: ["62706C697374"])
        let stored = try fresh()
        #expect(stored.list as? [String] == ["one", "two"])
    }

    @Test("324: a transformable attribute with a named transformer is stored as its forward direction gives it")
    func transformablesUseTheirTransformer() throws {
        let item = SpecialItem(context: stack.context)
        item.reversed = "abc"
        try stack.context.save()
        let text = stack.kind == .sqlite ? "CAST({reversed} AS TEXT)" : "convert_from({reversed}, 'UTF8')"
        stack.expectColumn("SELECT \(text) FROM {item}", is: ["cba"])
        #expect(try fresh().reversed == "abc")
    }

    @Test("325: a change inside a transformable's value is not noticed, a new value is")
    func mutationsOfTransformablesAreNotNoticed() throws {
        let item = SpecialItem(context: stack.context)
        let list = NSMutableArray(array: ["one"])
        item.list = list
        try stack.context.save()
        list.add("two")
        #expect(!item.hasChanges)
        item.list = ["one", "two"]
        #expect(item.hasChanges)
        try stack.context.save()
        #expect(try fresh().list as? [String] == ["one", "two"])
    }

    @Test("325: a transformable's value stays the same object through a save") func savesKeepTransformedObjects() throws
    {
        let item = SpecialItem(context: stack.context)
        let list = NSMutableArray(array: ["one"])
        item.list = list
        try stack.context.save()
        #expect(item.value(forKey: "list") as AnyObject === list)
        list.add("two")
        #expect(try fresh().list as? [String] == ["one"])
    }

    @Test("326: large data reads back the same") func largeDataReadsBack() throws {
        let item = SpecialItem(context: stack.context)
        item.blob = Self.large
        let small = SpecialItem(context: stack.context)
        small.blob = Data([1, 2, 3])
        try stack.context.save()
        let context = stack.newContext()
        #expect((try context.existingObject(with: item.objectID) as? SpecialItem)?.blob == Self.large)
        #expect((try context.existingObject(with: small.objectID) as? SpecialItem)?.blob == Data([1, 2, 3]))
    }

    @Test("332: UUID, URI and decimal values read back equal") func identifiersAndDecimalsReadBack() throws {
        let item = SpecialItem(context: stack.context)
        let uuid = UUID()
        item.uuid = uuid
        item.link = URL(string: "https://example.org/a?b=c#d")
        item.price = NSDecimalNumber(string: "12345.6789")
        try stack.context.save()
        let size = stack.kind == .sqlite ? "length({uuid})" : "pg_column_size({uuid})"
        stack.expectColumn("SELECT \(size) FROM {item}", is: ["16"])
        let stored = try fresh()
        #expect(stored.uuid == uuid)
        #expect(stored.link == URL(string: "https://example.org/a?b=c#d"))
        #expect(stored.price == NSDecimalNumber(string: "12345.6789"))
        #expect(stored.value(forKey: "uuid") as? UUID == uuid)
        #expect(stored.value(forKey: "price") is NSDecimalNumber)
        #expect(stored.value(forKey: "link") as? URL == item.link)
    }

    @Test("333: number accessors of nil give zero and false") func numbersOfNilAreZero() throws {
        let item = SpecialItem(context: stack.context)
        #expect(item.short == 0)
        #expect(item.double == 0)
        #expect(item.flag == false)
        #expect(item.optionalLong == nil)
        #expect(item.value(forKey: "short") == nil)
        try stack.context.save()
        #expect(stack.stored("short", of: "Item") == [nil])
        let stored = try fresh()
        #expect(stored.short == 0)
        #expect(stored.double == 0)
        #expect(!stored.flag)
        #expect(stored.optionalLong == nil)
        stored.optionalLong = 5
        stored.flag = true
        try stored.managedObjectContext?.save()
        #expect(stack.stored("optionalLong", of: "Item") == ["5"])
        stack.expectColumn("SELECT {flag} FROM {item}", is: [stack.kind == .sqlite ? "1" : "t"])
        let changed = try fresh()
        #expect(changed.optionalLong == 5)
        #expect(changed.flag)
    }

    @Test("334: transient attributes have no column and are not stored") func transientsAreNotStored() throws {
        let item = SpecialItem(context: stack.context)
        item.cache = "x"
        try stack.context.save()
        if let tables = stack.tables {
            let columns = tables.column(
                stack.kind == .sqlite
                    ? "SELECT name FROM pragma_table_info('ZITEM')"
                    : "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('item')")
            let (cache, name) = stack.kind == .sqlite ? ("ZCACHE", "ZNAME") : ("cache", "name")
            #expect(!columns.contains(cache))
            #expect(columns.contains(name))
        }
        #expect(try fresh().cache == nil)
    }

    @Test("334: a fetch on a transient attribute fails") func transientsCannotBeFetchedOn() throws {
        let request = NSFetchRequest<SpecialItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "cache == 'x'")
        #expect(errorThrown { _ = try stack.context.fetch(request) } != nil)
    }
}

/// Large data, which a store of SQLite keeps outside of its file.
struct ExternalDataFileTests {
    private let stack: TestStack

    init() throws { stack = try SpecialAttributeTests().stack }

    private func externalFiles() -> [String] {
        let folder = stack.url.deletingLastPathComponent().appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    @Test("326: large data lies in a file beside the store and reads back the same")
    func largeDataLiesBesideTheStore() throws {
        let item = SpecialItem(context: stack.context)
        item.blob = SpecialAttributeTests.large
        let small = SpecialItem(context: stack.context)
        small.blob = Data([1, 2, 3])
        try stack.context.save()
        #expect(externalFiles().count == 1)
        #expect(stack.file.integer("SELECT MAX(LENGTH(ZBLOB)) < 1000 FROM ZITEM") == 1)
        let context = stack.newContext()
        #expect((try context.existingObject(with: item.objectID) as? SpecialItem)?.blob == SpecialAttributeTests.large)
        #expect((try context.existingObject(with: small.objectID) as? SpecialItem)?.blob == Data([1, 2, 3]))
    }

    @Test("327: the file of large data goes with its object") func externalFilesGoWithTheirObject() throws {
        let item = SpecialItem(context: stack.context)
        item.blob = Data(count: 400_000)
        try stack.context.save()
        #expect(externalFiles().count == 1)
        stack.context.delete(item)
        try stack.context.save()
        #expect(externalFiles().isEmpty)
    }
}
