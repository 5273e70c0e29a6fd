import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// What an export wrote becomes an equal store.
struct ImportRoundTripTests {
    let workplace: Workplace

    init() throws { workplace = try Workplace() }

    private static let formats = ["ndjson", "json", "csv"]

    private func path(_ name: String) -> String { workplace.folder.appendingPathComponent(name).path }

    /// Exports a store, imports that into a new one, and compares what both export.
    private func check(_ store: String, model: String, _ format: String, _ options: [String] = []) throws {
        let file = path(format == "csv" ? "tables" : "rows.\(format)")
        let written = ToolRun(["export", store, "--format", format, "--output", file, "--blobs", path("blobs")])
        #expect(written.status == 0, "\(written.errors)")
        let new = path("New.sqlite")
        let run = ToolRun(["import", new, file, "--model", model, "--blobs", path("blobs")] + options)
        #expect(run.status == 0, "\(run.errors)")
        #expect(ToolRun(["export", new]).output == ToolRun(["export", store]).output)
        let named = model.hasSuffix(".xcdatamodeld") ? ["--model", model] : []
        let diff = ToolRun(["diff", store, new] + named)
        #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
        let findings = ToolRun(["check", new])
        #expect(findings.status == 0, "\(findings.output)")
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some, formats)
    func fixturesComeBack(_ fixture: String, _ format: String) throws {
        let store = FixtureStores.folder.appendingPathComponent(fixture)
        let model = store.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "SurfJournalModel.xcdatamodeld")
        let isWithout = fixture == FixtureStores.surfJournal
        try check(try workplace.copy(fixture), model: isWithout ? model.path : store.path, format)
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: [FixtureStores.all[2], FixtureStores.all[5]])
    func fixturesComeBackInBatches(_ fixture: String) throws {
        let store = try workplace.copy(fixture)
        try check(store, model: store, "ndjson", ["--batch", "10"])
    }

    @Test(arguments: formats) func theShopComesBack(_ format: String) throws {
        let store = try workplace.shop()
        try check(store, model: store, format)
    }

    @Test func keysWithGapsStay() throws {
        let store = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE ZPRODUCT SET Z_PK = Z_PK * 1000")
        try check(store, model: store, "ndjson")
        #expect(
            SQLiteFile(URL(fileURLWithPath: path("New.sqlite"))).column("SELECT Z_PK FROM ZPRODUCT ORDER BY 1") == [
                "1000", "2000", "3000",
            ])
    }
}
