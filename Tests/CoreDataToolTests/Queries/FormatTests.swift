import CoreData
import Testing

@testable import CoreDataToolKit

/// How values look in each format.
struct FormatTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    private func query(_ arguments: String..., columns: Int = 200) -> ToolRun {
        ToolRun(["query", store, "Product"] + arguments, columns: columns)
    }

    @Test func columnsTakePaths() {
        let run = ToolRun([
            "query", store, "Product", "--columns",
            "stock,Maker.NAME,maker.products,maker.products.@count,maker.objectID,maker",
            "--sort", "stock", "--limit", "1", "--format", "csv",
        ])
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\r\n")
        #expect(
            lines.first == "stock,maker.name,maker.products,maker.products.@count,maker.objectID,maker", "\(run.output)"
        )
        #expect(lines.dropFirst().first == "0,Søren & Sons,3,3,Maker/p1,Maker/p1", "\(run.output)")
        let several = ToolRun(["query", store, "Maker", "--columns", "products.name"])
        #expect(several.status == 1)
        #expect(several.errors.contains("products.@count"))
        #expect(ToolRun(["query", store, "Product", "--columns", "maker.nam"]).errors.contains("'name'"))
    }

    @Test func jsonHasExactValuesInAStableOrder() throws {
        let run = query("--limit", "1", "--format", "json")
        let name = try #require(try run.rows().first?["objectID"] as? String)
        #expect(
            run.output == """
                [
                {"objectID": "\(name)", "added": "2023-11-14T22:13:20.250Z", "code": \
                "00112233-4455-6677-8899-AABBCCDDEEFF", "image": "AAEC/w==", "isSold": true, \
                "name": "Bolt, \\"hex\\"", "page": "https://example.org/bolt", "price": 12345678.0625, "stock": 0, \
                "tags": ["steel", "hex"], "weight": 2.5, "maker": "Maker/p1"}
                ]

                """)
    }

    @Test func compositesAreJSONAndElementsHaveColumnsByPath() throws {
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        let width = NSAttributeDescription(), exact = NSAttributeDescription(), made = NSAttributeDescription()
        (width.name, width.attributeType) = ("width", .integer64AttributeType)
        (exact.name, exact.attributeType) = ("exact", .booleanAttributeType)
        (made.name, made.attributeType) = ("made", .dateAttributeType)
        size.elements = [width, exact, made]
        let box = NSEntityDescription()
        box.name = "Box"
        box.properties = [size]
        let model = NSManagedObjectModel()
        model.entities = [box]
        let url = workplace.folder.appendingPathComponent("Boxes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 1...2 {
                NSEntityDescription.insertNewObject(forEntityName: "Box", into: context).setValue(
                    ["width": number, "exact": true, "made": Date(timeIntervalSinceReferenceDate: 0)], forKey: "size")
            }
            _ = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            try context.save()
        }
        try coordinator.remove(store)
        let all = ToolRun(["query", url.path, "Box", "--columns", "size", "--format", "json"])
        let value = "{\"width\": 2, \"exact\": true, \"made\": \"2001-01-01T00:00:00Z\"}"
        #expect(all.lines.contains { $0.contains(value) }, "\(all.output)\(all.errors)")
        #expect(all.lines.contains { $0.contains("null") }, "\(all.output)\(all.errors)")
        let run = ToolRun(
            [
                "query", url.path, "Box", "--columns", "SIZE.Width,size.exact", "--where",
                "size.width > 1 AND size.made < '2002-01-01'",
                "--format", "csv",
            ])
        #expect(run.output == "size.width,size.exact\r\n2,true\r\n", "\(run.errors)")
        let unknown = ToolRun(["query", url.path, "Box", "--columns", "size.depth"])
        #expect(unknown.status != 0, "\(unknown.errors)")
        #expect(unknown.errors.contains("no element 'depth'"), "\(unknown.errors)")
        #expect(ToolRun(["info", url.path]).status == 0)
    }

    @Test func csvQuotesWhatItMust() {
        let run = query("--columns", "name,image,added,maker", "--format", "csv")
        #expect(
            run.output
                == "name,image,added,maker\r\n\"Bolt, \"\"hex\"\"\",AAEC/w==,2023-11-14T22:13:20.250Z,Maker/p1\r\n"
                + "\"Nut\nM6\",,,Maker/p1\r\n漢字 screw,,,Maker/p1\r\n")
    }

    @Test func tablesLineUpAndShowControlCharacters() {
        let run = query("--columns", "name,stock,image")
        #expect(
            run.output == """
                name         stock  image
                -----------  -----  ---------
                Bolt, "hex"      0  <4 bytes>
                Nut␊M6          10  -
                漢字 screw      20  -
                (3 rows)

                """)
    }

    @Test func tablesFitTheTerminal() {
        let run = query("--columns", "name,page", columns: 24)
        #expect(run.lines.dropLast().allSatisfy { DisplayWidth.of(String($0)) <= 24 })
        #expect(run.output.contains("…"))
    }

    @Test func identitiesAreNeverCut() {
        let run = query("--columns", "objectID,name,maker", columns: 28)
        #expect(run.lines.dropFirst(2).dropLast().allSatisfy { $0.hasPrefix("Product/p") && $0.hasSuffix("Maker/p1") })
        #expect(run.output.contains("…"))
        #expect(query("--columns", "objectID", columns: 20).lines.allSatisfy { !$0.contains("…") })
    }

    @Test func tablesThatAreTooWideBecomeBlocks() {
        let run = query("--limit", "1", columns: 30)
        #expect(
            run.output.replacingOccurrences(of: "Product/p[123]", with: "Product/pN", options: .regularExpression)
                == """
                objectID  Product/pN
                added     2023-11-14T22:13:20…
                code      00112233-4455-6677-…
                image     <4 bytes>
                isSold    true
                name      Bolt, "hex"
                page      https://example.org…
                price     12345678.0625
                stock     0
                tags      ["steel", "hex"]
                weight    2.5
                maker     Maker/p1

                (1 row)
                Too wide for a table of 30 columns: choose with --columns, or use --format json.

                """)
    }

    /// A long value far down widens its column from the first line on.
    @Test func widthsComeFromAllRows() throws {
        let store = workplace.folder.appendingPathComponent("Long.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addPersistentStore(type: .sqlite, at: store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 1...700 {
                let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
                maker.setValue(number == 700 ? "z, the longest name of all" : "n", forKey: "name")
            }
            try context.save()
        }
        let run = ToolRun(["query", store.path, "Maker", "--sort", "name", "--columns", "name,objectID"])
        #expect(run.output.contains("\nz, the longest name of all  Maker/p"))
        #expect(run.lines.first == "name                        objectID")
        #expect(run.lines.count == 703)
    }

    @Test func toManyRelationshipsAreCounted() throws {
        let rows = try ToolRun(["query", store, "Maker", "--format", "json"]).rows()
        #expect(rows.map { $0["products"] as? Int } == [3])
    }

    @Test func sortingLimitAndOffsetGoTogether() throws {
        let rows = try query("--sort", "stock:desc", "--offset", "1", "--limit", "1", "--format", "json").rows()
        #expect(rows.map { $0["stock"] as? Int } == [10])
        #expect(try query("--limit", "0", "--format", "json").rows().isEmpty)
        #expect(query("--where", "FALSEPREDICATE", "--format", "json").output == "[]\n")
        #expect(query("--where", "FALSEPREDICATE", "--format", "csv", "--columns", "name").output == "name\r\n")
    }

    @Test(arguments: [
        "STOCK == 0", "Maker.NAME BEGINSWITH 'S' AND code == '00112233-4455-6677-8899-aabbccddeeff'",
        "added BETWEEN {'2023-11-14', '2023-11-15T00:00:00Z'}", "added > '2023-11-14T23:13:20+01:00'",
        "price > 12345678", "isSold == YES", "tags != nil",
    ])
    func predicatesFitTheEntity(_ predicate: String) throws {
        let run = query("--where", predicate, "--format", "json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.rows().map { $0["stock"] as? Int } == [0])
    }

    @Test func subqueriesAreResolvedInTheirDestination() throws {
        let run = ToolRun([
            "query", store, "maker", "--where", "SUBQUERY(Products, $p, $p.Stock > 5).@count == 2", "--format", "json",
        ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.rows().count == 1)
    }

    @Test func rowsInALiveWALAreSeenAndLeftThere() throws {
        // A store that is still open, with its rows in the WAL.
        let url = workplace.folder.appendingPathComponent("Live.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context).setValue("A", forKey: "name")
            try context.save()
        }
        let before = try [url.path, url.path + "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(before[1].count > 0)
        #expect(try ToolRun(["query", url.path, "Maker", "--format", "json"]).rows().count == 1)
        let after = try [url.path, url.path + "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(after == before)
    }

    @Test(arguments: [
        ("2026-01-31", 1_769_817_600.0), ("2000-02-29T12:30", 951_827_400), ("1969-12-31T23:59:59.5Z", -0.5),
        ("2026-01-31 01:00:00+01:00", 1_769_817_600),
    ])
    func datesAreRead(_ text: String, _ seconds: Double) {
        #expect(DateText.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-30", "2026-01-01T25:00", "2026-01-01x", "2026-01-01T10:00:00.Z",
    ])
    func otherTextsAreNoDates(_ text: String) {
        #expect(DateText.date(from: text) == nil)
    }
}
