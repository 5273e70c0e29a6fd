import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// What `coredata info` tells of a store beside its rows: sizes, history, external files.
struct InfoTests {
    let store: ShelfStore

    init() throws { store = try ShelfStore() }

    private func report() throws -> [String: Any] {
        let run = try store.run(["info", store.path, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try run.json() as? [String: Any])
    }

    /// Inserts copies of the first thing, so that the table is a large one.
    private func addManyThings() {
        store.change(
            "WITH RECURSIVE n(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                + "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, (SELECT Z_ENT FROM ZTHING "
                + "WHERE Z_PK = 1), 1, 'copy ' || i FROM n")
    }

    @Test func theSizeOfATableIsThatOfItsPages() throws {
        let tables = try #require(try report()["tables"] as? [[String: Any]])
        let things = try #require(tables.first { $0["name"] as? String == "ZTHING" })
        let file = SQLiteFile(store.url)
        #expect(things["size"] as? Int == file.integer("SELECT sum(pgsize) FROM dbstat WHERE name = 'ZTHING'"))
        #expect(things["isEstimate"] as? Bool == false)
    }

    @Test func theSizeOfIndexesIsThatOfTheirPages() throws {
        let tables = try #require(try report()["tables"] as? [[String: Any]])
        let things = try #require(tables.first { $0["name"] as? String == "ZTHING" })
        let names = "(SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZTHING')"
        let file = SQLiteFile(store.url)
        #expect(things["indexSize"] as? Int == file.integer("SELECT sum(pgsize) FROM dbstat WHERE name IN \(names)"))
        #expect(things["indexes"] as? Int == file.integer("SELECT count(*) FROM \(names)"))
    }

    @Test func anEstimateIsNearTheSizeInPages() throws {
        addManyThings()
        let file = try StoreFile(path: store.path)
        let reader = try file.reader()
        let contents = try StoreCatalog(file, reader: reader)
        let sizes = try TableSizes(contents, reader: reader, fileSize: .max)
        let size = try #require(sizes.size(of: "ZTHING", rowCount: 4005))
        let pages = try #require(
            SQLiteFile(store.url).integer("SELECT sum(pgsize) FROM dbstat WHERE name = 'ZTHING'"))
        #expect(size.isEstimate)
        #expect((0.7...1.4).contains(Double(size.rows) / Double(pages)), "\(size.rows) \(pages)")
    }

    @Test func theHistoryHasItsSpan() throws {
        let report = try report()
        let file = SQLiteFile(store.url)
        let time = try #require(Double(file.value("SELECT max(ZTIMESTAMP) FROM ATRANSACTION") ?? ""))
        #expect(report["historyLast"] as? String == DateText.text(of: Date(timeIntervalSinceReferenceDate: time)))
        #expect(report["historyLastTransaction"] as? Int == file.integer("SELECT max(Z_PK) FROM ATRANSACTION"))
    }

    @Test func externalFilesOfNoRowAreCounted() throws {
        let folder = try #require(store.externalFiles.first).deletingLastPathComponent()
        try Data([1, 2, 3]).write(to: folder.appendingPathComponent(UUID().uuidString))
        let report = try report()
        #expect(report["externalFiles"] as? Int == 2)
        #expect(report["externalOrphaned"] as? Int == 1)
        #expect(report["externalMissing"] as? Int == 0)
    }

    // MARK: Large tables

    @Test func everyRowOfALargeTableCounts() throws {
        addManyThings()
        #expect(
            try store.ownRows()["Thing"] == SQLiteFile(store.url).integer("SELECT count(*) FROM ZTHING").map { $0 - 2 })
    }

    @Test func theEndsOfALargeTableAreSearched() throws {
        addManyThings()
        store.change("UPDATE ZTHING SET ZSHELF = 77 WHERE Z_PK IN (3, 5000)")
        #expect(try store.warnings().contains { $0.hasPrefix("Thing.shelf of 2 objects (p3, p5000)") })
    }

    @Test func theLastLineSaysThatMoreCanBeSearched() throws {
        #expect(try store.run(["info", store.path]).lines.last?.contains("coredata check") == false)
        addManyThings()
        #expect(
            try store.run(["info", store.path]).lines.last?.contains("'coredata check' looks at all values") == true)
    }
}
