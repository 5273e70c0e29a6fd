import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// JSON lists and CSV files.
struct ImportFileTests {
    let place: ImportPlace

    init() throws { place = try ImportPlace() }

    private func json(_ text: String, _ more: String...) throws -> ToolRun {
        ToolRun(["import", place.store, try place.file("rows.json", text), "--model", place.model] + more)
    }

    private func csv(_ text: String, _ more: String...) throws -> ToolRun {
        ToolRun(["import", place.store, try place.file("rows.csv", text), "--model", place.model] + more)
    }

    // MARK: JSON

    @Test func aListOfObjectsIsImported() throws {
        let run = try json(
            "[\n{\"objectID\": \"Maker/p1\", \"name\": \"a]},{\\\"\\\\\"},\n {\"objectID\":\n\"Maker/p2\"}\n]\n")
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.rows("SELECT Z_PK, ZNAME FROM ZMAKER ORDER BY 1") == [["1", "a]},{\"\\"], ["2", nil]])
    }

    @Test func anEmptyListIsImported() throws {
        #expect(try json(" [ ] ").output.contains("0 objects imported"))
    }

    private static let wrongLists: [(String, String)] = [
        ("[{\"objectID\": \"Maker/p1\"},\n{\"objectID\": \"Mak", "line 2: this is no JSON: the text ends"),
        ("[{\"objectID\": \"Maker/p1\"},\n", "line 2: this is no JSON: the text ends"),
        ("[{\"objectID\": \"Maker/p1\"}", "this is no JSON: the text ends"),
        ("[{\"objectID\": \"Maker/p1\"},\n]", "line 2: this is no JSON"),
        ("[{\"objectID\": \"Maker/p1\"}\n{}]", "line 1: this is no JSON: there is more behind the value"),
        ("[] x", "has more behind the list"), ("{\"objectID\": \"Maker/p1\"}", "is no JSON list of objects"),
        ("", "is no JSON list of objects"), ("[5]", "line 1: this is no object"),
        ("[\n\n{\"objectID\": \"Maker/p1\", \"nam\": 1}]", "line 3: Maker/p1.nam:"),
    ]

    @Test(arguments: LongTests.some(4, of: wrongLists))
    func wrongListsAreRefused(_ text: String, _ wanted: String) throws {
        let run = try json(text)
        #expect(run.status == 1)
        #expect(run.errors.contains(wanted), "\(run.errors)")
        #expect(!place.hasStore)
    }

    // MARK: CSV

    @Test func fieldsBecomeValuesOfTheirTypes() throws {
        let run = try csv(
            """
            objectID,name,code,stock,sold,weight,added,image,tags,address,maker,playlists\r
            Item/p1,"a, ""b""\r
            c","",5,true,1.5,2001-01-01T00:00:02Z,AAE=,"{""value"":null,""archive"":""AQI=""}",\
            "{""city"": ""Ulm""}",,[]\r
            Item/p2,x,,,0,inf,,,AQI=,,,\r
            Rare/p3,y,z,,,,,,,,,
            """)
        #expect(run.status == 0, "\(run.errors)")
        let sql =
            "SELECT ZNAME, ZCODE, ZSTOCK, ZSOLD, ZWEIGHT, ZADDED, hex(ZIMAGE), hex(ZTAGS), ZCITY FROM ZITEM "
            + "ORDER BY Z_PK"
        let rows = place.rows(sql)
        #expect(rows.first == ["a, \"b\"\r\nc", "", "5", "1", "1.5", "2", "010001", "0102", "Ulm"])
        #expect(rows.dropFirst().first == ["x", nil, nil, "0", "Inf", nil, "", "0102", nil])
    }

    @Test func theEntityOfRowsWithoutIdentityIsNamed() throws {
        #expect(try csv("name\na\nb\n").errors.contains("Name the entity of its rows with --entity."))
        let run = try csv("name\na\nb\n", "--entity", "Maker")
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.rows("SELECT Z_PK, ZNAME FROM ZMAKER ORDER BY 1") == [["1", "a"], ["2", "b"]])
    }

    private static let wrongTables: [(String, String)] = [
        ("objectID,nmae\n", "'nmae' is no property."), ("objectID,name,name\n", "the column 'name' is there twice"),
        ("objectID,,name\n", "a column has no name"), ("", "is empty: it has no header"),
        ("objectID,name\nMaker/p1,x,y\n", "line 2: the row has 3 fields, but the header 2"),
        ("objectID,name\nMaker/p1,\"x\n", "line 2: the file ends within quotes"),
        ("objectID,name\nMaker/p1,\"x\"y\n", "line 2: there is text behind a closing quote"),
        ("objectID,name\nMaker/p1,x\"y\n", "line 2: there is a quote in a field"),
        ("objectID,name\nMaker/p1,\"a\nb\"\nMaker/p2,c,d\n", "line 4: the row has 3 fields"),
    ]

    @Test(arguments: LongTests.some(4, of: wrongTables))
    func wrongTablesAreRefused(_ text: String, _ wanted: String) throws {
        let run = try csv(text, "--entity", "Maker")
        #expect(run.status == 1)
        #expect(run.errors.contains(wanted), "\(run.errors)")
        #expect(!place.hasStore)
    }

    @Test(arguments: [
        ("stock\nx\n", "stock: 'x' is not a whole number"), ("sold\nyes\n", "sold: 'yes' is not true or false"),
        ("notes\nNote/p1\n", "notes: this is no JSON"), ("address\nUlm\n", "address: this is no JSON"),
    ])
    func wrongFieldsAreRefused(_ text: String, _ wanted: String) throws {
        let run = try csv(text, "--entity", "Item")
        #expect(run.errors.contains("line 2: \(wanted)"), "\(run.errors)")
    }

    @Test func aFolderHasAFileForEachEntity() throws {
        let folder = place.workplace.folder.appendingPathComponent("tables")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try place.file("tables/Item.csv", "objectID,name,maker\r\nItem/p2,a,Maker/p5\r\n")
        _ = try place.file("tables/Maker.csv", "objectID,name\r\nMaker/p5,\r\n")
        let run = place.run(folder.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.rows("SELECT Z_PK, ZMAKER FROM ZITEM") == [["2", "5"]])
    }

    @Test func filesOfAFolderAreNamedInMessages() throws {
        let folder = place.workplace.folder.appendingPathComponent("tables")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try place.file("tables/Item.csv", "objectID,name,maker\r\nItem/p2,,Maker/p5\r\n")
        _ = try place.file("tables/Maker.csv", "objectID,name\r\nMaker/p5,a\r\nMaker/p5,b\r\n")
        let run = place.run(folder.path)
        #expect(run.errors.contains("Item.csv line 2: Item/p2.name:"), "\(run.errors)")
        #expect(
            run.errors.contains("Maker.csv line 3: Maker/p5: the same object is in Maker.csv line 2"), "\(run.errors)")
        _ = try place.file("tables/Makr.csv", "objectID\r\n")
        #expect(place.run(folder.path).errors.contains("has the name of no entity"))
    }

    @Test func theFormatComesFromTheEndingOrIsNamed() throws {
        let path = try place.file("rows.txt", #"{"objectID": "Maker/p1"}"#)
        #expect(place.run(path).errors.contains("Add --format ndjson, json or csv."))
        #expect(place.run(path, "--format", "ndjson").status == 0)
    }
}
