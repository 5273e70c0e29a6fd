import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Everything that is in a store, in formats of other programs.
struct ExportTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    private func path(_ name: String) -> String { workplace.folder.appendingPathComponent(name).path }

    /// The objects that an export without options writes.
    private static func objects(_ store: String) throws -> [[String: Any]] {
        let run = ToolRun(["export", store, "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        return try run.rows()
    }

    /// Queries, which the engine answers, are the second opinion on what the tables say.
    private func check(_ store: String) throws {
        let exported = Dictionary(
            try Self.objects(store).map { ($0["objectID"] as? String ?? "", $0) },
            uniquingKeysWith: { first, _ in first })
        let info = try #require(try ToolRun(["info", store, "--json"]).json() as? [String: Any])
        let entities = try #require(info["entities"] as? [[String: Any]])
        var count = 0
        for entity in entities where entity["depth"] as? Int == 0 {
            for row in try ToolRun(["query", store, entity["name"] as? String ?? "", "--format", "json"]).rows() {
                let identity = try #require(row["objectID"] as? String)
                let object = try #require(exported[identity], "\(identity)")
                count += 1
                for (key, value) in row { Self.compare(object[key], value, "\(identity) \(key)") }
            }
        }
        #expect(exported.count == count)
    }

    private static func compare(_ exported: Any?, _ queried: Any, _ place: String) {
        switch exported {
        case let object as [String: Any] where object["archive"] != nil:
            let archive = object["archive"] as? String
            #expect("\(queried)" == archive || "\(queried)" == "\(object["value"] ?? "")", "\(place)")
        case let members as [Any] where queried is Int: #expect(members.count == queried as? Int, "\(place)")
        default: #expect(Self.text(exported ?? "missing") == Self.text(queried), "\(place)")
        }
    }

    /// The JSON text of a value, the keys of objects in order.
    private static func text(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: [value], options: .sortedKeys)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some)
    func exportedValuesAreThoseOfQueries(_ fixture: String) throws { try check(try workplace.copy(fixture)) }

    @Test(arguments: OwnStore.all) func exportedValuesOfOwnStoresAreThoseOfQueries(_ own: OwnStore) throws {
        let folder = try TemporaryFolder()
        try check(try own.make(in: folder).path)
        withExtendedLifetime(folder) {}
    }

    @Test func everyObjectIsALine() throws {
        let run = ToolRun(["export", store])
        #expect(run.lines.count == 4)
        #expect(run.lines[0].hasPrefix(#"{"objectID": "Maker/p1", "name": "Søren & Sons", "products": ["Product/p"#))
        #expect(run.output.contains(#""added": "2023-11-14T22:13:20.250Z""#))
        #expect(run.output.contains(#""maker": "Maker/p1""#))
        #expect(run.output.contains(#""tags": {"value": ["steel", "hex"], "archive": ""#))
    }

    @Test func onlyChosenEntitiesAreWritten() throws {
        #expect(ToolRun(["export", store, "--entity", "maker"]).lines.count == 1)
        #expect(ToolRun(["export", store, "--entity", "Mker"]).errors.contains("Did you mean 'Maker'?"))
    }

    @Test func theFileIsWrittenWhole() throws {
        let run = ToolRun(["export", store, "--output", path("out.ndjson")])
        #expect(run.output == "written \(path("out.ndjson"))\n4 objects of 2 entities\n")
        #expect(try String(contentsOfFile: path("out.ndjson"), encoding: .utf8) == ToolRun(["export", store]).output)
        #expect(!FileManager.default.fileExists(atPath: path("out.ndjson.part")))
        #expect(ToolRun(["export", store, "--output", path("nowhere/out")]).errors.contains("cannot be written"))
    }

    @Test func csvHasAFileForEachEntity() throws {
        #expect(ToolRun(["export", store, "--format", "csv"]).errors.contains("Name a folder with --output"))
        let run = ToolRun(["export", store, "--format", "csv", "--output", path("tables")])
        #expect(run.status == 0, "\(run.errors)")
        let makers = try String(contentsOfFile: path("tables/Maker.csv"), encoding: .utf8)
        #expect(makers.hasPrefix("objectID,name,products\r\nMaker/p1,Søren & Sons,\"[\"\"Product/p"))
        let one = ToolRun(["export", store, "--format", "csv", "--entity", "Maker"])
        #expect(one.output == makers)
    }

    @Test func anExportThatFailsLeavesNoFiles() throws {
        // A file stands where the folder of an entity's pictures would be.
        try FileManager.default.createDirectory(atPath: path("blobs"), withIntermediateDirectories: false)
        _ = try workplace.file("blobs/Product", Data())
        for arguments in [["csv", "--output", path("tables")], ["ndjson", "--output", path("out.ndjson")]] {
            let run = ToolRun(["export", store, "--blobs", path("blobs"), "--format"] + arguments)
            #expect(run.status == 1)
            #expect(run.errors.contains("cannot be"), "\(run.errors)")
        }
        let tables = try FileManager.default.contentsOfDirectory(atPath: path("tables"))
        #expect(tables == ["Maker.csv"])
        #expect(!FileManager.default.fileExists(atPath: path("out.ndjson.part")))
        #expect(!FileManager.default.fileExists(atPath: path("out.ndjson")))
    }

    @Test func anEmptyTextIsNoNull() throws {
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZMAKER SET ZNAME = ''")
        let query = ["query", store, "Maker", "--columns", "name,objectID", "--format", "csv"]
        #expect(ToolRun(query).output == "name,objectID\r\n\"\",Maker/p1\r\n")
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZMAKER SET ZNAME = NULL")
        #expect(ToolRun(query).output == "name,objectID\r\n,Maker/p1\r\n")
    }

    @Test(arguments: ["=1+1", "+1", "-1", "@x", "\tx"]) func formulasAreMarkedAsText(_ text: String) throws {
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZMAKER SET ZNAME = '\(text)'")
        let export = ["export", store, "--format", "csv", "--entity", "Maker"]
        #expect(ToolRun(export + ["--safe-csv"]).output.contains("Maker/p1,'\(text),"))
        #expect(ToolRun(export).output.contains("Maker/p1,\(text),"))
        #expect(ToolRun(["export", store, "--safe-csv"]).status == 64)
    }

    @Test func binaryValuesGoToFiles() throws {
        let png = "89504E470D0A1A0A"
        try SQLiteFile(URL(fileURLWithPath: store)).run(
            "UPDATE ZPRODUCT SET ZIMAGE = x'\(png)' WHERE ZIMAGE IS NOT NULL")
        let run = ToolRun(["export", store, "--blobs", path("blobs")])
        let line = try #require(run.lines.first { $0.contains("\"file\"") })
        let number = try #require(line.split(separator: "\"").first { $0.hasPrefix("Product/p") }).dropFirst(9)
        #expect(line.contains(#""image": {"file": "Product/p\#(number)-image.png"}"#))
        let data = try Data(contentsOf: URL(fileURLWithPath: path("blobs/Product/p\(number)-image.png")))
        #expect(data == Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
    }

    @Test(
        arguments: [
            ([0xff, 0xd8, 0xff, 0xe0], "jpg"), (Array("GIF89a".utf8), "gif"), (Array("%PDF-1.7".utf8), "pdf"),
            ([0, 0, 0, 24] + Array("ftypheic".utf8), "heic"), ([0, 0, 0, 24] + Array("ftypisom".utf8), "mp4"),
            (Array("RIFF0000WEBP".utf8), "webp"), (Array("{\"a\": 1}".utf8), "json"), (Array("Hello".utf8), "txt"),
            ([0, 1, 2], "bin"), ([], "bin"),
        ] as [([UInt8], String)])
    func filesHaveTheExtensionOfTheirContent(_ bytes: [UInt8], _ expected: String) {
        #expect(FileExtension.of(Data(bytes)) == expected)
    }

    @Test(arguments: ["../up", "/root", "a:b", "", ".hidden", "x\u{0}y"]) func namesOfFilesStayInTheFolder(
        _ name: String
    ) {
        let file = BlobFolder.fileName(name)
        #expect(!file.contains("/"))
        #expect(!file.hasPrefix("."))
        #expect(!file.isEmpty)
    }

    @Test func sqlMakesNaturalTables() throws {
        let run = ToolRun(["export", store, "--format", "sql"])
        let file = SQLiteFile(URL(fileURLWithPath: path("natural.sqlite")))
        try file.run(run.output)
        let rows = file.rows(
            "SELECT p.name, p.price, p.added, hex(p.image), m.name FROM Product p JOIN Maker m ON m.objectID = p.maker "
                + "WHERE p.price IS NOT NULL")
        #expect(rows == [["Bolt, \"hex\"", "12345678.0625", "2023-11-14T22:13:20.250Z", "000102FF", "Søren & Sons"]])
        #expect(file.rows("SELECT count(*) FROM sqlite_master WHERE type = 'table'") == [["2"]])
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some)
    func sqlOfFixturesIsTakenBySQLite(_ fixture: String) throws {
        let store = try workplace.copy(fixture)
        let file = SQLiteFile(URL(fileURLWithPath: path("natural.sqlite")))
        try file.run(ToolRun(["export", store, "--format", "sql"]).output)
        let tables = file.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%objectID%'")
        let counts = tables.compactMap { $0.first ?? nil }.map { table in
            Int(file.rows("SELECT count(*) FROM \"\(table)\"").first?.first.flatMap { $0 } ?? "") ?? -1
        }
        #expect(counts.reduce(0, +) == ToolRun(["export", store]).lines.count)
    }

    /// Dates are read back to the last bit, whatever their fraction.
    @Test func datesAreExact() {
        var generator = SeededGenerator(seed: 41)
        let special = [
            0, -0.1, 0.1, -1, 1e-9, -1e-7, 2.5e-300, 721_692_800.123456, -63_113_903_999.5, 252_423_993_599.9,
        ]
        let random = (0..<2000).map { _ in Double.random(in: -6e10...2.5e11, using: &generator) }
        let near = (0..<2000).map { _ in Double.random(in: -3...3, using: &generator) }
        for seconds in special + random + near + [1e300, -1e15] {
            let text = DateText.exactText(seconds)
            #expect(DateText.date(from: text)?.timeIntervalSinceReferenceDate == seconds, "\(text)")
        }
    }
}
