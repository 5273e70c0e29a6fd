import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The files written by Apple's framework that tests compare with, beside the repository.
enum Fixtures {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/fixtures")

    /// Whether the files are there; tests that need them are skipped otherwise.
    static let arePresent = FileManager.default.fileExists(atPath: folder.path)

    static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

    /// A store's metadata and compressed model.
    struct StoreContent {
        let metadata: [String: Any]
        let modelCache: Data?
    }

    /// Reads a copy of a store, so that the fixture stays as it is.
    static func store(_ path: String) throws -> StoreContent {
        let folder = try TemporaryFolder()
        let copy = folder.file("store.sqlite")
        for suffix in ["", "-wal", "-shm"] {
            let source = url(path + suffix)
            guard FileManager.default.fileExists(atPath: source.path) else { continue }
            try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: copy.path + suffix))
        }
        let file = SQLiteFile(copy)
        let list = try file.cells("SELECT Z_PLIST FROM Z_METADATA").first?.first?.blob
        let metadata = try list.map { try PropertyListSerialization.propertyList(from: $0, options: [], format: nil) }
        // Old stores have no table of that name.
        let cache = try? file.cells("SELECT Z_CONTENT FROM Z_MODELCACHE").first?.first?.blob
        return StoreContent(metadata: metadata as? [String: Any] ?? [:], modelCache: cache)
    }
}

/// A store and the source of the model it was written with.
struct StoreFixture: Sendable, CustomTestStringConvertible {
    let store: String
    let model: String?

    var testDescription: String { store }

    static let all = [
        StoreFixture(
            store: "SurfJournal/CoreDataSeed/SurfJournalModel.sqlite",
            model: "SurfJournal/SurfJournalModel.xcdatamodeld/SurfJournalModel.xcdatamodel"),
        StoreFixture(
            store: "LoopKit/Model.sqlite.v1.original.sqlite",
            model: "LoopKit/model/LoopKit/Persistence/Model.xcdatamodeld/Model.xcdatamodel"),
        StoreFixture(
            store: "CoreDataPlus/SampleModel3/Fixtures/SampleModel3_V1.sqlite",
            model: "CoreDataPlus/SampleModel3/SampleModel3.xcdatamodeld/SampleModel3.xcdatamodel"),
        StoreFixture(
            store: "CoreDataPlus/SampleModel/Fixtures/SampleModel_V1.sqlite",
            model: "CoreDataPlus/SampleModel/SampleModel.xcdatamodeld/SampleModel.xcdatamodel"),
        StoreFixture(
            store: "CoreDataPlus/SampleModel/Fixtures/SampleModel_V2.sqlite",
            model: "CoreDataPlus/SampleModel/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"),
        StoreFixture(store: "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V1.sqlite", model: nil),
        StoreFixture(store: "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V2.sqlite", model: nil),
        StoreFixture(
            store: "DuckDuckGoBookmarks/Bookmarks_V1.sqlite",
            model: "DuckDuckGoBookmarks/BookmarksModel.xcdatamodeld/BookmarksModel.xcdatamodel"),
        StoreFixture(
            store: "DuckDuckGoBookmarks/Bookmarks_V5.sqlite",
            model: "DuckDuckGoBookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 5.xcdatamodel"),
        migration(1, ""), migration(2, " 2"), migration(3, " 3"),
    ]

    private static func migration(_ number: Int, _ suffix: String) -> StoreFixture {
        StoreFixture(
            store: "CoreDataMigrationRevised/CoreDataMigration_Example_\(number).sqlite",
            model: "CoreDataMigrationRevised/model/Model/CoreDataMigration_Example.xcdatamodeld/"
                + "CoreDataMigration_Example\(suffix).xcdatamodel")
    }
}
