import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata check`: each kind of damage is found, and sound stores have none.
struct CheckTests {
    @Test func aSoundStoreHasNoFaults() throws {
        let store = try Workshop()
        let run = ToolRun(["check", store.path])
        #expect(run.output == "No faults found.\n")
        #expect(run.status == 0)
    }

    @Test(arguments: LongTests.some(11, of: Damage.mendable + Damage.lasting))
    func damageIsFound(damage: Damage) throws {
        let store = try Workshop()
        store.change(damage.sql)
        let findings = try store.findings()
        let finding = try #require(findings[damage.kind.rawValue], "\(findings)")
        #expect(finding["count"] as? Int == damage.count, "\(finding)")
    }

    @Test(arguments: LongTests.some(4, of: Damage.mendable)) func mendableDamageIsCalledSo(damage: Damage) throws {
        let store = try Workshop()
        store.change(damage.sql)
        #expect(try store.findings()[damage.kind.rawValue]?["canBeMended"] as? Bool == true)
    }

    @Test func checkingChangesNothing() throws {
        let store = try Workshop()
        store.change("UPDATE ZTOOL SET ZBOX = 99, Z_ENT = 777")
        let before = try Data(contentsOf: store.url)
        #expect(ToolRun(["check", store.path]).status == 3)
        #expect(try Data(contentsOf: store.url) == before)
    }

    @Test func aFindingNamesObjects() throws {
        let store = try Workshop()
        store.change("UPDATE ZTOOL SET ZBOX = 99 WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Saw')")
        let saws = store.file.column(
            "SELECT 'Saw/p' || Z_PK FROM ZTOOL WHERE ZNAME LIKE 'tool _3' ORDER BY Z_PK")
        #expect(try store.findings()["dangling-key"]?["examples"] as? [String] == saws.compactMap { $0 })
    }

    @Test func aMissingFileIsFound() throws {
        let store = try Workshop()
        let name = try #require(store.externalFiles.first)
        try FileManager.default.removeItem(at: store.externalFolder.appendingPathComponent(name))
        let sentence = try store.findings()["missing-file"]?["sentence"] as? String
        #expect(sentence?.contains(name) == true)
    }

    @Test func anOrphanedFileIsFound() throws {
        let store = try Workshop()
        try Data([1]).write(to: store.externalFolder.appendingPathComponent("nobodys"))
        #expect(try store.findings()["orphaned-file"]?["examples"] as? [String] == ["nobodys"])
    }

    @Test func hashesOfAnotherModelAreFound() throws {
        let store = try Workshop()
        try store.forgetHash(of: "Box")
        #expect(try store.findings()["version-hashes"]?["examples"] as? [String] == ["Box"])
    }

    @Test func namesInTheFileCannotControlTheTerminal() throws {
        let store = try Workshop()
        store.change("UPDATE Z_PRIMARYKEY SET Z_MAX = char(27) || '[31m' WHERE Z_NAME = 'Tool'")
        #expect(!ToolRun(["check", store.path]).output.contains("\u{1b}"))
    }
}

/// `coredata check` of stores in the form in which Apple's framework writes them.
struct CheckedStoresTests {
    /// The greatest key of an album in the migrated store is too low on purpose.
    private static let sound = OwnStore.all.filter { $0.name != OwnStore.migratedPlaylists.name }

    @Test(arguments: sound) func aStoreOfApplesFormHasNoFaults(store: OwnStore) throws {
        let folder = try TemporaryFolder()
        let run = ToolRun(["check", try store.make(in: folder).path])
        #expect(run.output == "No faults found.\n")
    }

    @Test(.enabled(if: FixtureStores.arePresent, "the fixtures are not there"), arguments: FixtureStores.all)
    func aStoreThatApplesFrameworkWroteHasNoFaults(fixture: String) throws {
        let workplace = try Workplace()
        let run = ToolRun(["check", try workplace.copy(fixture)])
        #expect(run.output == "No faults found.\n")
    }
}

extension Workshop {
    /// Changes the version hash of an entity in the metadata.
    func forgetHash(of entity: String) throws {
        let bytes = try #require(try file.cells("SELECT Z_PLIST FROM Z_METADATA").first?.first?.blob)
        var list = try #require(
            try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil) as? [String: Any])
        var hashes = try #require(list["NSStoreModelVersionHashes"] as? [String: Data])
        hashes[entity] = Data(repeating: 0, count: 32)
        list["NSStoreModelVersionHashes"] = hashes
        let changed = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try file.run("UPDATE Z_METADATA SET Z_PLIST = ?", bytes: changed)
    }
}
