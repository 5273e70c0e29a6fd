import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The stores written by Apple's framework, beside the repository.
enum FixtureStores {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/fixtures")

    /// Whether the files are there; tests that need them are skipped otherwise.
    static let arePresent = FileManager.default.fileExists(atPath: folder.path)

    static let all = [
        "SurfJournal/CoreDataSeed/SurfJournalModel.sqlite", "LoopKit/Model.sqlite.v1.original.sqlite",
        "CoreDataPlus/SampleModel/Fixtures/SampleModel_V1.sqlite",
        "CoreDataPlus/SampleModel/Fixtures/SampleModel_V2.sqlite",
        "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V1.sqlite",
        "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V2.sqlite",
        "CoreDataPlus/SampleModel3/Fixtures/SampleModel3_V1.sqlite", "DuckDuckGoBookmarks/Bookmarks_V1.sqlite",
        "DuckDuckGoBookmarks/Bookmarks_V5.sqlite", "CoreDataMigrationRevised/CoreDataMigration_Example_1.sqlite",
        "CoreDataMigrationRevised/CoreDataMigration_Example_2.sqlite",
        "CoreDataMigrationRevised/CoreDataMigration_Example_3.sqlite", "CartKit/CartKitSwiftData_v1.sqlite",
        "FreezeRay/App-1.0.0.sqlite", "FreezeRay/App-2.0.0.sqlite",
    ]

    /// All of them in the long tests; otherwise some of most projects, without the two that have
    /// thousands of rows.
    static let some = LongTests.some(
        7, of: all.filter { LongTests.areEnabled || $0 != surfJournal && $0 != books })

    /// Stores that SwiftData made.
    static let swiftData = [
        "CartKit/CartKitSwiftData_v1.sqlite", "FreezeRay/App-1.0.0.sqlite", "FreezeRay/App-2.0.0.sqlite",
    ]

    static let surfJournal = all[0]
    static let carts = "CartKit/CartKitSwiftData_v1.sqlite"
    static let books = "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V1.sqlite"
}

/// A folder that goes away with the test.
final class Workplace {
    private let temporary: TemporaryFolder
    var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder() }

    /// A copy of a fixture with its journal; without its shared memory file, which belongs to
    /// running programs.
    func copy(_ fixture: String) throws -> String {
        let target = folder.appendingPathComponent((fixture as NSString).lastPathComponent).path
        for suffix in ["", "-wal"] {
            let source = FixtureStores.folder.appendingPathComponent(fixture).path + suffix
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: target + suffix)
        }
        return target
    }

    /// The path of a small store of products.
    func shop() throws -> String {
        let store = folder.appendingPathComponent("Shop.sqlite")
        try Shop.make(at: store)
        return store.path
    }

    /// A file with this content.
    func file(_ name: String, _ content: Data) throws -> String {
        let url = folder.appendingPathComponent(name)
        try content.write(to: url)
        return url.path
    }

    /// The content of every file of the folder, by name.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return contents
    }
}

/// The result of a run of the command.
struct ToolRun {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the command.
    ///
    /// - Parameter answers: the lines of its standard input.
    init(_ arguments: [String], columns: Int = 120, answers: [String] = []) {
        var answers = answers
        var written: [UInt8] = []
        var complaints: [UInt8] = []
        let console = Console(
            output: OutputWriter { written.append(contentsOf: $0) },
            errors: OutputWriter { complaints.append(contentsOf: $0) }, columns: columns,
            readLine: { answers.isEmpty ? nil : answers.removeFirst() })
        status = CommandLineTool(console).run(arguments).rawValue
        output = String(decoding: written, as: UTF8.self)
        errors = String(decoding: complaints, as: UTF8.self)
    }

    var lines: [Substring] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }

    /// The output as JSON.
    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }

    /// The output as an array of JSON objects.
    func rows() throws -> [[String: Any]] { try #require(try json() as? [[String: Any]]) }
}

/// The sqlite3 library, as a second opinion, on a copy of its own.
final class Database {
    private let workplace: Workplace
    private let file: SQLiteFile

    init(copyOf fixture: String) throws {
        workplace = try Workplace()
        let path = try workplace.copy(fixture)
        try #require(chmod(path, 0o600) == 0)
        file = SQLiteFile(URL(fileURLWithPath: path))
    }

    /// The rows of a query, all values as text.
    func rows(_ sql: String) -> [[String]] { file.rows(sql).map { $0.map { $0 ?? "" } } }

    /// The rows of each entity alone, counted by number, and the entities' numbers with those of
    /// their superentities.
    func entityCounts() throws -> [(number: Int, parent: Int, own: Int)] {
        let entities = rows("SELECT Z_ENT, Z_SUPER, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
        var tables: [String: String] = [:]
        for entity in entities { tables[entity[0]] = tables[entity[1]] ?? "Z" + entity[2].uppercased() }
        return try entities.map { entity in
            let table = try #require(tables[entity[0]])
            let own = rows("SELECT count(*) FROM \(table) WHERE Z_ENT = \(entity[0])")[0][0]
            return (Int(entity[0]) ?? 0, Int(entity[1]) ?? 0, Int(own) ?? 0)
        }
    }
}
