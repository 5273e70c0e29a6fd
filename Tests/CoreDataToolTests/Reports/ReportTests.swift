import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The page of `coredata report`: its parts and its file.
struct ReportTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("Album.sqlite")
        try AlbumStore.make(at: url)
        store = url.path
    }

    private func path(_ name: String) -> String { workplace.folder.appendingPathComponent(name).path }

    // MARK: File

    @Test(arguments: ["-o", "--output"])
    func thePageIsWrittenToTheNamedFile(_ option: String) throws {
        let run = ToolRun(["report", store, option, path("a.html")])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "written \(path("a.html"))\n")
        #expect(try String(contentsOfFile: path("a.html"), encoding: .utf8) == WrittenReport(store).text)
    }

    @Test func aFileThatCannotBeWrittenIsAFailure() throws {
        let run = ToolRun(["report", store, "-o", path("none/a.html")])
        #expect(run.status == 1)
        #expect(run.errors.contains("cannot be written"))
    }

    @Test func noFileIsLeftOfAStoreThatCannotBeRead() throws {
        let run = ToolRun(["report", try workplace.file("no.sqlite", Data("no".utf8)), "-o", path("a.html")])
        #expect(run.status == 1)
        #expect(try workplace.contents().keys.filter { $0.hasPrefix("a.html") } == [])
    }

    @Test func theStoreStaysAsItIs() throws {
        let before = try workplace.contents()
        _ = try WrittenReport(store)
        #expect(try workplace.contents() == before)
    }

    @Test(arguments: ["x", "-1"])
    func aLimitIsANumberFromZeroOn(_ limit: String) {
        #expect(ToolRun(["report", store, "--limit=\(limit)"]).status == 64)
    }

    // MARK: Parts

    @Test func theHeaderNamesTheStore() throws {
        let report = try WrittenReport(store)
        #expect(report.text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">\n"))
        #expect(try report.texts("//h1") == ["Album.sqlite"])
        #expect(try report.texts("/html/head/title") == ["Album.sqlite – Core Data store"])
        #expect(try report.texts("//dl[@class='figures']//dt") == ["Objects", "Entities", "Size", "Findings"])
        #expect(try report.texts("//dl[@class='figures']//dd")[0] == "8")
        let uuid = SQLiteFile(URL(fileURLWithPath: store)).value("SELECT Z_UUID FROM Z_METADATA")
        #expect(try report.texts("//dl[@class='facts']//dd").contains(uuid ?? ""))
    }

    @Test func thePolicyAllowsTheScriptByItsHash() throws {
        let report = try WrittenReport(store)
        let script = try workplace.file("script", Data(report.script().utf8))
        let digest = try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), ["sha256sum", script]).output.prefix(64)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(digest.dropFirst($0).prefix(2), radix: 16) }
        let policy = try report.texts("//meta[@http-equiv='Content-Security-Policy']/@content")
        #expect(
            policy == [
                "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
                    + "script-src 'sha256-\(Data(bytes).base64EncodedString())'; base-uri 'none'; form-action 'none'"
            ])
    }

    @Test func theDiagramIsInThePage() throws {
        let titles = try WrittenReport(store).texts(
            "//section[@id='diagram']//*[local-name()='g']/*[local-name()='title']")
        #expect(titles == ["Album", "Photo"])
    }

    @Test func entitiesHaveBarsAsLongAsTheirCounts() throws {
        let report = try WrittenReport(store)
        #expect(
            try report.rows("//section[@id='counts']//tbody/tr").map { $0.prefix(2) } == [
                ["Album", "1"], ["Photo", "7"],
            ])
        #expect(
            try report.texts("//section[@id='counts']//span[@class='bar']/@style") == ["width:14.3%", "width:100.0%"])
        #expect(try report.texts("//section[@id='counts']//a/@href") == ["#e1", "#e2"])
    }

    @Test func tablesHaveSizes() throws {
        let tables = try WrittenReport(store).texts("//section[@id='sizes']//tbody//th")
        #expect(tables.contains("ZPHOTO"))
        #expect(tables.contains("Z_METADATA"))
    }

    @Test func problemsAreFindings() throws {
        #expect(try WrittenReport(store).texts("//section[@id='findings']/p").count == 1)
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZPHOTO SET ZALBUM = 77 WHERE Z_PK = 2")
        let report = try WrittenReport(store)
        #expect(
            try report.texts("//section[@id='findings']//li") == [
                "Photo.album of 1 object (p2) leads to a row that is not there."
            ])
        #expect(try report.texts("//dl[@class='figures']//dd")[3] == "1")
    }

    // MARK: Dates

    @Test func datesAreCountedByTheAttributeWithMostOfThem() throws {
        let report = try WrittenReport(store)
        #expect(try report.texts("//figcaption") == ["Photo.taken by month (UTC)"])
        #expect(
            try report.rows("//section[@id='dates']//tbody/tr") == [
                ["2024-01", "2"], ["2024-02", "2"], ["2024-03", "3"],
            ]
        )
        #expect(try report.texts("//*[@class='axis']") == ["2024-012024-03"])
    }

    @Test(arguments: [
        (
            "2024-05-10T18:14:00", "2024-05-10T20:00:00", "hour",
            ["2024-05-10 18 h", "2024-05-10 19 h", "2024-05-10 20 h"]
        ),
        ("2024-02-28T00:00", "2024-03-02T00:00:01", "day", ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"]),
        ("1969-11-30T23:59:59", "1970-02-01", "month", ["1969-11", "1969-12", "1970-01", "1970-02"]),
        ("1999-12-31", "2005-02-01", "year", ["1999", "2000", "2001", "2002", "2003", "2004", "2005"]),
        ("1931-01-01", "2000-01-01", "10 years", ["1930–1939", "1940–1949"]),
    ])
    func spansFitTheDates(_ first: String, _ last: String, _ unit: String, _ names: [String]) throws {
        let dates = try [first, last].map { try #require(DateText.date(from: $0)).timeIntervalSinceReferenceDate }
        try SQLiteFile(URL(fileURLWithPath: store)).run(
            "UPDATE ZPHOTO SET ZTAKEN = CASE Z_PK WHEN 1 THEN \(dates[0]) ELSE \(dates[1]) END")
        let opened = try ReadableStore(path: store, modelPath: nil)
        let place = try #require(EntityPlace(try opened.entity(named: "Photo"), in: opened))
        let spread = try #require(DateSpread(place, in: opened))
        #expect(spread.unit.name == unit)
        #expect(Array(spread.bins.map(\.name).prefix(names.count)) == names)
        #expect(spread.bins.map(\.count).filter { $0 > 0 } == [1, 6])
    }

    @Test func ofSeveralAttributesTheLongestSpanCounts() throws {
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZPHOTO SET ZEDITED = ZTAKEN + 10000000 * Z_PK")
        #expect(try WrittenReport(store).texts("//figcaption") == ["Photo.edited by month (UTC)"])
    }

    @Test func aSingleDateIsNoSpread() throws {
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZPHOTO SET ZTAKEN = NULL WHERE Z_PK > 1")
        #expect(try WrittenReport(store).nodes("//section[@id='dates']").isEmpty)
    }

    @Test func datesThatMeanNoneAreCountedApart() throws {
        try SQLiteFile(URL(fileURLWithPath: store)).run(
            "UPDATE ZPHOTO SET ZTAKEN = -63114076800 WHERE Z_PK = 1; UPDATE ZPHOTO SET ZTAKEN = 1e300 WHERE Z_PK = 2")
        #expect(
            try WrittenReport(store).texts("//figcaption") == [
                "Photo.taken by day (UTC); without 2 before 1900 or after 2199"
            ])
    }

    // MARK: Sample

    @Test func objectsHaveTheirValuesInATable() throws {
        let report = try WrittenReport(store)
        #expect(
            try report.texts("//details[@id='e2']//thead//th") == [
                "objectID", "editedDate", "noteString", "pictureBinary Data", "takenDate", "titleString", "albumAlbum",
            ])
        let row = try #require(try report.rows("//tr[@id='e2-p3']").first)
        #expect(row == ["Photo/p3", "–", "–", "", "2024-02-01T12:00:00Z", "Photo 3", "Album/p1"])
        #expect(try report.rows("//tr[@id='e1-p1']").first?[1] == "Holiday")
    }

    @Test func relationshipsLeadToTheRowsOfTheSample() throws {
        let report = try WrittenReport(store)
        #expect(try report.texts("//tr[@id='e2-p3']//a/@href") == ["#e1-p1"])
        #expect(try report.texts("//tr[@id='e1-p1']//a/@href") == (1...5).map { "#e2-p\($0)" })
        #expect(try report.rows("//tr[@id='e1-p1']").first?[2].hasPrefix("7 Photo/p1, ") == true)
        #expect(try report.rows("//tr[@id='e1-p1']").first?[2].hasSuffix(" and 2 more") == true)
    }

    @Test func aLimitMakesTheSampleSmaller() throws {
        let report = try WrittenReport(store, "--limit", "2")
        #expect(try report.nodes("//details[@id='e2']//tbody/tr").count == 2)
        #expect(try report.texts("//details[@id='e2']/summary") == ["Photo the first 2 of 7 objects"])
        #expect(try report.texts("//tr[@id='e1-p1']//a/@href") == ["#e2-p1", "#e2-p2"])
        try report.expectSelfContained()
    }

    @Test func aLimitOfZeroShowsNoObjects() throws {
        let report = try WrittenReport(store, "--limit", "0")
        #expect(try report.nodes("//tbody/tr[@id]").isEmpty)
        #expect(try report.nodes("//p[@class='problem']").isEmpty)
    }

    @Test func picturesAreShown() throws {
        let report = try WrittenReport(store)
        let images = try report.texts("//img/@src").map { String($0.prefix(22)) }
        #expect(
            images == [
                "data:image/png;base64,", "data:image/gif;base64,", "data:image/jpeg;base64", "data:image/webp;base64",
            ])
        #expect(
            try report.texts("//tr[@id='e2-p1']//img/@src").first?.dropFirst(22)
                == (AlbumStore.png?.base64EncodedString())?[...])
        #expect(try report.texts("//img/@alt").first == "picture of Photo/p1")
    }

    @Test func otherBytesHaveAKindAndASize() throws {
        let report = try WrittenReport(store)
        #expect(try report.texts("//tr[@id='e2-p5']//span[@class='bytes']") == ["PNG, 300.1 KB"])
        #expect(try report.texts("//tr[@id='e2-p6']//span[@class='bytes']") == ["3 bytes"])
    }

    @Test func longTextsAreFolded() throws {
        let report = try WrittenReport(store)
        let summaries = try report.texts("//tr[@id='e2-p2']//details/summary")
        #expect(summaries == [String(repeating: "long ", count: 32) + "…"])
        #expect(try report.texts("//tr[@id='e2-p1']/td[2]") == ["first line\nsecond line"])
    }

    @Test func valuesOfTransformablesAreDecoded() throws {
        let report = try WrittenReport(try workplace.shop())
        #expect(try report.texts("//code") == ["[\"steel\", \"hex\"]"])
    }

    // MARK: Form

    @Test func tablesHaveHeadersWithAScope() throws {
        let report = try WrittenReport(store)
        #expect(try report.nodes("//th[not(@scope)]").isEmpty)
        #expect(try report.nodes("//table[not(caption)]").isEmpty)
    }

    @Test func sectionsAreLabelledByTheirHeadings() throws {
        let report = try WrittenReport(store)
        let labels = try report.texts("//section/@aria-labelledby")
        #expect(labels.count == 6)
        #expect(labels == (try report.texts("//section/h2/@id")))
        #expect(try report.nodes("//main | //header | //nav | //footer").count == 4)
        #expect(try report.texts("/html/body/a/@href") == ["#main"])
    }

    @Test func theSearchFieldHasALabelAndALiveResult() throws {
        let report = try WrittenReport(store)
        #expect(try report.texts("//label/@for") == (try report.texts("//input/@id")))
        #expect(try report.texts("//*[@role='status']/@aria-live") == ["polite"])
    }

    @Test func aPageRefersToNothingButItself() throws { try WrittenReport(store).expectSelfContained() }
}
