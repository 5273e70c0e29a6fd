import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata repair`: it mends what can be mended without guessing, and keeps a backup.
struct RepairTests {
    let store: Workshop

    init() throws { store = try Workshop() }

    private var backups: [URL] {
        ((try? FileManager.default.contentsOfDirectory(
            at: store.workplace.folder, includingPropertiesForKeys: nil)) ?? []).filter {
                $0.lastPathComponent.hasPrefix("Workshop.sqlite.backup-")
            }
    }

    private func repair(_ options: String..., answers: [String] = []) -> ToolRun {
        ToolRun(["repair", store.path] + options, answers: answers)
    }

    @Test(arguments: LongTests.some(14, of: Damage.mendable)) func damageIsMended(damage: Damage) throws {
        store.change(damage.sql)
        let run = repair("--yes")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(ToolRun(["check", store.path]).output == "No faults found.\n")
        let mended = try #require(damage.mended)
        let query = mended.query.replacingOccurrences(of: "@JOIN", with: store.joinTable)
        #expect(store.file.value(query) == mended.value)
        try store.openAndRead()
    }

    @Test(arguments: Damage.lasting) func whatNeedsAGuessIsLeft(damage: Damage) throws {
        store.change(damage.sql)
        let run = repair("--yes")
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        #expect(run.output.contains("Repair leaves it as it is."), "\(run.output)")
        #expect(try store.findings()[damage.kind.rawValue] != nil)
    }

    @Test func allDamageAtOnceIsMended() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99, Z_ENT = 777, Z_OPT = 0, ZNAME = NULL")
        store.change("UPDATE ZLOCKER SET ZOWNER = 1; UPDATE ZNOTE SET ZSAW = 77; DELETE FROM ZBOX WHERE Z_PK = 1")
        store.change("UPDATE Z_PRIMARYKEY SET Z_MAX = 0; UPDATE ACHANGE SET ZENTITY = 99")
        let run = repair("--yes")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        try store.openAndRead()
    }

    // MARK: Files

    @Test func aValueWhoseFileIsMissingIsCleared() throws {
        let name = try #require(store.externalFiles.first)
        try FileManager.default.removeItem(at: store.externalFolder.appendingPathComponent(name))
        #expect(repair("--yes").status == 0)
        #expect(store.file.integer("SELECT count(ZPHOTO) FROM ZTOOL") == 1)
    }

    @Test func aFileOfNoObjectIsMovedIntoTheBackup() throws {
        try Data([1, 2]).write(to: store.externalFolder.appendingPathComponent("nobodys"))
        #expect(repair("--yes").status == 0)
        #expect(!store.externalFiles.contains("nobodys"))
        let moved = try #require(backups.first).appendingPathComponent(".Workshop_SUPPORT/_EXTERNAL_DATA/nobodys")
        #expect(try Data(contentsOf: moved) == Data([1, 2]))
    }

    @Test func hashesAreThoseOfTheModelAgain() throws {
        let before = store.file.value("SELECT hex(Z_PLIST) FROM Z_METADATA")
        try store.forgetHash(of: "Box")
        #expect(repair("--yes").status == 0)
        #expect(store.file.value("SELECT hex(Z_PLIST) FROM Z_METADATA")?.count == before?.count)
        try store.openAndRead()
    }

    // MARK: Asking, and backups

    @Test func aDryRunChangesNothing() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99")
        let before = try Data(contentsOf: store.url)
        let run = repair("--dry-run")
        #expect(run.status == 3)
        #expect(run.output.contains("Repair clears the key."))
        #expect(try Data(contentsOf: store.url) == before)
        #expect(backups.isEmpty)
    }

    @Test func withoutAYesNothingChanges() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99")
        let before = try Data(contentsOf: store.url)
        #expect(repair(answers: ["n"]).status == 3)
        #expect(try Data(contentsOf: store.url) == before)
        #expect(backups.isEmpty)
    }

    @Test func aYesIsEnough() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99")
        #expect(repair(answers: ["y"]).status == 0)
    }

    @Test func theBackupIsTheStoreBefore() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99")
        _ = repair("--yes")
        let backup = try #require(backups.first)
        let copy = SQLiteFile(backup.appendingPathComponent("Workshop.sqlite"))
        #expect(copy.integer("SELECT count(*) FROM ZTOOL WHERE ZBOX = 99") == 6)
        #expect(
            FileManager.default.contents(
                atPath: backup.path + "/.Workshop_SUPPORT/_EXTERNAL_DATA/\(store.externalFiles[0])")
                == FileManager.default.contents(atPath: store.externalFolder.path + "/\(store.externalFiles[0])"))
    }

    @Test func onlyChosenKindsAreMended() throws {
        store.change("UPDATE ZTOOL SET ZBOX = 99; UPDATE ZBOX SET Z_OPT = 0")
        let run = repair("--yes", "--only", "row-version")
        #expect(run.status == 3)
        #expect(store.file.integer("SELECT min(Z_OPT) FROM ZBOX") == 1)
        #expect(store.file.integer("SELECT count(*) FROM ZTOOL WHERE ZBOX = 99") == 6)
    }

    @Test func anUnknownKindIsRefused() {
        let run = repair("--only", "row-versions")
        #expect(run.status == 64)
        #expect(run.errors.contains("Did you mean 'row-version'?"))
    }

    @Test func aSoundStoreIsLeftAlone() throws {
        let before = try Data(contentsOf: store.url)
        #expect(repair("--yes").status == 0)
        #expect(try Data(contentsOf: store.url) == before)
        #expect(backups.isEmpty)
    }

    @Test func rowsInTheJournalAreInTheBackup() throws {
        let file = store.file
        #expect(file.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0"))
        #expect(file.execute("UPDATE ZTOOL SET ZBOX = 99"))
        // As if the program had died: the journal is there, nobody holds the store.
        let place = try Workplace()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: store.path + suffix, toPath: place.folder.path + "/Workshop.sqlite" + suffix)
        }
        let path = place.folder.path + "/Workshop.sqlite"
        let run = ToolRun(["repair", path, "--yes", "--only", "dangling-key", "--json"])
        let report = try #require(try run.json() as? [String: Any], "\(run.errors)")
        let backup = try #require(report["backup"] as? String)
        #expect(SQLiteFile(URL(fileURLWithPath: path)).integer("SELECT count(ZBOX) FROM ZTOOL") == 0)
        let copy = SQLiteFile(URL(fileURLWithPath: backup + "/Workshop.sqlite"))
        #expect(copy.integer("SELECT count(*) FROM ZTOOL WHERE ZBOX = 99") == 6)
    }
}
