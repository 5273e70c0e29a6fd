import CoreData
import TestSupport
import Testing

/// Stores in one file: what is saved is there when they are opened again.
struct FileStoreTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store")
    }

    private let values: [String: Any] = [
        "text": "a <b> & \\u3c00 \u{1}\r\n", "small": Int16.min, "medium": Int32.max, "large": Int64.min,
        "amount": Decimal(string: "-12345678901234567890.123")!, "ratio": 0.1, "part": Float(19.6), "flag": true,
        "moment": Date(timeIntervalSinceReferenceDate: 259495720.56406), "bytes": Data(0..<200),
        "code": UUID(uuidString: "8CE4D4A3-6A21-4B5D-B43C-0E8A61D31E4F")!,
        "link": URL(string: "https://a.b/c?d=é e")
            ?? URL(fileURLWithPath: "/x"),
        "list": ["a", "b"] as NSArray,
    ]

    private func expectSame(_ object: NSManagedObject) {
        for (key, value) in values {
            let read = object.value(forKey: key)
            #expect((read as? NSObject)?.isEqual(value) == true || "\(read ?? "")" == "\(value)", "\(key)")
        }
    }

    @Test(arguments: FileStoreType.allCases) func valuesOfEveryTypeAreReadAgain(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Gadget", values.merging(["power": 7]) { $1 })
        _ = stack.insert("Thing")
        try stack.context.save()
        let other = try FileStoreStack(type, at: url)
        defer { withExtendedLifetime(other) {} }
        let gadget = try #require(try other.all("Gadget").first)
        expectSame(gadget)
        #expect(gadget.value(forKey: "list") as? [String] == ["a", "b"])
        #expect(gadget.value(forKey: "power") as? Int == 7)
        let thing = try #require(try other.all("Thing").first { $0.entity.name == "Thing" })
        #expect(values.keys.allSatisfy { thing.value(forKey: $0) == nil })
    }

    @Test(arguments: FileStoreType.allCases) func relationshipsAreReadAgain(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        let things = ["c", "a", "b"].map { stack.insert("Thing", ["text": $0]) }
        let gadget = stack.insert("Gadget", ["text": "g"])
        let tags = ["x", "y"].map { stack.insert("Tag", ["label": $0]) }
        let box = stack.insert("Box", ["name": "one", "lid": gadget])
        box.setValue(NSOrderedSet(array: things), forKey: "things")
        box.setValue(Set(tags), forKey: "tags")
        tags[0].setValue(Set(things.prefix(2)), forKey: "pinned")
        tags[1].setValue(Set(things.prefix(1)), forKey: "pinned")
        try stack.context.save()
        let other = try FileStoreStack(type, at: url)
        defer { withExtendedLifetime(other) {} }
        let read = try #require(try other.all("Box").first)
        let texts = (read.value(forKey: "things") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "text") as? String
        }
        #expect(texts == ["c", "a", "b"])
        #expect(read.value(forKeyPath: "lid.text") as? String == "g")
        #expect((read.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 2)
        let pinned = try other.all("Tag", by: "label").map {
            ($0.value(forKey: "pinned") as? Set<NSManagedObject>)?.count
        }
        #expect(pinned == [2, 1])
        #expect(read.value(forKey: "size") as? Int == 3)
    }

    @Test(arguments: FileStoreType.allCases) func compositesAreKeptAndTransientValuesAreNot(type: FileStoreType) throws
    {
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Box", ["place": ["city": "Ulm", "floor": 3], "note": "gone"])
        try stack.context.save()
        let other = try FileStoreStack(type, at: url)
        let place = try other.values("Box", "place").first as? [String: Any]
        #expect(place?["city"] as? String == "Ulm")
        #expect(place?["floor"] as? Int == 3)
        #expect(try other.all("Box").allSatisfy { $0.value(forKey: "note") == nil })
    }

    @Test(arguments: FileStoreType.allCases) func objectIDsStayTheSame(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        let objects = [stack.insert("Tag"), stack.insert("Thing"), stack.insert("Tag")]
        try stack.context.save()
        let uris = objects.map { $0.objectID.uriRepresentation() }
        #expect(Set(uris.map(\.lastPathComponent)).count == 3)
        stack.context.delete(objects[2])
        try stack.context.save()
        let other = try FileStoreStack(type, at: url)
        defer { withExtendedLifetime(other) {} }
        for (uri, entity) in zip(uris.prefix(2), ["Tag", "Thing"]) {
            let id = try #require(other.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(try other.context.existingObject(with: id).entity.name == entity)
        }
        let new = other.insert("Thing")
        try other.context.save()
        #expect(!uris.contains(new.objectID.uriRepresentation()))
    }

    @Test(arguments: FileStoreType.allCases) func metadataAreKept(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        var metadata: [String: Any] = stack.coordinator.metadata(for: stack.store)
        let identifier = stack.store.identifier
        metadata["own"] = ["a": 1, "b": [true, 2.5, "x", Data([1])]] as [String: Any]
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.context.save()
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
        #expect(read[NSStoreUUIDKey] as? String == identifier)
        #expect(read[NSStoreTypeKey] as? String == type.rawValue)
        #expect((read["own"] as? [String: Any])?["a"] as? Int == 1)
        #expect(
            read[NSStoreModelVersionHashesKey] as? [String: Data] == FileStoreModel.make().entityVersionHashesByName)
        try NSPersistentStoreCoordinator.setMetadata(
            ["other": 5], forPersistentStoreOfType: type.rawValue, at: url)
        let opened = try FileStoreStack(type, at: url)
        #expect(opened.store.identifier == identifier)
        #expect(opened.store.metadata["other"] as? Int == 5)
        #expect(opened.store.metadata["own"] == nil)
    }

    @Test(arguments: FileStoreType.allCases) func metadataThatAreNoListAreRefused(type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        let before = try Data(contentsOf: url)
        stack.coordinator.setMetadata(["own": NSObject()], for: stack.store)
        _ = stack.insert("Tag")
        #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(stack.context.hasChanges)
        #expect(try Data(contentsOf: url) == before)
    }

    @Test(arguments: FileStoreType.allCases) func aNewStoreHasAFileAtOnce(type: FileStoreType) throws {  // 310
        let stack = try FileStoreStack(type, at: url)
        #expect(try FileStoreStack(type, at: url).store.identifier == stack.store.identifier)
    }

    @Test(arguments: FileStoreType.allCases) func derivedTimesStayWhenAFileIsRead(type: FileStoreType) throws {
        func model() -> NSManagedObjectModel {
            NSManagedObjectModel([
                NSEntityDescription(
                    "Note", class: "NSManagedObject",
                    [
                        NSAttributeDescription("text", .stringAttributeType),
                        NSDerivedAttributeDescription("changed", .dateAttributeType, from: "now()"),
                    ] as [NSPropertyDescription])
            ])
        }
        let stack = try FileStoreStack(model(), type, at: url)
        let note = stack.insert("Note", ["text": "a"])
        try stack.context.save()
        stack.context.refresh(note, mergeChanges: false)
        let saved = try #require(note.value(forKey: "changed") as? Date)
        let read = try FileStoreStack(model(), type, at: url).values("Note", "changed").first as? Date
        #expect(read == saved)
    }
}
