import CoreData
import TestSupport

/// The same objects in a SQLite store, in one in memory and, where there is a server, in one of
/// PostgreSQL, with attributes of all types, for predicates on all of them.
final class RandomThings {
    /// One store and what is in it.
    final class Side {
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        fileprivate(set) var objects: [String: [NSManagedObject]] = [:]

        fileprivate init(_ type: String, _ url: URL?) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: RandomThings.model())
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
            context = coordinator.newContext()
        }

        /// The numbers of the things that match.
        func fetch(_ predicate: NSPredicate) throws -> [Int] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = predicate
            return try context.fetch(request).map(RandomThings.number).sorted()
        }

        /// The numbers of the things for which a predicate is true by itself.
        func evaluate(_ predicate: NSPredicate) throws -> [Int] {
            try (objects["Thing"] ?? []).filter { try predicate.result(for: $0) }.map(RandomThings.number).sorted()
        }
    }

    static let thingCount = 40
    static let ownerCount = 6
    static let tagCount = 8

    let sqlite: Side
    let memory: Side
    let postgreSQL: Side?
    private let folder: TemporaryFolder

    init(seed: UInt64) throws {
        folder = try TemporaryFolder()
        sqlite = try Side(NSSQLiteStoreType, folder.file("things.sqlite"))
        memory = try Side(NSInMemoryStoreType, nil)
        let kind = StoreKind.postgreSQL
        postgreSQL = PostgreSQLServer.isAvailable ? try Side(kind.type, kind.url(folder.file("things.sqlite"))) : nil
        for side in [sqlite, memory, postgreSQL].compactMap({ $0 }) {
            var random = SeededGenerator(seed: seed)
            Self.fill(side, &random, keepsZeros: side !== postgreSQL)
            try side.context.save()
            // What is evaluated was read back.
            side.context.reset()
            for name in ["Thing", "Owner", "Tag"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
                side.objects[name] = try side.context.fetch(request)
            }
        }
    }

    static func number(_ object: NSManagedObject) -> Int {
        (object.value(forKey: "number") as? NSNumber)?.intValue ?? -1
    }

    // MARK: Values

    static let integers: [Int64] = [0, 1, -1, 2, 3, 4, 5, 7, 10, 63, 64, 100, 255, -128, 32767]
    static let longIntegers: [Int64] = integers + [.max, .min, .max - 1, 9_007_199_254_740_993, -9_007_199_254_740_993]
    static let doubles: [Double] = [
        0, 1, -1, 0.5, 2.5, -0.25, 0.1, 0.2, 0.3, 10, 4, 1e300, -1e300, 9_007_199_254_740_992, 1e-10,
    ]
    static let decimals: [Decimal] = [
        "0", "1", "-1", "10", "4", "2.5", "0.1", "0.2", "0.3", "123456.789", "-0.05", "10000000000",
    ]
    .map { Decimal(string: $0)! }
    static let texts = [
        "", "a", "A", "b", "abc", "ABC", "aBc", "É", "é", "e\u{301}", "E\u{301}", "e", "E", "ß", "ss", "SS", "Straße",
        "STRASSE", "İ", "i",
        "I", "ı", "i\u{307}", "👍🏽", "👍", "👨‍👩‍👧", "a\0b", "\0", "%", "_", "*", "?", "\\", "[", "]", "a%b", "a_b", "a*b",
        "a?b", "[a]", "5",
        "5.0",
        "-1", "10", "x\u{302}", "ﬁ", "fi", "\n", "a\nb", "Å", "A\u{30a}", "Ω", "K", "k", "ς", "Σ", "σ", " a", "a ",
        "B6A1C4E0-0000-4000-8000-000000000001",
    ]
    static let dates: [Double] = [0, 1, -1, 0.5, 5, 10, 1000, 700_000_000.25, -63_114_076_800]
    static let data: [[UInt8]] = [[], [0], [1], [1, 2], [2], [97, 98, 99], [255]]
    static let ids = (1...4).map { UUID(uuidString: "B6A1C4E0-0000-4000-8000-00000000000\($0)")! }
    static let links = ["http://a.example/b", "HTTP://A.EXAMPLE/B", "a", "abc", "urn:x:5"].map { URL(string: $0)! }

    // MARK: The model

    private static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType),
                NSAttributeDescription("small", .integer16AttributeType),
                NSAttributeDescription("whole", .integer32AttributeType),
                NSAttributeDescription("long", .integer64AttributeType),
                NSAttributeDescription("flag", .booleanAttributeType),
                NSAttributeDescription("ratio", .doubleAttributeType),
                NSAttributeDescription("single", .floatAttributeType),
                NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("cost", .decimalAttributeType),
                NSAttributeDescription("text", .stringAttributeType),
                NSAttributeDescription("word", .stringAttributeType),
                NSAttributeDescription("made", .dateAttributeType),
                NSAttributeDescription("sold", .dateAttributeType),
                NSAttributeDescription("bytes", .binaryDataAttributeType),
                NSAttributeDescription("photo", .binaryDataAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType),
                NSAttributeDescription("link", .URIAttributeType),
            ])
        thing.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
        let special = NSEntityDescription(
            "Special", class: "NSManagedObject", [NSAttributeDescription("extra", .integer32AttributeType)])
        thing.subentities = [special]
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType),
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("rank", .integer32AttributeType),
                NSAttributeDescription("budget", .decimalAttributeType),
            ])
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType),
                NSAttributeDescription("label", .stringAttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
                NSAttributeDescription("worth", .decimalAttributeType),
                NSAttributeDescription("day", .dateAttributeType),
            ])
        relate(owner, "things", toMany: true, thing, inverse: "owner")
        relate(thing, "children", toMany: true, thing, inverse: "parent")
        relate(thing, "tags", toMany: true, tag, inverse: "things", inverseToMany: true)
        return NSManagedObjectModel([thing, special, owner, tag])
    }

    /// - Parameter keepsZeros: whether a text of the store can have the character U+0000.
    private static func fill(_ side: Side, _ random: inout SeededGenerator, keepsZeros: Bool) {
        let texts = texts.map { keepsZeros ? $0 : $0.replacingOccurrences(of: "\0", with: "0") }
        func new(_ entity: String, _ number: Int) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: side.context)
            object.setValue(number, forKey: "number")
            return object
        }
        /// One of some values, or nil.
        func pick<Value>(_ values: [Value]) -> Value? {
            Int.random(in: 0..<5, using: &random) == 0 ? nil : values.randomElement(using: &random)
        }
        let owners = (0..<ownerCount).map { number in
            let owner = new("Owner", number)
            owner.setValue(pick(texts), forKey: "name")
            owner.setValue(pick(integers), forKey: "rank")
            owner.setValue(pick(decimals).map { NSDecimalNumber(decimal: $0) }, forKey: "budget")
            return owner
        }
        let tags = (0..<tagCount).map { number in
            let tag = new("Tag", number)
            tag.setValue(pick(texts), forKey: "label")
            tag.setValue(pick([0.5, 1, 2, 4, -8]), forKey: "weight")
            tag.setValue(pick(decimals).map { NSDecimalNumber(decimal: $0) }, forKey: "worth")
            tag.setValue(pick(dates).map { Date(timeIntervalSinceReferenceDate: $0) }, forKey: "day")
            return tag
        }
        var things: [NSManagedObject] = []
        for number in 0..<thingCount {
            let isSpecial = Int.random(in: 0..<4, using: &random) == 0
            let thing = new(isSpecial ? "Special" : "Thing", number)
            thing.setValue(pick(integers), forKey: "small")
            thing.setValue(pick(integers), forKey: "whole")
            thing.setValue(pick(longIntegers), forKey: "long")
            thing.setValue(pick([true, false]), forKey: "flag")
            thing.setValue(pick(doubles), forKey: "ratio")
            thing.setValue(pick([0, 0.5, 2.5, 0.1, -1] as [Float]), forKey: "single")
            thing.setValue(pick(decimals).map { NSDecimalNumber(decimal: $0) }, forKey: "price")
            thing.setValue(pick(decimals).map { NSDecimalNumber(decimal: $0) }, forKey: "cost")
            thing.setValue(pick(texts), forKey: "text")
            thing.setValue(pick(texts), forKey: "word")
            thing.setValue(pick(dates).map { Date(timeIntervalSinceReferenceDate: $0) }, forKey: "made")
            thing.setValue(pick(dates).map { Date(timeIntervalSinceReferenceDate: $0) }, forKey: "sold")
            thing.setValue(pick(data).map { Data($0) }, forKey: "bytes")
            let large = Data(repeating: UInt8(number % 3), count: 150_000)
            thing.setValue(pick(data.map { Data($0) } + [large]), forKey: "photo")
            thing.setValue(pick(ids), forKey: "code")
            thing.setValue(pick(links), forKey: "link")
            if isSpecial { thing.setValue(pick(integers), forKey: "extra") }
            thing.setValue(pick(owners), forKey: "owner")
            thing.setValue(pick(things), forKey: "parent")
            thing.setValue(
                NSSet(array: tags.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }), forKey: "tags")
            things.append(thing)
        }
    }
}
