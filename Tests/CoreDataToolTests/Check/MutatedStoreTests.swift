import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The commands on stores with random damage: they end, they do not crash, they change nothing, and
/// `recover` saves each row that SQLite finds.
struct MutatedStoreTests {
    /// The number of seeds for each store.
    private static func seeds(_ few: Int) -> Int { LongTests.areEnabled ? 200 : few }

    @Test(.enabled(if: FixtureStores.arePresent, "the fixtures are not there"), arguments: FixtureStores.some)
    func damagedStoresOfApplesFrameworkAreRead(fixture: String) throws {
        let workplace = try Workplace()
        let sound = try SoundStore(path: try workplace.copy(fixture))
        // In the short run each store gets other kinds of damage.
        let first = LongTests.areEnabled ? 0 : 2 * (FixtureStores.all.firstIndex(of: fixture) ?? 0)
        for seed in first..<first + Self.seeds(1) { try expectReading(sound, seed: seed) }
    }

    @Test func damagedStoresOfThisEngineAreRead() throws {
        let store = try Workshop()
        let sound = try SoundStore(path: store.path)
        for seed in 0..<Self.seeds(3) { try expectReading(sound, seed: seed) }
    }

    private func expectReading(_ sound: SoundStore, seed: Int) throws {
        let folder = try TemporaryFolder()
        let path = try sound.copy(to: folder, "Damaged.sqlite")
        var mutation = StoreMutation(seed: seed)
        try mutation.apply(to: path)
        let before = try files(folder)
        let place = "seed \(seed) of \(sound.path)"
        _ = ToolRun(["info", path])
        _ = ToolRun(["check", path])
        for entity in sound.entities { _ = ToolRun(["query", path, entity, "--limit", "20", "--format", "json"]) }
        let other = try TemporaryFolder()
        let saved = other.file("Saved.sqlite").path
        let isSaved = ToolRun(["recover", path, "--output", saved]).status != 1
        #expect(try files(folder) == before, "\(place)")
        let missing = try sound.rows(notIn: isSaved ? saved : nil, of: path)
        #expect(missing.isEmpty, "\(place): \(missing.prefix(3))")
        if isSaved { #expect(ToolRun(["info", saved]).status == 0, "\(place)") }
    }

    private func files(_ folder: TemporaryFolder) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            contents[name] = FileManager.default.contents(atPath: folder.file(name).path)
        }
        return contents
    }
}

/// A store before it was damaged: the names of its entities, and the keys of its rows.
private struct SoundStore {
    let path: String
    let entities: [String]
    private var keys: [String: [Int]] = [:]

    init(path: String) throws {
        self.path = path
        let file = SQLiteFile(URL(fileURLWithPath: path))
        entities = file.column("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000").compactMap { $0 }
        for table in try file.strings("SELECT name FROM sqlite_master WHERE type = 'table'") {
            let rows = file.column("SELECT rowid FROM \"\(table)\"")
            // Some of a large table are enough.
            let all = rows.compactMap { $0.flatMap { Int($0) } }
            keys[table] = all.count > 400 && !LongTests.areEnabled ? Array(all.prefix(200) + all.suffix(200)) : all
        }
    }

    func copy(to folder: TemporaryFolder, _ name: String) throws -> String {
        let target = folder.file(name).path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
        }
        return target
    }

    /// Returns the rows that SQLite finds in a damaged copy, but not in the recovered store.
    func rows(notIn saved: String?, of damaged: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let copy = folder.file("copy.sqlite").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: damaged + suffix) {
            try FileManager.default.copyItem(atPath: damaged + suffix, toPath: copy + suffix)
        }
        let old = SQLiteFile(URL(fileURLWithPath: copy))
        let new = saved.map { SQLiteFile(URL(fileURLWithPath: $0)) }
        var missing: [String] = []
        for (table, keys) in keys where table.hasPrefix("Z") && !table.hasPrefix("Z_") || table.hasPrefix("A") {
            for key in keys {
                let sql = "SELECT * FROM \"\(table)\" NOT INDEXED WHERE rowid = \(key)"
                guard let row = try? old.cells(sql).first else { continue }
                if !Self.isEqual(try? new?.cells(sql).first, row) { missing.append("\(table) \(key)") }
            }
        }
        return missing
    }

    /// Compares values as they are after the conversion that a column makes of them.
    private static func isEqual(_ first: [SQLiteCell]?, _ second: [SQLiteCell]) -> Bool {
        guard let first, first.count == second.count else { return false }
        return zip(first, second).allSatisfy { one, other in
            one == other || (one.double ?? Double(one.text ?? "x") ?? .nan) == (other.double ?? .nan)
        }
    }
}
