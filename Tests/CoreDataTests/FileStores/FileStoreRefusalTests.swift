import CoreData
import TestSupport
import Testing

/// Files that are not opened, or not written.
struct FileStoreRefusalTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store")
    }

    private func refusal(_ type: FileStoreType, _ options: [AnyHashable: Any]? = nil) -> NSError? {
        errorThrown { _ = try FileStoreStack(type, at: url, options: options) }
    }

    private func write(_ objects: String) throws {
        try Data("<?xml version=\"1.0\"?>\n<database>\(objects)</database>".utf8).write(to: url)
    }

    @Test(
        arguments: [
            "<object type=\"THING\" id=\"z1\"><attribute name=\"small\" type=\"int16\">40000</attribute></object>",
            "<object type=\"THING\" id=\"z1\"><attribute name=\"moment\" type=\"date\">today</attribute></object>",
            "<object type=\"THING\" id=\"z1\"><attribute name=\"amount\" type=\"decimal\">1x</attribute></object>",
            "<object type=\"THING\" id=\"z1\"></object><object type=\"TAG\" id=\"z1\"></object>",
            "<object type=\"THING\" id=\"z9223372036854775807\"></object>",
            "<object type=\"THING\" id=\"z0\"></object>",
            "<object type=\"THING\" id=\"1\"></object>", "<object id=\"z1\"></object>",
            "<object type=\"THING\" id=\"z1\"><relationship name=\"box\" idrefs=\"z1\"></relationship></object>",
            "<object type=\"THING\" id=\"z1\"><relationship name=\"box\" idrefs=\"z2 z3\"></relationship></object>",
            "<databaseInfo><nextObjectID>9223372036854775807</nextObjectID></databaseInfo>", "<object",
        ])
    func aDamagedFileIsRefused(objects: String) throws {
        try write(objects)
        let error = try #require(refusal(.xml))
        #expect(error.code == CocoaError.fileReadCorruptFile.rawValue)
        #expect(error.localizedDescription.contains(url.path), "\(error.localizedDescription)")
    }

    @Test(
        arguments: [
            "<object type=\"THING\" id=\"z1\"><attribute name=\"colour\" type=\"string\">x</attribute></object>",
            "<object type=\"THING\" id=\"z1\"><relationship name=\"shelf\"></relationship></object>",
            "<object type=\"SHELF\" id=\"z1\"></object>",
        ])
    func whatTheModelDoesNotHaveIsNamed(objects: String) throws {
        try write(objects)
        let error = try #require(refusal(.xml))
        #expect(error.code == CocoaError.persistentStoreIncompatibleSchema.rawValue)
        #expect(
            ["colour", "shelf", "SHELF"].contains { error.localizedDescription.contains("'\($0)'") },
            "\(error.localizedDescription)")
    }

    @Test(arguments: FileStoreType.allCases) func anotherFileIsNoStore(type: FileStoreType) throws {
        for content in ["text", "SQLite format 3\0", "<plist></plist>", "CoreData"] {
            try Data(content.utf8).write(to: url)
            #expect(refusal(type)?.code == CocoaError.fileReadCorruptFile.rawValue, "\(content)")
            #expect(try Data(contentsOf: url) == Data(content.utf8))
        }
    }

    @Test(arguments: FileStoreType.allCases) func aFolderIsNoStore(type: FileStoreType) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #expect(refusal(type)?.code == CocoaError.fileReadCorruptFile.rawValue)
    }

    @Test(arguments: FileStoreType.allCases) func aDeviceIsNoStoreAndStays(type: FileStoreType) throws {
        let device = folder.file("device")
        try FileManager.default.createSymbolicLink(at: device, withDestinationURL: URL(fileURLWithPath: "/dev/null"))
        #expect(throws: CocoaError.self) { try FileStoreStack(type, at: device) }
        let kind = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(kind == .typeCharacterSpecial)
    }

    @Test(arguments: FileStoreType.allCases) func aReadOnlyStoreIsNeitherMadeNorWritten(type: FileStoreType) throws {
        let readOnly = [NSReadOnlyPersistentStoreOption: true]
        #expect(refusal(type, readOnly)?.code == CocoaError.fileReadNoSuchFile.rawValue)
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
        let before = try Data(contentsOf: url)
        let other = try FileStoreStack(type, at: url, options: readOnly)
        #expect(try other.all("Tag").count == 1)
        _ = other.insert("Tag")
        #expect(throws: CocoaError.self) { try other.context.save() }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test(arguments: FileStoreType.allCases) func aFailedWriteLeavesFileAndContextAsTheyWere(type: FileStoreType) throws
    {
        let inner = folder.file("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let stack = try FileStoreStack(type, at: inner.appendingPathComponent("store"))
        let tag = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
        try FileManager.default.moveItem(at: inner, to: folder.file("moved"))
        tag.setValue("b", forKey: "label")
        #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(tag.hasChanges)
        try FileManager.default.moveItem(at: folder.file("moved"), to: inner)
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path) == ["store"])
        let read = try FileStoreStack(type, at: inner.appendingPathComponent("store"))
        #expect(try read.values("Tag", "label") as? [String] == ["a"])
        try stack.context.save()
        let again = try FileStoreStack(type, at: inner.appendingPathComponent("store"))
        #expect(try again.values("Tag", "label") as? [String] == ["b"])
    }

    @Test(arguments: FileStoreType.allCases) func whatAnotherStackHasWrittenIsNotOverwritten(type: FileStoreType) throws
    {
        let first = try FileStoreStack(type, at: url)
        let second = try FileStoreStack(type, at: url)
        _ = first.insert("Tag", ["label": "first"])
        try first.context.save()
        let tag = second.insert("Tag", ["label": "second"])
        let error = errorThrown { try second.context.save() }
        #expect(error?.code == CocoaError.persistentStoreSave.rawValue)
        #expect(tag.isInserted)
        #expect(try FileStoreStack(type, at: url).values("Tag", "label") as? [String] == ["first"])
    }

    @Test(arguments: FileStoreType.allCases) func batchRequestsAreRefused(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Tag"))
        let error = errorThrown { _ = try stack.context.execute(request) }
        #expect(error?.code == CocoaError.persistentStoreUnsupportedRequestType.rawValue)
    }

    @Test func namesThatDifferInCaseOnlyAreRefusedInXML() throws {
        let model = NSManagedObjectModel([
            NSEntityDescription(
                "A", class: "NSManagedObject", [.init("x", .stringAttributeType), .init("X", .stringAttributeType)])
        ])
        let error = errorThrown { _ = try FileStoreStack(model, .xml, at: url) }
        #expect(error?.localizedDescription.contains("several properties of A") == true)
        _ = try FileStoreStack(model, .binary, at: url)
    }
}
