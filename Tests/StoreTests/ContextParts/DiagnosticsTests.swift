import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// What the diagnostics find.
@Suite(.serialized) struct DiagnosticsTests {
    /// Collects the warnings about events of contexts with a name, and about statements of a store.
    private final class Recorder: CoreDataInstrument {
        private let name: String
        private let diagnostics = Diagnostics { "Loop.swift:1" }
        private let found = Mutex<[String]>([])
        var warnings: [String] { found.withLock { $0 } }

        init(_ name: String) { self.name = name }

        func record(_ event: CoreDataEvent) {
            switch event {
            case .fault(name, _, _, _): break
            case .fetch(let fetch) where fetch.context == name: break
            case .statement(let statement) where statement.store.contains(name): break
            default: return
            }
            if let warning = diagnostics.warning(after: event) { found.withLock { $0.append(warning) } }
        }
    }

    private func save(context: String, held: Int) -> CoreDataEvent {
        .save(ExecutedSave(context: context, inserted: 1, updated: 0, deleted: 0, held: held, nanoseconds: 1))
    }

    private func statement(_ sql: String, rows: Int, scanned: Int) -> CoreDataEvent {
        .statement(ExecutedStatement(sql: sql, rows: rows, scannedRows: scanned, nanoseconds: 1, store: "a"))
    }

    @Test func aLoopOverFaultsIsFoundWithItsLine() throws {
        let library = try Library(.sqlite)
        for number in 0..<60 { library.context.author("\(number)").born = Int16(number) }
        try library.context.save()
        let name = UUID().uuidString
        let recorder = Recorder(name)
        NSPersistentStoreCoordinator.instrument = recorder
        defer { NSPersistentStoreCoordinator.instrument = nil }
        let context = try library.newStackContext()
        context.name = name
        context.batchesFaults = false
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
        request.resultType = .managedObjectIDResultType
        var sum = 0
        for objectID in try context.fetch(request).shuffled() {
            sum += Int((context.object(with: objectID) as? LibraryAuthor)?.born ?? 0)
        }
        #expect(sum == 1770)
        let warning = try #require(recorder.warnings.first)
        #expect(warning.contains("50 statements within a second read objects of Author one after the other"))
        #expect(warning.contains("At Loop.swift:1."))
        #expect(recorder.warnings.count == 1)
    }

    @Test func aScanIsFoundWithTheColumnsThatAnIndexMayServe() throws {
        let diagnostics = Diagnostics { "Loop.swift:1" }
        let sql = "SELECT t0.Z_PK FROM ZSCAN t0 WHERE t0.ZNAME = ? AND (t0.Z_ENT = 2 AND t0.ZAGE > ?)"
        #expect(diagnostics.warning(after: statement(sql, rows: 3, scanned: 9_999)) == nil)
        #expect(diagnostics.warning(after: statement(sql, rows: 5_000, scanned: 10_000)) == nil)
        let warning = try #require(diagnostics.warning(after: statement(sql, rows: 3, scanned: 20_000)))
        #expect(warning.contains("read 20000 rows to find 3; an index of ZNAME, ZAGE may serve it"))
        #expect(diagnostics.warning(after: statement(sql, rows: 3, scanned: 20_000)) == nil)
    }

    @Test func aScanThatNoIndexServesIsFound() throws {
        let sql = "SELECT t0.Z_PK FROM ZSCAN t0 WHERE instr(t0.ZNAME, ?)"
        let warning = try #require(
            Diagnostics { "Loop.swift:1" }.warning(after: statement(sql, rows: 0, scanned: 10_000)))
        #expect(warning.contains("no index serves its condition"))
    }

    @Test func aContextThatGrowsIsFound() throws {
        let diagnostics = Diagnostics { "Loop.swift:1" }
        let name = "importer \(UUID().uuidString)"
        #expect(diagnostics.warning(after: save(context: name, held: 99_999)) == nil)
        let warning = try #require(diagnostics.warning(after: save(context: name, held: 100_000)))
        #expect(warning.contains("The context \(name) holds 100000 objects after a save"))
        #expect(diagnostics.warning(after: save(context: name, held: 200_000)) == nil)
    }

    @Test func aProgramIsToldOfALargeFetchAndAScan() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("makers.sqlite").path
        let arguments = ["OPENCOREDATA_DIAGNOSTICS=1", OtherProgram.url.path, "open", "writable", path]
        let env = URL(fileURLWithPath: "/usr/bin/env")
        #expect(try !ProgramRun(env, arguments).output.contains("warning"))
        try SQLiteFile(folder.file("makers.sqlite")).run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'maker ' || i FROM n
            """)
        let output = try ProgramRun(env, arguments).output
        #expect(output.contains("CoreData: warning: A fetch without a limit returned 10000 results of Maker"))
        #expect(output.contains("OtherProgram/"))
    }
}
