import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Indexes of folded texts, of their parts and their orders: that they are made, and used.
@Suite(
    .long,
    .enabled(if: PostgreSQLServer.isAvailable && TextLibrary.hasTrigrams, "needs PostgreSQL's server with pg_trgm"),
    .needsICU)
struct TextIndexTests {
    private static let all = [
        "book_by_summary", "book_by_summary_parts", "book_by_title", "book_by_title_cd", "book_by_title_cd_parts",
        "book_by_title_localized_standard",
    ]

    // MARK: Use

    @Test func comparisonsAndOrdersUseTheIndexes() throws {
        let warehouse = try Warehouse(TextLibrary.model())
        #expect(TextLibrary.indexes(warehouse.url, warehouse.schema) == Self.all)
        try TextLibrary.fill(warehouse, count: 20_000)
        let used = [
            ("title ==[cd] 'arger C4CA4238A0B923820DCC509A6F75849B 8'", "book_by_title_cd "),
            ("title IN[cd] {'arger x', 'muller y'}", "book_by_title_cd "),
            ("title <[cd] 'alpha 01'", "book_by_title_cd "),
            ("title BEGINSWITH[cd] 'arger C4C'", "book_by_title_cd "),
            ("title BEGINSWITH[cd] 'Ärger c4c'", "book_by_title_cd "),
            ("title CONTAINS[cd] 'ALPHA C4'", "book_by_title_cd_parts "),
            ("title LIKE[cd] '*b923820D*8'", "book_by_title_cd_parts "),
            ("title ENDSWITH[cd] '0DCC509a 17'", "book_by_title_cd_parts "),
            ("summary CONTAINS 'b92382'", "book_by_summary_parts "),
            ("summary ENDSWITH 'b92382 4'", "book_by_summary_parts "),
            ("summary LIKE '*b92382*'", "book_by_summary_parts "),
            ("summary MATCHES '.*b92382.*'", "book_by_summary_parts "),
            ("title BEGINSWITH 'alpha c4'", "book_by_title "),
        ]
        for (format, index) in used {
            let plan = try TextLibrary.plan(warehouse, format)
            #expect(plan.contains(index), "\(format)\n\(plan)")
            #expect(!plan.contains("Seq Scan"), "\(format)\n\(plan)")
        }
        for format in [used[0].0, used[3].0, used[5].0] {
            let plan = try TextLibrary.plan(warehouse, format, isGeneric: true)
            #expect(plan.contains("book_by_title_cd"), "\(format)\n\(plan)")
            #expect(!plan.contains("Seq Scan"), "\(format)\n\(plan)")
        }
        // Other options, and the same texts without an index.
        for format in ["title ==[c] 'x'", "copy ==[cd] 'x'", "copy CONTAINS 'b92382'", "title CONTAINS 'b92382'"] {
            #expect(try TextLibrary.plan(warehouse, format).contains("Seq Scan"), "\(format)")
        }
        let order = NSSortDescriptor(key: "title", ascending: true, selector: Selector("localizedStandardCompare:"))
        #expect(
            try TextLibrary.plan(warehouse, nil, by: [order], limit: 20).contains("book_by_title_localized_standard "))
    }

    @Test(arguments: [true, false]) func anOrderWithoutCaseUsesTheIndex(ascending: Bool) throws {
        let warehouse = try Warehouse(TextLibrary.model(.init(fold: "c, cd", order: "caseInsensitiveCompare:")))
        let indexes = TextLibrary.indexes(warehouse.url, warehouse.schema)
        #expect(indexes.contains("book_by_title_c"), "\(indexes)")
        #expect(indexes.contains("book_by_title_c_parts"), "\(indexes)")
        try TextLibrary.fill(warehouse, count: 20_000)
        let order = NSSortDescriptor(key: "title", ascending: ascending, selector: Selector("caseInsensitiveCompare:"))
        let plan = try TextLibrary.plan(warehouse, nil, by: [order], limit: 20)
        #expect(plan.contains("using book_by_title_c"), "\(plan)")
    }

    // MARK: Answers

    private static let letters = [
        "a", "A", "b", "ä", "a\u{308}", "\u{316}", "\u{302}", "\u{301}", "e", "É", "ß", "s", "S", "Σ", "σ", "ς", "ο",
        "가", "각", "\u{11a8}",
        "%", "_", "\\", "'", "*", "?", "\u{10ffff}", "\u{d7ff}", "\u{e000}", "🪛", "й", "и", "ﬁ", "f", "=", "\u{338}",
        "ẛ", "ᾴ", "α",
        "\u{345}", "İ", "i", "ŉ", "n", "\u{5b0}", "\u{5d0}", "\u{20dd}",
    ]

    /// Random predicates find the same with an index, without one, and among objects in memory.
    @Test(arguments: 0..<(LongTests.areEnabled ? 20 : 3)) func theSameIsFoundWithAnIndexAndWithout(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let indexOptions = TextLibrary.Wishes(fold: ["cd", "c d cd", "d"][seed % 3])
        let warehouse = try Warehouse(
            TextLibrary.model(indexOptions), options: [NSPersistentStoreConnectionPoolMaxSizeKey: 1])
        func text(_ length: ClosedRange<Int>) -> String {
            (0..<Int.random(in: length, using: &generator)).map { _ in
                Self.letters.randomElement(using: &generator) ?? ""
            }.joined()
        }
        let texts = (0..<200).map { _ in text(0...5) }
        let pool = try #require(warehouse.store as? PostgreSQLStore).backend().pool
        try warehouse.context.performAndWait {
            for text in texts { _ = warehouse.context.insert("Book", ["title": text, "summary": text, "copy": text]) }
            _ = warehouse.context.insert("Book", [:])
            try warehouse.context.save()
            try pool.withConnection { try $0.wire.run("ANALYZE book; SET enable_seqscan TO off") }
            var found = 0
            for round in 0..<(LongTests.areEnabled ? 150 : 15) {
                let other = texts.randomElement(using: &generator) ?? ""
                let pattern = round % 2 == 0 ? text(0...3) : String(other.unicodeScalars.prefix(2))
                for operation in ["==", "BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE", "<"] {
                    let options = ["", "[c]", "[d]", "[cd]"].randomElement(using: &generator) ?? ""
                    func books(_ key: String) throws -> Set<NSManagedObjectID> {
                        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
                        request.resultType = .managedObjectIDResultType
                        request.predicate = NSPredicate(format: "\(key) \(operation)\(options) %@", pattern)
                        return Set(try warehouse.context.fetch(request))
                    }
                    let plain = try books("copy")
                    found += plain.count
                    for key in ["title", "summary"] {
                        let indexed = try books(key)
                        #expect(indexed == plain, "\(key) \(operation)\(options) \(Array(pattern.unicodeScalars))")
                    }
                }
            }
            #expect(found > 100)
        }
    }

    /// A constant for which no bounds are known leaves the statement of others alone.
    @Test func aPrefixWithoutBoundsIsNoHindrance() throws {
        let warehouse = try Warehouse(TextLibrary.model())
        try warehouse.context.performAndWait {
            for title in ["Ähre", "ahoi", "b", "\u{10ffff}x"] { _ = warehouse.context.insert("Book", ["title": title]) }
            try warehouse.context.save()
            func count(_ prefix: String) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.predicate = NSPredicate(format: "title BEGINSWITH[cd] %@", prefix)
                return try warehouse.context.count(for: request)
            }
            for _ in 0..<2 {
                for (prefix, expected) in [("", 4), ("A", 2), ("\u{10ffff}", 1), ("ÄH", 2), ("Bb", 0)] {
                    #expect(try count(prefix) == expected, "\(prefix)")
                }
            }
        }
    }

    @Test func aTextThatIsTooLongForAnIndexIsRefused() throws {
        let warehouse = try Warehouse(TextLibrary.model())
        var generator = SeededGenerator(seed: 1)
        // Not to be compressed.
        let text = String(
            (0..<9_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 48...122, using: &generator))) })
        warehouse.context.performAndWait {
            _ = warehouse.context.insert("Book", ["title": text])
            let error = #expect(throws: NSError.self) { try warehouse.context.save() }
            #expect(error?.localizedDescription.contains("index row") == true, "\(String(describing: error))")
        }
    }

    // MARK: Migration

    private func migrate(_ url: URL, to indexOptions: TextLibrary.Wishes) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TextLibrary.model(indexOptions))
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        try coordinator.remove(store)
    }

    private func definition(_ index: String, of warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = '\(warehouse.schema)' AND indexname = '\(index)'")
    }

    @Test func aMigrationMakesKeepsAndDropsThem() throws {
        let warehouse = try Warehouse(TextLibrary.model(.none))
        try TextLibrary.fill(warehouse, count: 100)
        let (url, schema) = (warehouse.url, warehouse.schema)
        #expect(TextLibrary.indexes(url, schema) == ["book_by_summary", "book_by_title"])
        try migrate(url, to: .init(version: "2"))
        #expect(TextLibrary.indexes(url, schema) == Self.all)
        func file(_ index: String) throws -> [String?] {
            try warehouse.texts("SELECT pg_relation_filenode('\(index)')")
        }
        let (folded, parts) = (try file("book_by_title_cd"), try file("book_by_title_cd_parts"))
        try migrate(url, to: .init(order: nil, version: "3"))
        #expect(TextLibrary.indexes(url, schema) == Array(Self.all.dropLast()))
        #expect(try file("book_by_title_cd") == folded)
        #expect(try file("book_by_title_cd_parts") == parts)
        try migrate(url, to: .init(fold: "c", version: "4", condition: "year > 50"))
        #expect(
            TextLibrary.indexes(url, schema) == [
                "book_by_summary", "book_by_summary_parts", "book_by_title", "book_by_title_c", "book_by_title_c_parts",
                "book_by_title_localized_standard",
            ])
        for index in ["book_by_title_c", "book_by_title_c_parts", "book_by_title"] {
            #expect(try definition(index, of: warehouse).first??.hasSuffix("WHERE (year > 50)") == true)
        }
        // What somebody has dropped meanwhile comes back.
        try warehouse.run("DROP INDEX book_by_title_c")
        try migrate(url, to: .init(fold: "c", version: "5", condition: "year > 50"))
        #expect(TextLibrary.indexes(url, schema).contains("book_by_title_c"))
        var none = TextLibrary.Wishes.none
        none.version = "6"
        try migrate(url, to: none)
        #expect(TextLibrary.indexes(url, schema) == ["book_by_summary", "book_by_title"])
    }

    @Test func whatIsRenamedHasThemUnderItsNewNames() throws {
        let warehouse = try Warehouse(TextLibrary.model())
        try TextLibrary.fill(warehouse, count: 100)
        try migrate(warehouse.url, to: .init(version: "2", title: "heading"))
        #expect(TextLibrary.indexes(warehouse.url, warehouse.schema) == Self.all)
        #expect(try definition("book_by_title_cd", of: warehouse).first??.contains("ocd_fold(heading, 3)") == true)
        #expect(
            try definition("book_by_title_cd_parts", of: warehouse).first??.contains("ocd_compose(heading, 3)") == true)
        try migrate(warehouse.url, to: .init(version: "3", entity: "Volume", title: "heading"))
        #expect(
            try warehouse.texts(
                "SELECT indexname FROM pg_indexes WHERE schemaname = '\(warehouse.schema)' AND tablename = 'volume' "
                    + "ORDER BY 1"
            )
                == (Self.all.map { $0.replacingOccurrences(of: "book", with: "volume") } + ["volume_pkey"]))
        #expect(try warehouse.texts("SELECT count(*) FROM volume WHERE ocd_fold(heading, 3) LIKE 'arger%'") == ["12"])
    }

    // MARK: What a server lacks

    @Test func withoutTheExtensionIndexesOfPartsAreLeftOut() throws {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("CREATE DATABASE plain_\(schema)")
        let url = try #require(
            URL(
                string: server.url(schema: schema).absoluteString
                    .replacingOccurrences(of: "/\(server.database)?", with: "/plain_\(schema)?")))
        try migrate(url, to: .init())
        let other = try WireConnection.open(server.connectionString() + " dbname=plain_\(schema)")
        defer { other.close() }
        func indexes() throws -> [String?] {
            try other.texts(
                "SELECT indexname::text FROM pg_indexes WHERE schemaname = '\(schema)' AND tablename = 'book' "
                    + "AND indexname <> 'book_pkey' ORDER BY 1"
            )
        }
        #expect(try indexes() == Self.all.filter { !$0.hasSuffix("_parts") })
        let warning = try #require(
            Warnings.all.first { $0.contains("book_by_title_cd_parts") && $0.contains("plain_\(schema)") })
        #expect(warning.contains("pg_trgm"))
        // Nobody has made it unasked; who makes it has the indexes with the next migration.
        #expect(try other.texts("SELECT extname::text FROM pg_extension") == ["plpgsql"])
        try other.run("CREATE EXTENSION pg_trgm")
        try migrate(url, to: .init(version: "2"))
        #expect(try indexes() == Self.all)
    }

    @Test func withoutFunctionsThatFoldTheirIndexesAreLeftOut() throws {
        let warehouse = try Warehouse(TextLibrary.model(.none))
        try warehouse.run("DROP FUNCTION ocd_fold CASCADE")
        try migrate(warehouse.url, to: .init(version: "2"))
        #expect(
            TextLibrary.indexes(warehouse.url, warehouse.schema) == [
                "book_by_summary", "book_by_summary_parts", "book_by_title",
            ])
        #expect(
            Warnings.all.contains {
                $0.contains("book_by_title_cd'") && $0.contains(warehouse.schema) && $0.contains("ICU")
            })
    }

    @Test func wordsThatMeanNothingAreSaid() throws {
        let warehouse = try Warehouse(TextLibrary.model(.init(fold: "cx", search: "trigrams", order: "compare:")))
        #expect(TextLibrary.indexes(warehouse.url, warehouse.schema) == ["book_by_summary", "book_by_title"])
        for (key, word) in [("ocd.fold", "cx"), ("ocd.search", "trigrams"), ("ocd.order", "compare:")] {
            let sentences = Warnings.all.filter { $0.contains("'\(key)' of 'title'") && $0.contains(warehouse.schema) }
            #expect(sentences.contains { $0.contains("'\(word)'") })
        }
    }

    @Test func aCopyInADatabaseWithoutTheExtensionHasTheOtherIndexes() throws {
        let warehouse = try Warehouse(TextLibrary.model())
        try TextLibrary.fill(warehouse, count: 50)
        let server = try WireConnection.server()
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("CREATE DATABASE copy_\(warehouse.schema)")
        let text = warehouse.url.absoluteString.replacingOccurrences(
            of: "/\(server.database)?", with: "/copy_\(warehouse.schema)?")
        let url = try #require(URL(string: text))
        try warehouse.coordinator.replacePersistentStore(
            at: url, destinationOptions: nil, withPersistentStoreFrom: warehouse.url, sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
        let other = try WireConnection.open(server.connectionString() + " dbname=copy_\(warehouse.schema)")
        defer { other.close() }
        #expect(try other.texts("SELECT count(*)::text FROM \(warehouse.schema).book") == ["50"])
        #expect(
            try other.texts(
                "SELECT count(*)::text FROM pg_indexes WHERE tablename = 'book' AND indexname LIKE '%parts'") == ["0"])
        #expect(
            try other.texts("SELECT indexname::text FROM pg_indexes WHERE indexname = 'book_by_title_cd'") == [
                "book_by_title_cd"
            ])
    }
}
