import CoreData
import TestSupport
import Testing

/// What a store in one file keeps although the program at hand cannot read or name it.
struct FileStoreSafekeepingTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store")
    }

    // MARK: - Transformables

    private static func model(transformer name: String) -> NSManagedObjectModel {
        let seal = NSAttributeDescription("seal", .transformableAttributeType)
        seal.valueTransformerName = name
        return NSManagedObjectModel([
            NSEntityDescription("Letter", class: "NSManagedObject", [.init("name", .stringAttributeType), seal])
        ])
    }

    /// Registers a transformer under a name of one test alone.
    private func register(_ transformer: ValueTransformer, _ name: String = UUID().uuidString) -> String {
        ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return name
    }

    @Test(arguments: FileStoreType.allCases) func anArchiveOfTwoRootsComesBackWhole(type: FileStoreType) throws {
        let name = register(TwoRootsTransformer())
        let stack = try FileStoreStack(Self.model(transformer: name), type, at: url)
        _ = stack.insert("Letter", ["seal": "red" as NSString])
        try stack.context.save()
        let again = try FileStoreStack(Self.model(transformer: name), type, at: url)
        #expect(try again.values("Letter", "seal").map { $0 as? String } == ["red"])
    }

    @Test(arguments: FileStoreType.allCases) func bytesThatATransformerRefusesAreKept(type: FileStoreType) throws {
        let name = register(TwoRootsTransformer())
        let first = try FileStoreStack(Self.model(transformer: name), type, at: url)
        _ = first.insert("Letter", ["name": "a", "seal": "red" as NSString])
        try first.context.save()
        _ = register(RefusingTransformer(), name)
        let second = try FileStoreStack(Self.model(transformer: name), type, at: url)
        let letter = try #require(try second.all("Letter").first)
        #expect(letter.value(forKey: "seal") == nil)
        letter.setValue("b", forKey: "name")
        _ = second.insert("Letter", ["name": "c"])
        try second.context.save()
        _ = register(TwoRootsTransformer(), name)
        let third = try FileStoreStack(Self.model(transformer: name), type, at: url)
        #expect(try third.all("Letter", by: "name").map { $0.value(forKey: "seal") as? String } == ["red", nil])
    }

    @Test(arguments: FileStoreType.allCases) func transformablesOfPlainValuesComeBack(type: FileStoreType) throws {
        let values: [NSObject] = [
            "text" as NSString, NSNumber(value: 1.5), Date(timeIntervalSinceReferenceDate: 3.25) as NSDate,
            UUID() as NSUUID, URL(string: "https://a.b/c")! as NSURL, [] as NSArray, [:] as NSDictionary,
            ["d": Data([1]), "n": NSNull()] as NSDictionary, Data() as NSData,
        ]
        let stack = try FileStoreStack(type, at: url)
        for (number, value) in values.enumerated() { _ = stack.insert("Thing", ["small": number, "list": value]) }
        try stack.context.save()
        let again = try FileStoreStack(type, at: url)
        let read = try again.all("Thing", by: "small").map { $0.value(forKey: "list") }
        #expect(read.count == values.count)
        for (value, expected) in zip(read, values) {
            #expect((value as? NSObject)?.isEqual(expected) == true, "\(expected)")
        }
    }

    /// A value that no reader would accept is not written.
    @Test(arguments: FileStoreType.allCases, [30, 31, 500])
    func aDeepTransformableIsReadAgainOrRefused(type: FileStoreType, depth: Int) throws {
        var nested: NSArray = ["leaf"]
        for _ in 0..<depth { nested = [nested] }
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
        let thing = stack.insert("Thing", ["list": nested])
        let error = errorThrown { try stack.context.save() }
        #expect((error == nil) == (depth == 30))
        #expect(thing.isInserted == (error != nil))
        let again = try FileStoreStack(type, at: url)
        #expect(try again.values("Tag", "label").map { $0 as? String } == ["a"])
        let read = try again.values("Thing", "list").map { ($0 as? NSArray)?.isEqual(nested) }
        #expect(read == (error == nil ? [true] : []))
    }

    // MARK: - Identifiers

    /// Removes the UUID from the metadata of a file.
    private func removeIdentifier(_ type: FileStoreType) throws {
        var data = try Data(contentsOf: url)
        switch type {
        case .xml:
            let text = String(decoding: data, as: UTF8.self)
            data = Data(
                text.replacingOccurrences(of: "<UUID>.*</UUID>", with: "<UUID></UUID>", options: .regularExpression)
                    .utf8)
        case .binary:
            let place = try #require(data.range(of: Data("NSStoreUUID".utf8)))
            data.replaceSubrange(place, with: Data("NSOtherUUID".utf8))
        }
        try data.write(to: url)
    }

    private func identifiers(_ type: FileStoreType, options: [AnyHashable: Any]? = nil) throws -> [URL] {
        try FileStoreStack(type, at: url, options: options).all("Tag").map { $0.objectID.uriRepresentation() }
    }

    private func fill(_ type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
    }

    @Test(arguments: FileStoreType.allCases) func aFileThatLostItsIdentifierGetsOneThatStays(type: FileStoreType) throws
    {
        try fill(type)
        try removeIdentifier(type)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
        #expect(read[NSStoreUUIDKey] == nil)
        let first = try identifiers(type)
        #expect(first.count == 1)
        #expect(first.first?.host?.isEmpty == false)
        #expect(try identifiers(type) == first)
    }

    @Test(arguments: FileStoreType.allCases) func aReadOnlyFileWithoutAnIdentifierIsReadAndStays(type: FileStoreType)
        throws
    {
        try fill(type)
        try removeIdentifier(type)
        let before = try Data(contentsOf: url)
        #expect(try identifiers(type, options: [NSReadOnlyPersistentStoreOption: true]).count == 1)
        #expect(try Data(contentsOf: url) == before)
    }
}

/// Archives a text beside another root object.
private final class TwoRootsTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? NSString else { return nil }
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("the root" as NSString, forKey: NSKeyedArchiveRootObjectKey)
        archiver.encode(text, forKey: "second")
        return archiver.encodedData
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        // Decoding a root that is missing would end the program.
        guard let data = value as? Data, let archive = try? NSKeyedUnarchiver(forReadingFrom: data),
            archive.containsValue(forKey: "second")
        else { return nil }
        return archive.decodeObject(of: NSString.self, forKey: "second")
    }
}

/// Reads nothing.
private final class RefusingTransformer: ValueTransformer, @unchecked Sendable {
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}
