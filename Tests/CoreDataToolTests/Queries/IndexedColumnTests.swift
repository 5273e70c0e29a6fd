import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Indexed columns of integers in stores without a model and with one hierarchy: attributes marked
/// as indexed, or relationships.
struct IndexedColumnTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store as frameworks wrote it that kept no model: one entity, the index of every integer
    /// named as that of a to-one column.
    private func store(_ columns: [String], unindexed: [String] = [], rows: [[Int?]]) throws -> String {
        let url = folder.file("Event.sqlite")
        let file = SQLiteFile(url)
        let integers = (columns + unindexed).map { ", \($0) INTEGER" }.joined()
        try file.run(
            """
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Event', 0, \(rows.count));
            CREATE TABLE ZEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(integers), ZTITLE VARCHAR);
            """)
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2"], format: .binary, options: 0)
        try file.run("INSERT INTO Z_METADATA VALUES (1, '5E1F9DC1-1A0C-4E5B-9B1D-6C3B1D2E3F40', ?)", bytes: list)
        for column in columns { try file.run("CREATE INDEX ZEVENT_\(column)_INDEX ON ZEVENT (\(column))") }
        for (index, row) in rows.enumerated() {
            let values = row.map { $0.map(String.init) ?? "NULL" }.joined(separator: ", ")
            try file.run("INSERT INTO ZEVENT VALUES (\(index + 1), 1, 1, \(values), 'e\(index + 1)')")
        }
        return url.path
    }

    private func titles(_ path: String, _ predicate: String, sort: String = "title") throws -> [String] {
        let run = ToolRun(["query", path, "Event", "--where", predicate, "--sort", sort, "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "")
        return try run.rows().compactMap { $0["title"] as? String }
    }

    @Test func indexedNumbersAreNumbers() throws {
        let path = try store(["ZISREAD", "ZUSERID"], rows: [[0, 77], [1, 5], [1, 78]])
        let run = ToolRun(["query", path, "Event", "--format", "json"])
        #expect(run.errors == "")
        #expect(try run.rows().map { $0["userid"] as? Int } == [77, 5, 78])
        #expect(try run.rows().map { $0["isread"] as? Int } == [0, 1, 1])
        #expect(try titles(path, "userid == 77") == ["e1"])
        #expect(try titles(path, "userid > 5 AND isread == 1") == ["e3"])
        #expect(try titles(path, "TRUEPREDICATE", sort: "userid:desc") == ["e3", "e1", "e2"])
    }

    @Test func numbersThatAreKeysOfTheirOwnRowsAreNumbers() throws {
        // All true, and numbered in the order of the rows.
        let path = try store(["ZISREAD", "ZPOSITION"], rows: [[1, 1], [1, 2], [1, 3]])
        #expect(try titles(path, "isread == 1 AND position > 1") == ["e2", "e3"])
    }

    @Test func numbersThatOtherNumbersFollowAreNumbers() throws {
        // To-one columns stand behind all the entity's integers.
        let path = try store(["ZLEVEL"], unindexed: ["ZWEIGHT"], rows: [[2, 5], [3, 6], [1, 7]])
        #expect(try titles(path, "level >= 2") == ["e1", "e2"])
    }

    @Test func keysOfOtherRowsAreRelationships() throws {
        let path = try store(["ZISREAD", "ZPARENT"], rows: [[0, nil], [1, 1], [1, 2]])
        #expect(try titles(path, "parent.title == 'e1'") == ["e2"])
        #expect(try titles(path, "parent == 'Event/p2' AND isread == 1") == ["e3"])
        #expect(try titles(path, "parent == nil") == ["e1"])
    }

    @Test func columnsWithoutValuesAreAttributes() throws {
        let path = try store(["ZPARENT"], rows: [[nil], [nil]])
        #expect(try titles(path, "parent == nil", sort: "parent").count == 2)
        #expect(try titles(path, "parent == 5") == [])
    }
}
