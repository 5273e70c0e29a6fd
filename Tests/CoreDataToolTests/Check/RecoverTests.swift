import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata recover`: what can be read of a damaged store is in the new one.
struct RecoverTests {
    let workplace: Workplace

    init() throws { workplace = try Workplace() }

    private var output: String { workplace.folder.appendingPathComponent("Saved.sqlite").path }

    private func recover(_ path: String, _ options: String...) -> ToolRun {
        ToolRun(["recover", path, "--output", output] + options)
    }

    /// The entities that a recovery reports, by name.
    private func parts(_ run: ToolRun) throws -> [String: [String: Any]] {
        let report = try #require(try run.json() as? [String: Any], "\(run.errors)")
        let entities = try #require(report["entities"] as? [[String: Any]])
        return Dictionary(
            entities.map { ($0["name"] as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Sound stores

    @Test(.enabled(if: FixtureStores.arePresent, "the fixtures are not there"), arguments: FixtureStores.some)
    func aSoundStoreIsRecoveredAsItIs(fixture: String) throws {
        let path = try workplace.copy(fixture)
        let run = recover(path)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let (old, new) = (SQLiteFile(URL(fileURLWithPath: path)), SQLiteFile(URL(fileURLWithPath: output)))
        #expect(try new.schema() == old.schema())
        for table in try old.strings("SELECT name FROM sqlite_master WHERE type = 'table'") {
            let sql = "SELECT * FROM \"\(table)\" ORDER BY 1, 2"
            #expect(new.rows(sql) == old.rows(sql), "\(table)")
        }
        #expect(ToolRun(["check", output]).output == "No faults found.\n")
    }

    @Test func externalFilesComeAlong() throws {
        let store = try Workshop()
        #expect(recover(store.path).status == 0)
        let folder = workplace.folder.appendingPathComponent(".Saved_SUPPORT/_EXTERNAL_DATA").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == store.externalFiles)
    }

    @Test func whatIsThereIsNotOverwritten() throws {
        let store = try Workshop()
        try Data([1]).write(to: URL(fileURLWithPath: output))
        let run = recover(store.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("is there already"))
        #expect(FileManager.default.contents(atPath: output) == Data([1]))
    }

    @Test func aFileThatIsNoStoreLeavesNothing() throws {
        let path = workplace.folder.appendingPathComponent("plain.sqlite").path
        try Shop.makePlainDatabase(at: path)
        #expect(recover(path).status == 1)
        #expect(!FileManager.default.fileExists(atPath: output))
    }

    // MARK: Damaged stores

    /// A store of 2000 notes on many pages, with an index of the note's writers.
    private func library() throws -> Workshop {
        let store = try Workshop()
        store.change(
            "WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 2010) "
                + "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZWRITER, ZTEXT) SELECT i, "
                + "(SELECT Z_ENT FROM ZNOTE LIMIT 1), 1, 1, hex(randomblob(200)) FROM n")
        store.change("UPDATE Z_PRIMARYKEY SET Z_MAX = 2010 WHERE Z_NAME = 'Note'")
        store.change("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        return store
    }

    /// Overwrites pages of a table or index, given by their place among its leaves.
    private func damage(_ store: Workshop, _ name: String, _ places: [Int]) throws {
        let pages = store.file.column(
            "SELECT pageno FROM dbstat WHERE name = '\(name)' AND pagetype = 'leaf' ORDER BY path"
        ).compactMap { $0.flatMap { Int($0) } }
        let size = try #require(store.file.integer("PRAGMA page_size"))
        let handle = try FileHandle(forUpdating: store.url)
        for place in places {
            try handle.seek(toOffset: UInt64((pages[place] - 1) * size))
            try handle.write(contentsOf: Data(repeating: 0x7f, count: size))
        }
        try handle.close()
    }

    /// The keys of notes that SQLite finds one by one.
    private func readableNotes(_ store: Workshop) -> Set<Int> {
        let file = store.file
        return Set(
            (1...2010).filter {
                file.value("SELECT ZTEXT FROM ZNOTE NOT INDEXED WHERE Z_PK = \($0)")?.hasPrefix("error") == false
            })
    }

    @Test(arguments: [[40], [10, 11, 60], [20, 50, 80], [0, 40], [0, 1, 2]])
    func everyRowThatSQLiteFindsIsSaved(places: [Int]) throws {
        let store = try library()
        try damage(store, "ZNOTE", places)
        let run = recover(store.path, "--json")
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        let saved = Set(
            SQLiteFile(URL(fileURLWithPath: output)).column("SELECT Z_PK FROM ZNOTE").compactMap {
                $0.flatMap { Int($0) }
            })
        #expect(saved.isSuperset(of: readableNotes(store)))
        let note = try #require(try parts(run)["Note"])
        #expect(note["saved"] as? Int == saved.count)
        #expect(note["lost"] as? Int == 2002 - saved.count)
        #expect(note["isAtMost"] as? Bool == false)
    }

    @Test func withoutAnIndexTheLossIsAnEstimate() throws {
        let store = try library()
        for column in ["ZTOOL", "ZSAW", "ZWRITER"] { store.change("DROP INDEX ZNOTE_\(column)_INDEX") }
        try damage(store, "ZNOTE", [20, 50])
        let note = try #require(try parts(recover(store.path, "--json"))["Note"])
        let lost = try #require(note["lost"] as? Int)
        #expect(lost >= 2002 - (note["saved"] as? Int ?? 0))
        #expect(note["isAtMost"] as? Bool == true)
    }

    @Test func theEngineOpensTheNewStore() throws {
        let store = try library()
        try damage(store, "ZNOTE", [20, 50])
        #expect(recover(store.path).status == 3)
        let run = ToolRun(["query", output, "Note", "--columns", "text", "--limit", "5", "--json"])
        #expect(try run.rows().count == 5)
        #expect(
            SQLiteFile(URL(fileURLWithPath: output)).integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'")
                == 2010)
    }

    @Test(arguments: ["Z_METADATA", "Z_PRIMARYKEY"]) func lostTablesAreMadeFromTheModel(table: String) throws {
        let store = try library()
        try damage(store, table, [0])
        #expect(recover(store.path).status == 3)
        let new = SQLiteFile(URL(fileURLWithPath: output))
        let sound = try Workshop()
        let old = sound.file
        #expect(
            new.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
                == old.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1"))
        #expect(ToolRun(["query", output, "Note", "--limit", "1"]).status == 0)
    }

    /// Breaks the statement of an index, so that SQLite refuses the schema.
    private func damageSchema(_ store: Workshop) throws {
        var data = try Data(contentsOf: store.url)
        let statement = try #require(data.range(of: Data("CREATE INDEX ZNOTE_ZSAW".utf8)))
        data[statement.lowerBound + 3] = 1
        try data.write(to: store.url)
    }

    @Test func aDamagedStatementOfTheSchemaCostsNothingElse() throws {
        let store = try library()
        try damageSchema(store)
        #expect(store.file.value("SELECT count(*) FROM ZNOTE")?.hasPrefix("error: malformed") == true)
        #expect(recover(store.path).status == 3)
        #expect(SQLiteFile(URL(fileURLWithPath: output)).integer("SELECT count(*) FROM ZNOTE") == 2002)
    }

    @Test func infoReadsAroundADamagedStatementOfTheSchema() throws {
        let store = try library()
        try damageSchema(store)
        let run = ToolRun(["info", store.path])
        #expect(run.output.contains("The schema is damaged"), "\(run.errors)")
        #expect(run.lines.contains { $0.hasPrefix("Note ") && $0.hasSuffix("2002") }, "\(run.output)")
    }

    @Test func theDamagedStoreIsLeftAsItIs() throws {
        let store = try library()
        try damage(store, "ZNOTE", [20])
        let before = try Data(contentsOf: store.url)
        _ = recover(store.path)
        #expect(try Data(contentsOf: store.url) == before)
    }
}
