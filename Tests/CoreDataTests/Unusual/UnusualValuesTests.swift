import CoreData
import TestSupport
import Testing

/// Values at the ends of what an attribute can hold.
struct UnusualValuesTests {
    private func entity() -> NSEntityDescription {
        let external = NSAttributeDescription("external", .binaryDataAttributeType)
        external.allowsExternalBinaryDataStorage = true
        return NSEntityDescription(
            "Value", class: "NSManagedObject",
            [
                NSAttributeDescription("id", .integer64AttributeType),
                NSAttributeDescription("text", .stringAttributeType),
                NSAttributeDescription("double", .doubleAttributeType),
                NSAttributeDescription("float", .floatAttributeType),
                NSAttributeDescription("date", .dateAttributeType),
                NSAttributeDescription("decimal", .decimalAttributeType),
                NSAttributeDescription("data", .binaryDataAttributeType), external,
                NSAttributeDescription("uuid", .UUIDAttributeType), NSAttributeDescription("uri", .URIAttributeType),
                NSAttributeDescription("short", .integer16AttributeType),
            ])
    }

    private func context(_ kind: StoreKind, _ folder: TemporaryFolder) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity()]))
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("values.sqlite")))
        return coordinator.newContext()
    }

    /// Saves an object for each value of one attribute, with the values' positions as ids.
    private func save<Value>(_ values: [Value?], _ key: String, _ context: NSManagedObjectContext) throws {
        for (index, value) in values.enumerated() {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Value", into: context)
            object.setValue(index, forKey: "id")
            object.setValue(value, forKey: key)
        }
        try context.save()
    }

    /// Saves values of one attribute and gives them back as another context reads them.
    private func roundTrip<Value>(_ values: [Value?], _ key: String, _ kind: StoreKind) throws -> [Value?] {
        let folder = try TemporaryFolder()
        let context = try context(kind, folder)
        try save(values, key, context)
        let reader = try #require(context.persistentStoreCoordinator).newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Value")
        request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
        return try reader.fetch(request).map { $0.value(forKey: key) as? Value }
    }

    /// The ids of the objects that a predicate finds, among objects of the values.
    private func found<Value>(_ values: [Value?], _ key: String, _ kind: StoreKind, _ predicates: [NSPredicate]) throws
        -> [[Int]]
    {
        let folder = try TemporaryFolder()
        let context = try context(kind, folder)
        try save(values, key, context)
        return try predicates.map { predicate in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Value")
            request.predicate = predicate
            return try context.fetch(request).compactMap { $0.value(forKey: "id") as? Int }.sorted()
        }
    }

    static let texts: [String?] = [
        "", nil, "a\u{0}b", "\u{0}", "a\u{0}", String(repeating: "ä日\u{1F600}", count: 400_000), "e\u{301}", "\u{e9}",
        "'\"`;--", "%_*?\\",
        "\u{feff}x", "\u{10ffff}", "line\nline\r\n", "\u{202e}abc",
    ]

    /// A text as a store can keep it: PostgreSQL has no U+0000.
    private static func keepable(_ text: String, _ kind: StoreKind) -> String {
        kind == .postgreSQL ? text.replacingOccurrences(of: "\u{0}", with: "\u{1}") : text
    }

    @Test(arguments: StoreKind.allCases) func textsComeBackAsTheyWere(kind: StoreKind) throws {
        let texts = Self.texts.map { $0.map { Self.keepable($0, kind) } }
        let back = try roundTrip(texts, "text", kind)
        for (text, value) in zip(texts, back) {
            #expect(text.map { Array($0.utf8) } == value.map { Array($0.utf8) }, "\(text?.prefix(10) ?? "nil")")
        }
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases) func textsAreFoundByAllTheirCharacters(kind: StoreKind) throws {
        func keepable(_ text: String) -> String { Self.keepable(text, kind) }
        func predicate(_ format: String, _ text: String) -> NSPredicate {
            NSPredicate(format: format, argumentArray: [keepable(text)])
        }
        let texts: [String?] = ["a\u{0}b", "a\u{0}c", "a", "", nil, "e\u{301}", "\u{e9}", "x%y_z", "[a]*?"]
        let results = try found(
            texts.map { $0.map(keepable) }, "text", kind,
            [
                predicate("text == %@", "a\u{0}b"), predicate("text BEGINSWITH %@", "a\u{0}"),
                predicate("text CONTAINS %@", "\u{0}c"),
                predicate("text ENDSWITH %@", "\u{0}b"), predicate("text == %@", "a"), predicate("text == %@", ""),
                NSPredicate(format: "text == nil"), predicate("text == %@", "\u{e9}"),
                predicate("text CONTAINS %@", "%y_"),
                predicate("text LIKE %@", "x%y_z"), predicate("text CONTAINS %@", "]*?"),
                predicate("text IN %@", "a\u{0}bc"),
                NSPredicate(format: "text IN %@", [keepable("a\u{0}b"), "a"]), predicate("text ENDSWITH %@", "b"),
                predicate("text ==[c] %@", "A\u{0}B"), predicate("text > %@", "a\u{0}b"),
                predicate("text MATCHES %@", "a.b"),
            ])
        #expect(results[0] == [0])
        #expect(results[1] == [0, 1])
        #expect(results[2] == [1])
        #expect(results[3] == [0])
        #expect(results[4] == [2])
        #expect(results[5] == [3])
        #expect(results[6] == [4])
        #expect(results[7] == [6])
        #expect(results[8] == [7])
        #expect(results[9] == [7])
        #expect(results[10] == [8])
        #expect(results[11] == [0, 2, 3])
        #expect(results[12] == [0, 2])
        #expect(results[13] == [0])
        #expect(results[14] == [0])
        #expect(results[15] == [1, 5, 6, 7])
        #expect(results[16] == [0])
    }

    @Test(arguments: StoreKind.allCases) func doublesComeBackAsTheyWere(kind: StoreKind) throws {
        let doubles: [Double?] = [
            0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
            .ulpOfOne, 0.1,
            1e17,
            9_007_199_254_740_992, nil,
        ]
        let back = try roundTrip(doubles, "double", kind)
        #expect(
            back.map { $0?.bitPattern }
                == doubles.map { $0?.bitPattern }.map { $0 == (-0.0).bitPattern ? back[1]?.bitPattern : $0 })
        #expect(back[1] == 0)
        let floats: [Float?] = [.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1, nil]
        #expect(try roundTrip(floats, "float", kind) == floats)
    }

    /// SQLite keeps no NaN: it stores NULL, and so do the other stores.
    @Test(arguments: StoreKind.allCases) func notANumberDoesNoHarm(kind: StoreKind) throws {
        let back = try roundTrip([Double.nan, 1], "double", kind)
        #expect(back[0] == nil)
        #expect(back[1] == 1)
        let results = try found(
            [Double.nan, 1, .infinity], "double", kind,
            [
                NSPredicate(format: "double > 0"),
                NSPredicate(format: "double == %@", NSNumber(value: Double.infinity)),
                NSPredicate(format: "double < %@", NSNumber(value: Double.infinity)),
            ])
        #expect(results == [[1, 2], [2], [1]])
    }

    @Test(arguments: StoreKind.allCases) func datesOfAllAgesComeBackAsTheyWere(kind: StoreKind) throws {
        // PostgreSQL knows microseconds, and fewer years.
        let isServer = kind == .postgreSQL
        let exact = Date(timeIntervalSinceReferenceDate: isServer ? 700_000_000.123_457 : 700_000_000.123_456_7)
        let dates: [Date?] = [
            .distantPast, .distantFuture, Date(timeIntervalSince1970: -11_676_096_000),
            Date(timeIntervalSinceReferenceDate: -0.5),
            exact, Date(timeIntervalSinceReferenceDate: isServer ? 1e12 : 1e15), nil,
        ]
        #expect(try roundTrip(dates, "date", kind) == dates)
        let results = try found(
            dates, "date", kind,
            [
                NSPredicate(format: "date < %@", Date(timeIntervalSince1970: -2_208_988_800) as NSDate),
                NSPredicate(format: "date == %@", exact as NSDate),
                NSPredicate(format: "date IN %@", dates.compactMap { $0 }),
            ])
        #expect(results == [[0, 2], [4], [0, 1, 2, 3, 4, 5]])
    }

    @Test(arguments: StoreKind.allCases) func decimalsKeepTheirDigits(kind: StoreKind) throws {
        let texts = [
            "12345678901234567890123456789012345678", "-0.12345678901234567890123456789012345678", "1E100", "1E-100",
            "-1", "0",
            "99999999999999999999999999999999999999E80", "0.1", "123456789.123456789", "9007199254740993",
            "9223372036854775808",
            "18446744073709551615", "0.30000000000000004",
        ]
        let decimals = texts.map { NSDecimalNumber(string: $0) }
        let back = try roundTrip(decimals, "decimal", kind)
        for (text, (decimal, value)) in zip(texts, zip(decimals, back)) {
            // A column of a SQLite store holds 15 digits, on a Mac as here.
            let isKept = kind == .inMemory || text.filter(\.isNumber).count < 16
            #expect(
                isKept ? value == decimal : value.map { abs($0.doubleValue / decimal.doubleValue - 1) < 1e-15 } == true,
                "\(text)")
        }
        let results = try found(
            decimals, "decimal", kind,
            texts.map { NSPredicate(format: "decimal == %@", NSDecimalNumber(string: $0)) }
                + [
                    NSPredicate(format: "decimal > 1"), NSPredicate(format: "decimal < 0"),
                    NSPredicate(format: "decimal IN %@", [decimals[0], decimals[7], decimals[9]]),
                ])
        for index in texts.indices { #expect(results[index].contains(index), "\(texts[index])") }
        #expect(results[texts.count] == [0, 2, 6, 8, 9, 10, 11])
        #expect(results[texts.count + 1] == [1, 4])
        #expect(results[texts.count + 2] == [0, 7, 9])
    }

    @Test(arguments: StoreKind.allCases) func emptyBytesAreNotNil(kind: StoreKind) throws {
        let bytes: [Data?] = [Data(), nil, Data([0]), Data(repeating: 0xff, count: 3_000_000), Data([1, 0, 2])]
        #expect(try roundTrip(bytes, "data", kind) == bytes)
        #expect(try roundTrip(bytes, "external", kind) == bytes)
        let results = try found(
            bytes, "data", kind,
            [
                NSPredicate(format: "data == nil"), NSPredicate(format: "data == %@", Data() as NSData),
                NSPredicate(format: "data == %@", Data([1, 0, 2]) as NSData), NSPredicate(format: "data != nil"),
            ])
        #expect(results == [[1], [0], [4], [0, 2, 3, 4]])
    }

    @Test(arguments: StoreKind.allCases) func otherKindsComeBackAsTheyWere(kind: StoreKind) throws {
        let ids: [UUID?] = [
            UUID(uuidString: "00000000-0000-0000-0000-000000000000"),
            UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"), nil,
        ]
        #expect(try roundTrip(ids, "uuid", kind) == ids)
        let urls: [URL?] = [
            URL(string: "https://例え.jp/パス?q=ä#f"), URL(string: "mailto:a@b"), URL(string: "data:,a%00b"), nil,
        ]
        #expect(try roundTrip(urls, "uri", kind) == urls)
    }
}
