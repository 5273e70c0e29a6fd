import CoreData
import TestSupport
import Testing

/// Contents that are easily lost between a save and the next opening.
struct FileStoreContentTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store")
    }

    @Test(arguments: FileStoreType.allCases) func canonicallyEquivalentTextsStayApart(type: FileStoreType) throws {
        let texts = ["\u{E9}", "e\u{301}"]
        let stack = try FileStoreStack(type, at: url)
        for (number, text) in texts.enumerated() { _ = stack.insert("Thing", ["small": number, "text": text]) }
        try stack.context.save()
        let again = try FileStoreStack(type, at: url)
        let read = try again.all("Thing", by: "small").map { $0.value(forKey: "text") }
        let scalars = read.map { (($0 as? String) ?? "").unicodeScalars.map(\.value) }
        #expect(scalars == texts.map { $0.unicodeScalars.map(\.value) })
    }

    @Test(arguments: FileStoreType.allCases) func nestedAndOrderedTransformablesComeBack(type: FileStoreType) throws {
        var nested: NSArray = ["leaf"]
        for _ in 0..<24 { nested = [nested] }
        let values: [NSObject] = [NSOrderedSet(array: ["a", "b"]), nested, Data([1, 2, 3]) as NSData]
        let stack = try FileStoreStack(type, at: url)
        for (number, value) in values.enumerated() { _ = stack.insert("Thing", ["small": number, "list": value]) }
        try stack.context.save()
        let again = try FileStoreStack(type, at: url)
        let read = try again.all("Thing", by: "small").map { $0.value(forKey: "list") }
        #expect(read.count == values.count)
        for (value, expected) in zip(read, values) { #expect((value as? NSObject)?.isEqual(expected) == true) }
    }

    @Test func smallDatesKeepTheirDigits() throws {
        let seconds = [1.2345678901234567e-05, 1e-30, -3.5, 259_495_720.564_06]
        let stack = try FileStoreStack(.xml, at: url)
        for (number, second) in seconds.enumerated() {
            _ = stack.insert("Thing", ["small": number, "moment": Date(timeIntervalSinceReferenceDate: second)])
        }
        try stack.context.save()
        let again = try FileStoreStack(.xml, at: url)
        let read = try again.all("Thing", by: "small").map { $0.value(forKey: "moment") }
        #expect(read.map { ($0 as? Date)?.timeIntervalSinceReferenceDate } == seconds)
    }

    @Test func aFileWithoutAnIdentifierGetsOneThatStays() throws {
        try Data("<database><object type=\"TAG\" id=\"z1\"></object></database>".utf8).write(to: url)
        func identifiers() throws -> [URL] {
            try FileStoreStack(.xml, at: url).all("Tag").map { $0.objectID.uriRepresentation() }
        }
        let first = try identifiers()
        #expect(first.count == 1)
        #expect(try identifiers() == first)
    }

    @Test(arguments: FileStoreType.allCases) func aFileThatIsBeingWrittenIsNotReplaced(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
        let writer = open(url.path, O_RDONLY)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        _ = stack.insert("Tag", ["label": "b"])
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.code == CocoaError.persistentStoreSave.rawValue)
        #expect(try FileStoreStack(type, at: url).all("Tag").count == 1)
        flock(writer, LOCK_UN)
        try stack.context.save()
        #expect(try FileStoreStack(type, at: url).all("Tag").count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store"])
    }

    @Test(arguments: FileStoreType.allCases) func aStoreBehindALinkIsMigrated(type: FileStoreType) throws {
        func version(_ attributes: String...) -> NSManagedObjectModel {
            let all = attributes.map { NSAttributeDescription($0, .stringAttributeType) }
            return NSManagedObjectModel([NSEntityDescription("Tag", class: "NSManagedObject", all)])
        }
        let (former, model) = (version("label"), version("label", "note"))
        let old = try FileStoreStack(former, type, at: url)
        let tag = old.insert("Tag", ["label": "a"])
        try old.context.save()
        let host = tag.objectID.uriRepresentation().host
        try old.coordinator.remove(old.store)
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let references = [former, model].map {
            NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let new = try FileStoreStack(
            model, type, at: link,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage]),
            ])
        #expect(try new.values("Tag", "label").map { $0 as? String } == ["a"])
        #expect(try new.all("Tag").first?.objectID.uriRepresentation().host == host)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == url.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["link", "store"])
    }
}
