import Foundation
import Testing

/// The code that all SQL stores share has no name, function or table of one database, not even in a
/// comment.
struct DatabaseNameTests {
    /// Words that only one database, or one file format, has.
    private static let words = [
        "sqlite", "postgres", "z_pk", "z_ent", "z_opt", "z_fok", "z_primarykey", "z_metadata", "z_modelcache",
        "nscoredata", "ifnull",
        "json_each", "julianday", " rowid ", ".rowid", "rowid)", "or ignore", "is not 1", "collate",
    ]

    /// The words in a text, with their lines.
    private static func words(in text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { number, line in
            let line = line.lowercased()
            return words.filter(line.contains).map { "\(number + 1) \($0)" }
        }
    }

    @Test(arguments: ["SQL", "MigrationPlans"])
    func aLayerAboveDatabasesNamesNone(folder: String) throws {
        let url = LayerTable.engine.folder.appendingPathComponent(folder)
        let enumerator = try #require(FileManager.default.enumerator(atPath: url.path))
        var files = 0
        for case let path as String in enumerator where path.hasSuffix(".swift") {
            files += 1
            let found = Self.words(in: try String(contentsOf: url.appendingPathComponent(path), encoding: .utf8))
            #expect(found.isEmpty, "\(folder)/\(path): \(found.joined(separator: ", "))")
        }
        #expect(files > 5)
    }

    @Test func aNameOfADatabaseIsFound() {
        #expect(Self.words(in: "let one = 1\nlet key = \"t0.Z_PK\" // as SQLite has it") == ["2 sqlite", "2 z_pk"])
    }
}
