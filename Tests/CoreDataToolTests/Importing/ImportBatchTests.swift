import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Imports in batches that are stopped and go on.
struct ImportBatchTests {
    let place: ImportPlace

    init() throws { place = try ImportPlace() }

    private struct Stop: Error {}

    private static let lines =
        (1...9).map { #"{"objectID": "Item/p\#($0)", "name": "i\#($0)", "maker": "Maker/p\#($0 % 3 + 1)"}"# }
        + (1...3).map { #"{"objectID": "Maker/p\#($0)", "name": "m\#($0)"}"# }

    private func write(_ lines: [String] = lines) throws -> String {
        try place.file("rows.ndjson", lines.map { $0 + "\n" }.joined())
    }

    /// Imports in batches of two rows, and stops after some of them.
    private func stop(after count: Int, _ path: String) throws {
        if !place.hasStore { try Bazaar.make(at: URL(fileURLWithPath: place.store)) }
        let store = try WritableStore(path: place.store, modelPath: nil)
        let schema = ImportSchema(store.model)
        let source = try ImportSource(path: path, format: nil, entity: nil, schema: schema)
        var options = StoreImport.Options()
        options.batchSize = 2
        var batches = 0
        options.afterBatch = {
            batches += 1
            if batches == count { throw Stop() }
        }
        let console = Console(output: OutputWriter { _ in }, errors: OutputWriter { _ in }, columns: 80)
        let work = try StoreImport(
            into: store, from: source, schema: schema, blobs: nil, options: options, console: console)
        #expect(throws: Stop.self) { try work.run() }
        try store.close()
    }

    /// The content of the store as text.
    private var content: String { ToolRun(["export", place.store]).output }

    @Test(arguments: LongTests.some(3, of: Array(1...10))) func anImportGoesOnWhereItWasStopped(batches: Int) throws {
        let path = try write()
        try stop(after: batches, path)
        let run = place.run(path, "--batch", "2")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("12 objects imported"), "\(run.output)")
        #expect(place.rows("SELECT Z_PK, ZMAKER FROM ZITEM ORDER BY 1") == (1...9).map { ["\($0)", "\($0 % 3 + 1)"] })
        #expect(place.value("SELECT count(*) FROM ZMAKER") == "3")
    }

    @Test func aNewStoreIsGoneOnWithTheSameCommand() throws {
        let path = try write()
        try stop(after: 2, path)
        let run = ToolRun(["import", place.store, path, "--model", place.model, "--batch", "2"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.value("SELECT count(*) FROM ZITEM") == "9")
    }

    @Test func batchesGiveTheSameStoreAsOneSave() throws {
        let path = try write()
        #expect(place.run(path).status == 0)
        let wanted = content
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.store + suffix) }
        #expect(place.run(path, "--batch", "2").status == 0)
        #expect(content == wanted)
    }

    @Test(arguments: LongTests.some(2, of: Array(1...6)))
    func newKeysStayTheSameWhenAnImportGoesOn(batches: Int) throws {
        _ = try place.run(lines: [#"{"objectID": "Item/p50", "name": "x"}"#, #"{"objectID": "Maker/p7"}"#])
        let path = try write()
        try stop(after: batches, path)
        #expect(place.run(path, "--batch", "2").status == 0)
        #expect(place.rows("SELECT Z_PK, ZNAME, ZMAKER FROM ZITEM ORDER BY 1").dropFirst(0).first?[0] == "50")
        let rows = place.rows("SELECT i.ZNAME, m.ZNAME FROM ZITEM i JOIN ZMAKER m ON m.Z_PK = i.ZMAKER ORDER BY 1")
        #expect(rows == (1...9).map { ["i\($0)", "m\($0 % 3 + 1)"] })
        #expect(place.value("SELECT count(*) FROM ZITEM") == "10")
    }

    @Test func updatesAreDoneOnceMore() throws {
        _ = try place.run(lines: [#"{"objectID": "Item/p50", "name": "x", "code": "c"}"#])
        let path = try write(
            Self.lines + [#"{"objectID": "Item/p20", "name": "y", "code": "c", "maker": "Maker/p2"}"#])
        try stop(after: 6, path)
        #expect(place.run(path, "--batch", "2").status == 0)
        #expect(place.rows("SELECT ZNAME, ZMAKER FROM ZITEM WHERE ZCODE = 'c'") == [["y", "2"]])
        #expect(place.value("SELECT count(*) FROM ZITEM") == "10")
    }

    @Test func theProgressGoesAwayAtTheEnd() throws {
        let path = try write()
        try stop(after: 2, path)
        let url = URL(fileURLWithPath: place.store)
        func metadata() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        }
        let progress = ImportProgress(try metadata())
        #expect(progress?.rows == 4)
        #expect(progress?.file == "rows.ndjson")
        #expect(place.run(path, "--batch", "3").status == 0)
        #expect(try metadata()[ImportProgress.key] == nil)
    }

    @Test func anotherFileWaitsUntilTheImportIsDone() throws {
        try stop(after: 2, try write())
        let other = try place.file("other.ndjson", #"{"objectID": "Badge/p1"}"#)
        let run = place.run(other)
        #expect(run.status == 1)
        #expect(run.errors.contains("An import of 'rows.ndjson'"), "\(run.errors)")
        #expect(run.errors.contains("stopped after 4 rows"), "\(run.errors)")
        #expect(place.run(other, "--restart").status == 0)
    }

    @Test func refusedRowsOfALaterBatchKeepTheBatchesBefore() throws {
        let path = try write(Self.lines + [#"{"objectID": "Team/p1"}"#])
        let run = place.run(path, "--batch", "2")
        #expect(run.status == 1)
        #expect(run.errors.contains("line 13: Team/p1.members:"), "\(run.errors)")
        #expect(run.errors.contains("12 objects were written before."), "\(run.errors)")
        #expect(place.value("SELECT count(*) FROM ZITEM") == "9")
        let second = place.run(path, "--batch", "2", "--skip-refused")
        #expect(second.status == 3, "\(second.errors)")
        #expect(place.rows("SELECT ZMAKER FROM ZITEM WHERE Z_PK < 3 ORDER BY Z_PK") == [["2"], ["3"]])
    }

    @Test func mistakesOfTheFileStopAnImportBeforeTheFirstBatch() throws {
        let run = place.run(try write(Self.lines + [#"{"objectID": "Item/p30", "stock": -5}"#]), "--batch", "2")
        #expect(run.status == 1)
        #expect(!place.hasStore)
    }

    @Test func manyRowsComeThroughSmallBatches() throws {
        let items = (1...1200).map { number in
            let (next, maker) = (number % 1200 + 1, (number - 1) / 3 + 1)
            return
                #"{"objectID": "Item/p\#(number)", "name": "i", "next": "Item/p\#(next)", "maker": "Maker/p\#(maker)"}"#
        }
        let makers = (1...400).map { #"{"objectID": "Maker/p\#($0)"}"# }
        #expect(place.run(try write(items + makers), "--batch", "100").status == 0)
        #expect(
            place.value("SELECT count(*) FROM ZITEM WHERE ZNEXT = Z_PK % 1200 + 1 AND ZMAKER = (Z_PK - 1) / 3 + 1")
                == "1200")
    }
}
