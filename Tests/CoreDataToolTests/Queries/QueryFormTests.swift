import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The forms of a query's result: counts, groups, members of relationships, explanations.
struct QueryFormTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    private func query(_ entity: String, _ arguments: String...) -> ToolRun {
        ToolRun(["query", store, entity] + arguments)
    }

    // MARK: Counts

    @Test func countIsTheNumberAlone() {
        #expect(query("Product", "--count", "--where", "stock > 5").output == "2\n")
        #expect(query("Product", "--count", "--format", "json").output == "{\"count\": 3}\n")
        #expect(query("Product", "--count", "--format", "csv").output == "count\r\n3\r\n")
        #expect(query("Product", "--count", "--limit", "2").output == "2\n")
    }

    @Test(arguments: [
        ["--count", "--columns", "name"], ["--group-by", "name", "--expand", "maker"],
        ["--count", "--aggregate", "count"],
        ["--expand", "maker:0"], ["--expand", "maker:x"], ["--aggregate", "median:stock"], ["--aggregate", "sum"],
        ["--aggregate", "count:"], ["--expand", "maker:2"], ["--safe-csv"], ["--sort", "sum:stock:up"],
    ])
    func formsThatExcludeEachOtherAreUsageErrors(_ arguments: [String]) {
        let run = ToolRun(["query", store, "Product"] + arguments)
        #expect(run.status == 64, "\(run.errors)")
    }

    // MARK: Groups

    @Test func groupsAreCountedByDefault() {
        let run = query("Product", "--group-by", "Maker.NAME", "--format", "csv")
        #expect(run.output == "maker.name,count\r\nSøren & Sons,3\r\n", "\(run.errors)")
    }

    @Test func aggregatesAreComputedByTheStore() {
        let run = query(
            "Product", "--group-by", "maker", "--aggregate", "count,sum:stock,avg:stock,min:STOCK,max:name,count:price",
            "--format", "json")
        #expect(
            run.output == """
                [
                {"maker": "Maker/p1", "count": 3, "sum:stock": 30, "avg:stock": 10, "min:stock": 0, \
                "max:name": "漢字 screw", "count:price": 1}
                ]

                """, "\(run.errors)")
    }

    @Test func decimalsAndDatesKeepTheirTypesInGroups() {
        let run = query("Product", "--aggregate", "sum:price,max:added", "--format", "ndjson")
        #expect(
            run.output == "{\"sum:price\": 12345678.0625, \"max:added\": \"2023-11-14T22:13:20.250Z\"}\n",
            "\(run.errors)")
    }

    @Test func groupsAreSortedByTheirColumns() {
        let run = query(
            "Product", "--group-by", "stock", "--aggregate", "sum:stock", "--sort", "sum:stock:desc", "--limit", "2",
            "--format", "csv")
        #expect(run.output == "stock,sum:stock\r\n20,20\r\n10,10\r\n", "\(run.errors)")
    }

    @Test func groupsOfNothingAreNull() {
        let run = query("Product", "--group-by", "isSold", "--format", "csv", "--where", "stock >= 10")
        #expect(run.output == "isSold,count\r\n,2\r\n", "\(run.errors)")
    }

    @Test(arguments: [
        (["--group-by", "products"], "leads to several objects"), (["--group-by", "nme"], "Did you mean 'name'?"),
        (["--aggregate", "sum:name"], "sum takes numbers"), (["--aggregate", "min:products.name"], "several objects"),
        (["--group-by", "name", "--sort", "stock"], "There is name, count."),
    ])
    func groupsOfOtherKeysAreRefused(_ arguments: [String], _ message: String) {
        let run = ToolRun(["query", store, "Maker"] + arguments)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    // MARK: Members

    @Test func membersAreRowsInTables() {
        let run = query(
            "Maker", "--expand", "products", "--columns", "name,products.stock,products.objectID", "--format", "csv")
        let rows = run.output.components(separatedBy: "\r\n")
        #expect(rows.first == "name,products.stock,products.objectID", "\(run.errors)")
        #expect(
            rows.dropFirst().dropLast().map { $0.prefix(14) }.sorted() == [
                "Søren & Sons,0", "Søren & Sons,1", "Søren & Sons,2",
            ])
    }

    @Test func anObjectWithoutMembersIsARowOfItsOwn() throws {
        #expect(SQLiteFile(URL(fileURLWithPath: store)).execute("UPDATE ZPRODUCT SET ZMAKER = NULL"))
        let run = query("Maker", "--expand", "products", "--columns", "name,products.stock", "--format", "csv")
        #expect(run.output == "name,products.stock\r\nSøren & Sons,\r\n", "\(run.errors)")
    }

    @Test func membersAreNestedInJSON() throws {
        let run = query(
            "Maker", "--expand", "Products", "--columns", "name,products.name,products.maker", "--format", "ndjson")
        let line = try #require(try run.json() as? [String: Any])
        #expect(line.keys.sorted() == ["name", "products"])
        let products = try #require(line["products"] as? [[String: Any]])
        #expect(Set(products.compactMap { $0["name"] as? String }) == ["Bolt, \"hex\"", "Nut\nM6", "漢字 screw"])
        #expect(products.allSatisfy { $0["maker"] as? String == "Maker/p1" })
    }

    @Test func anOpenObjectEndsACycleWithItsIdentity() throws {
        let row = try #require(
            try query("Product", "--where", "stock == 10", "--expand", "maker:3", "--format", "json").rows().first)
        let own = try #require(row["objectID"] as? String)
        let maker = try #require(row["maker"] as? [String: Any])
        let products = try #require(maker["products"] as? [Any])
        #expect(products.compactMap { $0 as? String } == [own])
        let others = products.compactMap { $0 as? [String: Any] }
        #expect(others.map { $0["maker"] as? String } == ["Maker/p1", "Maker/p1"])
    }

    @Test func aMemberWhoseRowIsMissingIsItsIdentity() throws {
        #expect(SQLiteFile(URL(fileURLWithPath: store)).execute("DELETE FROM ZMAKER"))
        let rows = try query("Product", "--expand", "maker", "--format", "json").rows()
        #expect(rows.map { $0["maker"] as? String } == ["Maker/p1", "Maker/p1", "Maker/p1"])
        let csv = query(
            "Product", "--expand", "maker", "--columns", "stock,maker.objectID,maker.name", "--format", "csv")
        #expect(csv.output.contains("20,Maker/p1,\r\n"), "\(csv.errors)")
    }

    @Test func onlyRelationshipsAreExpanded() {
        #expect(query("Product", "--expand", "name").errors.contains("'name' is no relationship"))
        #expect(query("Product", "--expand", "makr").errors.contains("Did you mean 'maker'?"))
    }

    @Test(.enabled(if: FixtureStores.arePresent)) func orderedMembersKeepTheirOrder() throws {
        let path = try workplace.copy("DuckDuckGoBookmarks/Bookmarks_V5.sqlite")
        let rows = try ToolRun([
            "query", path, "BookmarkEntity", "--where", "children.@count > 0", "--expand", "children", "--columns",
            "objectID,children.objectID", "--format", "json",
        ]).rows()
        let database = SQLiteFile(URL(fileURLWithPath: path))
        for row in rows {
            let key = try #require(row["objectID"] as? String).dropFirst("BookmarkEntity/p".count)
            let expected = database.column(
                "SELECT Z_PK FROM ZBOOKMARKENTITY WHERE ZPARENT = \(key) ORDER BY Z_FOK_PARENT, Z_PK")
            let members = try #require(row["children"] as? [[String: Any]])
            #expect(members.map { $0["objectID"] as? String } == expected.map { "BookmarkEntity/p\($0 ?? "")" })
        }
        #expect(!rows.isEmpty)
    }

    @Test func compositesAndSubentitiesHaveColumnsByPath() throws {
        let warehouse = try Warehouse()
        let run = ToolRun([
            "query", warehouse.path, "Box", "--columns", "objectID,name,shelf.size,shelf.size.width,shelf.boxes",
            "--sort", "name", "--format", "csv",
        ])
        let size = "\"{\"\"width\"\": 3, \"\"height\"\": 2.5}\",3,3\r\n"
        #expect(
            run.output == "objectID,name,shelf.size,shelf.size.width,shelf.boxes\r\nBox/p1,one,\(size)"
                + "Crate/p3,three,\(size)Box/p2,two,\(size)", "\(run.errors)")
    }

    @Test func compositesBehindRelationshipsMakeGroups() throws {
        let warehouse = try Warehouse()
        let run = ToolRun([
            "query", warehouse.path, "Box", "--group-by", "shelf.size.width,shelf", "--aggregate", "count,max:weight",
            "--format", "csv",
        ])
        #expect(run.output == "shelf.size.width,shelf,count,max:weight\r\n3,Shelf/p1,3,5\r\n", "\(run.errors)")
        let whole = ToolRun(["query", warehouse.path, "Shelf", "--group-by", "size"])
        #expect(whole.errors.contains("Name its elements: size.width, size.height."), "\(whole.errors)")
    }

    @Test func membersOfSubentitiesHaveTheirOwnAttributes() throws {
        let warehouse = try Warehouse()
        let rows = try ToolRun([
            "query", warehouse.path, "Shelf", "--expand", "boxes", "--sort", "code", "--format", "json",
        ]).rows()
        let boxes = try #require(rows.first?["boxes"] as? [[String: Any]])
        #expect(boxes.map { $0["name"] as? String } == ["one", "two", "three"])
        #expect(boxes.map { $0.keys.contains("depth") } == [false, false, true])
        #expect((rows.last?["boxes"] as? [Any])?.isEmpty == true)
    }

    // MARK: Explanations

    @Test func theSQLIsShownWithItsPlan() throws {
        let run = query("Product", "--where", "stock > 5", "--explain", "--limit", "7")
        #expect(
            run.lines.first?.hasSuffix("FROM ZPRODUCT t0 WHERE t0.ZSTOCK > 5 ORDER BY t0.Z_PK LIMIT 7") == true,
            "\(run.output)")
        #expect(run.lines.count == 2)
        #expect(run.lines.last?.hasPrefix("  ") == true)
    }

    @Test func explanationsAreJSONToo() throws {
        let run = query("Product", "--group-by", "stock", "--explain", "--format", "json")
        let statements = try #require(try run.json() as? [[String: Any]])
        #expect(statements.count == 1, "\(run.output)\(run.errors)")
        #expect((statements.first?["sql"] as? String)?.contains("GROUP BY t0.ZSTOCK") == true)
        #expect((statements.first?["plan"] as? [[String: Any]])?.isEmpty == false)
    }

    @Test func countsAreExplained() {
        #expect(query("Product", "--count", "--explain").lines.first?.hasPrefix("SELECT COUNT(*)") == true)
    }

    // MARK: Formats

    @Test func linesOfJSONAreObjects() throws {
        let run = query("Product", "--columns", "stock,name", "--sort", "stock", "--format", "ndjson")
        #expect(run.lines.first == "{\"stock\": 0, \"name\": \"Bolt, \\\"hex\\\"\"}")
        #expect(run.lines.count == 3)
        #expect(query("Product", "--where", "FALSEPREDICATE", "--format", "ndjson").output == "")
    }

    @Test func blocksAreWrittenWhereTheyAreAskedFor() {
        let run = query("Product", "--columns", "name,stock", "--sort", "stock", "--limit", "1", "--format", "block")
        #expect(run.output == "name   Bolt, \"hex\"\nstock  0\n\n(1 row)\n")
    }

    @Test(arguments: ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
    func safeCSVHasNoFormulas(_ text: String) throws {
        let file = SQLiteFile(URL(fileURLWithPath: store))
        #expect(file.execute("UPDATE ZPRODUCT SET ZNAME = \(SQLiteReader.text(text)), ZSTOCK = -5, ZWEIGHT = -0.5"))
        let arguments = ["--columns", "name,stock,weight", "--limit", "1", "--format", "csv"]
        func cells(_ run: ToolRun) -> String {
            String(run.output.dropFirst("name,stock,weight\r\n".count)).replacingOccurrences(of: "\"", with: "")
        }
        #expect(cells(ToolRun(["query", store, "Product"] + arguments)) == text + ",-5,-0.5\r\n")
        #expect(
            cells(ToolRun(["query", store, "Product", "--safe-csv"] + arguments)) == "'" + text + ",-5,-0.5\r\n")
    }

    // MARK: Mistakes in predicates

    @Test(arguments: ["name == Bolt", "Bolt == name", "name IN {Bolt, 'Nut'}", "maker.name BEGINSWITH Bolt"])
    func aTextWithoutQuotesIsNamed(_ predicate: String) {
        let run = query("Product", "--where", predicate)
        #expect(run.status == 1)
        #expect(run.errors.contains("Quote texts: 'Bolt'."), "\(run.errors)")
    }

    @Test(arguments: [
        "stock > 2024-05-10", "added BETWEEN {2024-05-10, 2024-06-10}", "added IN {2024-05-10}",
        "added > 2024-05-10T12:00:00Z", "name == 'a' AND 2024-05-10 < added",
    ])
    func aDateWithoutQuotesIsNamedEverywhere(_ predicate: String) {
        let run = query("Product", "--where", predicate)
        #expect(run.status == 1)
        #expect(run.errors.contains("Write a date in quotes: '2024-05-10"), "\(run.errors)")
    }

    @Test(arguments: [
        "name == '2024-05-10'", "name == \"it's 2024-05-10\"", "name == 'a \\' 2024-05-10'", "stock > 2024 - 5 - 10",
    ])
    func datesInTextsAndCalculationsAreNoMistakes(_ predicate: String) {
        #expect(query("Product", "--where", predicate).status == 0)
    }
}
