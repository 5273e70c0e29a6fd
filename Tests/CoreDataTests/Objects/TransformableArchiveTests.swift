import CoreData
import TestSupport
import Testing

/// An object of a program's own class, as transformable attributes hold them.
final class ArchivedPoint: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let x: Int
    let label: String
    let bytes: [UInt8]
    let next: Any?

    init(x: Int, label: String, bytes: [UInt8] = [], next: Any? = nil) {
        self.x = x
        self.label = label
        self.bytes = bytes
        self.next = next
    }

    required init?(coder: NSCoder) {
        x = coder.decodeInteger(forKey: "x")
        label = coder.decodeObject(of: NSString.self, forKey: "label").map { String(describing: $0) } ?? ""
        bytes = coder.withDecodedUnsafeBufferPointer(forKey: "bytes") { $0.map(Array.init) ?? [] }
        next = coder.decodeObject(of: [ArchivedPoint.self, NSArray.self], forKey: "next")
    }

    func encode(with coder: NSCoder) {
        coder.encode(x, forKey: "x")
        coder.encode(label as NSString, forKey: "label")
        bytes.withUnsafeBufferPointer { coder.encodeBytes($0.baseAddress, length: $0.count, forKey: "bytes") }
        coder.encode(next, forKey: "next")
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ArchivedPoint else { return false }
        return x == other.x && label == other.label && bytes == other.bytes
            && (next as? NSObject).map { $0.isEqual(other.next) } ?? (other.next == nil)
    }

    override var hash: Int { x }
}

/// A class that no transformer allows.
final class ForbiddenThing: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

final class PointTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    override class var allowedTopLevelClasses: [AnyClass] { [ArchivedPoint.self, NSArray.self] }
}

/// Transformable attributes read archives of this framework, of Foundation and of a Mac.
struct TransformableArchiveTests {
    let stack: TestStack

    init() throws {
        let point = NSAttributeDescription("point", .transformableAttributeType)
        point.valueTransformerName = "PointTransformer"
        stack = try TestStack([
            NSEntityDescription(
                "Box", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("value", .transformableAttributeType), point])
        ])
    }

    /// The value that a new context reads after a save.
    private func saved(_ value: Any, _ key: String = "value") throws -> Any? {
        let box = NSManagedObject(entity: stack.entity("Box"), insertInto: stack.context)
        box.setValue(value, forKey: key)
        try stack.context.save()
        return try stack.newContext().existingObject(with: box.objectID).value(forKey: key)
    }

    /// The value that is read from bytes which another program stored.
    private func read(_ archive: Data, _ key: String = "value") throws -> Any? {
        let box = NSManagedObject(entity: stack.entity("Box"), insertInto: stack.context)
        try stack.context.save()
        let number = box.objectID.uriRepresentation().lastPathComponent.dropFirst()
        let hex = archive.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(stack.file.execute("UPDATE ZBOX SET Z\(key.uppercased()) = x'\(hex)' WHERE Z_PK = \(number)"))
        let context = stack.newContext()
        context.stalenessInterval = 0
        stack.context.refreshAllObjects()
        let object = try context.existingObject(with: box.objectID)
        context.refresh(object, mergeChanges: false)
        return object.value(forKey: key)
    }

    // MARK: Every standard type

    private static var leaves: [NSObject] {
        let texts: [NSObject] = ["text" as NSString, NSMutableString(string: "text"), "" as NSString]
        let numbers: [NSNumber] = [5, -5, 2.5, true, NSNumber(value: UInt64.max), NSNumber(value: Int64.min)]
        let data: [NSObject] = [NSData(data: Data([1, 2])), NSMutableData(data: Data([1, 2])), NSUUID()]
        let others: [NSObject?] = [
            NSDate(timeIntervalSinceReferenceDate: 5.5), NSURL(string: "https://example.org/a?b#c"),
        ]
        return texts + numbers + data + others.compactMap { $0 }
    }

    private static var collections: [NSObject] {
        let date = Date(timeIntervalSinceReferenceDate: 1)
        let mixed: [Any] = ["a", 1, NSNull(), ["b"], ["c": 2.5], date]
        let keyed: [AnyHashable: Any] = [1: "a", "b": 2, date: 3]
        return [
            NSArray(array: mixed), NSMutableArray(array: ["a"]), NSArray(),
            NSDictionary(dictionary: ["a": 1, "b": ["c"]]),
            NSDictionary(dictionary: keyed), NSMutableDictionary(dictionary: ["a": 1]), NSDictionary(),
            NSSet(array: ["a", 1, date]), NSMutableSet(array: ["a"]), NSSet(), NSOrderedSet(array: ["b", "a"]),
            NSMutableOrderedSet(array: ["b", "a"]),
        ]
    }

    private static var decimals: [NSObject] {
        let number = NSDecimalNumber(string: "-0.1")
        return [number, NSArray(array: [number, "a"]), NSDictionary(dictionary: ["a": number])]
    }

    @Test func everyStandardTypeSurvivesSavingAndReading() throws {
        for value in Self.leaves + Self.collections + Self.decimals {
            let read = try saved(value) as? NSObject
            #expect(
                read?.isEqual(value) == true, "\(read.map { "\($0)" } ?? "nil") is not \(value), a \(type(of: value))")
        }
    }

    @Test func mutableCollectionsStayMutable() throws {
        #expect(try saved(NSMutableArray(array: ["a"])) is NSMutableArray)
        #expect(try saved(NSMutableDictionary(dictionary: ["a": 1])) is NSMutableDictionary)
        #expect(try saved(NSMutableSet(array: ["a"])) is NSMutableSet)
    }

    @Test func aURLKeepsItsBase() throws {
        let url = try #require(NSURL(string: "b?c#d", relativeTo: URL(string: "https://example.org/a/")))
        let read = try #require(try saved(url) as? URL)
        #expect(read.absoluteString == "https://example.org/a/b?c#d")
    }

    @Test func attributedTextsKeepTheirAttributes() throws {
        let key = NSAttributedString.Key("weight")
        let text = NSMutableAttributedString(string: "One two \u{1f600} three")
        text.addAttribute(key, value: 7 as NSNumber, range: NSRange(location: 4, length: 6))
        let read = try #require(try saved(text) as? NSAttributedString)
        #expect(read.string == text.string)
        #expect(
            (0..<text.length).allSatisfy {
                read.attributes(at: $0, effectiveRange: nil)[key] as? Int == ((4..<10).contains($0) ? 7 : nil)
            })
    }

    @Test func aProgramsOwnClassIsReadWhereItsTransformerAllowsIt() throws {
        let point = ArchivedPoint(
            x: 1, label: "a", bytes: [1, 2, 3], next: [ArchivedPoint(x: 2, label: "b")] as NSArray)
        let read = try #require(try saved(point, "point") as? ArchivedPoint)
        #expect(read == point)
        #expect((try saved([point] as NSArray, "point") as? NSArray)?.firstObject as? ArchivedPoint == point)
    }

    @Test func whatCannotBeArchivedIsRefusedAtTheSave() throws {
        struct Plain {}
        enum Outer {
            final class Inner: NSObject, NSCoding {
                override init() {}
                init?(coder: NSCoder) {}
                func encode(with coder: NSCoder) {}
            }
        }
        let values: [Any] = [
            NSArray(array: [Plain()]), NSDictionary(dictionary: ["a": [Plain()]]), Outer.Inner(),
            NSArray(array: [Outer.Inner()]),
        ]
        for value in values {
            let error = errorThrown { _ = try saved(value) }
            #expect(error?.localizedDescription.contains("Box.value") == true, "\(type(of: value))")
            stack.context.rollback()
        }
    }

    // MARK: Archives of a Mac

    @Test func theFormsInWhichAMacArchivesAreRead() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            let text = builder.object("NSMutableString", ["NS.string": .text("text")])
            let date = builder.object("NSDate", ["NS.time": .real(1.5)])
            let url = builder.object(
                "NSURL", ["NS.base": .uid(0), "NS.relative": builder.add(.text("https://example.org/"))])
            let data = builder.object("NSMutableData", ["NS.data": .data(Data([1]))])
            let plain = builder.add(.data(Data([2])))
            let uuid = builder.object("NSUUID", ["NS.uuidbytes": .data(Data(repeating: 7, count: 16))])
            let list = builder.object(
                "NSOrderedSet", ["NS.object.0": builder.add(.int(1)), "NS.object.1": builder.add(.int(2))])
            let set = builder.array([builder.add(.bool(true))], "NSSet")
            let mantissa = Data([123, 0] + [UInt8](repeating: 0, count: 14))
            let decimal = builder.object(
                "NSDecimalNumber",
                [
                    "NS.mantissa": .data(mantissa), "NS.mantissa.bo": .int(1), "NS.exponent": .int(-2),
                    "NS.length": .int(1),
                    "NS.negative": .bool(false), "NS.compact": .bool(true),
                ])
            let null = builder.object("NSNull")
            let same = builder.add(.text("same"))
            return builder.array(
                [text, date, url, data, plain, uuid, list, set, decimal, null, same, same], "NSMutableArray")
        }
        let read = try #require(try read(archive) as? NSArray)
        let first: [NSObject?] = [
            "text" as NSString, NSDate(timeIntervalSinceReferenceDate: 1.5), NSURL(string: "https://example.org/"),
            NSData(data: Data([1])), NSData(data: Data([2])),
            NSUUID(uuidString: "07070707-0707-0707-0707-070707070707"),
        ]
        let second: [NSObject] = [
            NSOrderedSet(array: [1, 2]), NSSet(array: [true]), NSDecimalNumber(string: "1.23"), NSNull(),
            "same" as NSString,
            "same" as NSString,
        ]
        let expected = first.compactMap { $0 } + second
        #expect(read.count == expected.count)
        for (first, second) in zip(read, expected) {
            #expect((first as? NSObject)?.isEqual(second) == true, "\(first) is not \(second)")
        }
    }

    @Test func anAttributedTextOfOneRunIsRead() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            let attributes = builder.dictionary([("weight", builder.add(.int(7)))])
            return builder.object(
                "NSAttributedString", ["NSString": builder.add(.text("abc")), "NSAttributes": attributes])
        }
        let text = try #require(try read(archive) as? NSAttributedString)
        #expect(text.string == "abc")
        #expect(text.attributes(at: 2, effectiveRange: nil)[NSAttributedString.Key("weight")] as? Int == 7)
    }

    @Test func longRunsOfAnAttributedTextAreRead() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            let none = builder.dictionary([])
            let some = builder.dictionary([("weight", builder.add(.int(7)))])
            // 300 in numbers of seven bits: 0x2c with more to come, then 2.
            let runs = builder.object("NSMutableData", ["NS.data": .data(Data([0xac, 2, 0, 100, 1]))])
            return builder.object(
                "NSAttributedString",
                [
                    "NSString": builder.add(.text(String(repeating: "a", count: 400))),
                    "NSAttributes": builder.array([none, some]),
                    "NSAttributeInfo": runs,
                ])
        }
        let text = try #require(try read(archive) as? NSAttributedString)
        #expect(text.attributes(at: 299, effectiveRange: nil).isEmpty)
        #expect(text.attributes(at: 300, effectiveRange: nil).count == 1)
    }

    // MARK: What is not read

    private func forbidden(_ wrap: (inout KeyedArchiveBuilder, ListPart) -> ListPart) -> Data {
        KeyedArchiveBuilder.data { builder in wrap(&builder, builder.object("CoreDataTests.ForbiddenThing")) }
    }

    @Test func aClassThatIsNotAllowedReadsAsNil() throws {
        #expect(try read(forbidden { $1 }) == nil)
        #expect(try read(forbidden { $0.array([$1]) }) == nil)
        #expect(try read(forbidden { $0.array([$1], "NSSet") }) == nil)
        #expect(try read(forbidden { $0.array([$1], "NSOrderedSet") }) == nil)
        #expect(try read(forbidden { $0.dictionary([("a", $1)]) }) == nil)
        #expect(
            try read(
                forbidden {
                    $0.object("NSDictionary", ["NS.keys": .array([$1]), "NS.objects": .array([$0.add(.int(1))])])
                }) == nil)
        #expect(try read(forbidden { $0.array([$0.array([$0.dictionary([("a", $1)])])]) }) == nil)
        #expect(
            try read(
                forbidden {
                    $0.object(
                        "NSAttributedString",
                        ["NSString": $0.add(.text("a")), "NSAttributes": $0.dictionary([("a", $1)])])
                })
                == nil)
    }

    @Test func aClassThatThisProgramDoesNotHaveReadsAsNil() throws {
        #expect(try read(KeyedArchiveBuilder.data { $0.object("UIImage") }) == nil)
        #expect(try read(KeyedArchiveBuilder.data { $0.object("") }) == nil)
        #expect(try read(KeyedArchiveBuilder.data { $0.object("A.B.C.D") }) == nil)
    }

    @Test func anOwnClassMayNotHoldMoreThanItAllows() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            let thing = builder.object("CoreDataTests.ForbiddenThing")
            return builder.object(
                "CoreDataTests.ArchivedPoint", ["x": .int(1), "label": builder.add(.text("a")), "next": thing])
        }
        #expect(try read(archive, "point") == nil)
    }

    @Test func anOwnClassIsNotReadWithoutItsTransformer() throws {
        #expect(try read(KeyedArchiveBuilder.data { $0.object("CoreDataTests.ArchivedPoint", ["x": .int(1)]) }) == nil)
    }

    @Test func entriesOfOtherKindsReadAsNil() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            builder.object("CoreDataTests.ArchivedPoint", ["x": .text("one"), "label": builder.add(.text("a"))])
        }
        #expect(try read(archive, "point") == nil)
    }

    @Test func objectsThatContainThemselvesReadAsNil() throws {
        var builder = KeyedArchiveBuilder()
        let list = builder.array([.uid(2)])
        #expect(list == .uid(2))
        #expect(try read(builder.data(root: list)) == nil)
        var pair = KeyedArchiveBuilder()
        // 1 and 2 are the first array's class and the array; 3 is the second array, which holds the
        // first.
        let first = pair.array([.uid(3)])
        let second = pair.array([first])
        #expect(second == .uid(3))
        #expect(try read(pair.data(root: second)) == nil)
        var own = KeyedArchiveBuilder()
        let point = own.object("CoreDataTests.ArchivedPoint", ["x": .int(1), "next": .uid(2)])
        #expect(try read(own.data(root: point), "point") == nil)
    }

    @Test func objectsThatUnfoldWithoutEndReadAsNil() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            var list = builder.array([])
            for _ in 0..<100 { list = builder.array([list, list]) }
            return list
        }
        #expect(try read(archive) == nil)
        #expect(try read(BinaryListWriter.bomb(depth: 30)) == nil)
    }

    @Test func deepNestingReadsAsNil() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            var list = builder.array([])
            for _ in 0..<(LongTests.areEnabled ? 50_000 : 10_000) { list = builder.array([list]) }
            return list
        }
        #expect(try read(archive) == nil)
    }

    @Test func decimalsThatWouldBeHashedReadAsNil() throws {
        func archive(_ wrap: (inout KeyedArchiveBuilder, ListPart) -> ListPart) -> Data {
            KeyedArchiveBuilder.data { builder in
                let decimal = builder.object(
                    "NSDecimalNumber",
                    [
                        "NS.mantissa": .data(Data([1] + [UInt8](repeating: 0, count: 15))), "NS.exponent": .int(0),
                        "NS.length": .int(1),
                    ])
                return wrap(&builder, decimal)
            }
        }
        #expect(try read(archive { $0.array([$1], "NSSet") }) == nil)
        #expect(
            try read(archive { $0.object("NSDictionary", ["NS.keys": .array([$1]), "NS.objects": .array([$1])]) })
                == nil)
        #expect(try read(archive { $0.array([$1]) }) as? NSArray == [NSDecimalNumber.one])
    }

    @Test func whatIsNotReadStaysInTheStore() throws {
        let archive = forbidden { $1 }
        #expect(try read(archive) == nil)
        let context = stack.newContext()
        let box = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first)
        box.setValue("new", forKey: "name")
        try context.save()
        #expect(stack.file.value("SELECT hex(ZVALUE) FROM ZBOX WHERE ZNAME = 'new'") == archive.hexadecimal)
    }

    /// Foundation on Linux stops the program when Swift gets such a dictionary out of an array.
    @Test(arguments: ["NSArray", "NSDictionary"]) func aDictionaryWhoseKeysAreCollectionsReadsAsNil(_ keyClass: String)
        throws
    {
        let archive = KeyedArchiveBuilder.data { builder in
            let key =
                keyClass == "NSArray"
                ? builder.array([builder.add(.int(1))]) : builder.dictionary([("a", builder.add(.int(1)))])
            let dictionary = builder.object(
                "NSDictionary", ["NS.keys": .array([key]), "NS.objects": .array([builder.add(.int(2))])])
            return builder.array([dictionary])
        }
        #expect(try read(archive) == nil)
    }

    // MARK: Damage

    /// Archives that hold everything.
    private static func sound() -> [Data] {
        let point = ArchivedPoint(
            x: 1, label: "a", bytes: [1, 2, 3], next: [ArchivedPoint(x: 2, label: "b")] as NSArray)
        let text = NSMutableAttributedString(string: "One two")
        text.addAttribute(
            NSAttributedString.Key("weight"), value: 7 as NSNumber, range: NSRange(location: 4, length: 3))
        let everything = NSArray(array: leaves + collections + [text])
        return [point, everything].compactMap {
            try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: false)
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 20 : 1)) func damagedArchivesReadAsNilOrAValue(_ seed: Int) throws {
        let transformer = PointTransformer()
        let standard = NSSecureUnarchiveFromDataTransformer()
        var generator = SeededGenerator(seed: UInt64(seed))
        let sound = Self.sound()
        #expect(sound.count == 2)
        #expect(transformer.transformedValue(sound[0]) is ArchivedPoint)
        #expect(standard.transformedValue(sound[1]) is NSArray)
        for round in 0..<1000 {
            let damaged = Damage.some(to: sound[round % 2], &generator)
            let value = round % 2 == 0 ? transformer.transformedValue(damaged) : standard.transformedValue(damaged)
            if let value = value as? NSObject { _ = value.hash }
        }
    }
}
