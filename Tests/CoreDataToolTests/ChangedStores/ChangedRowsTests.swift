import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Rows that a hand or another program has changed: what is there is shown, what is not as it
/// should be is named.
struct ChangedRowsTests {
    let store: ShelfStore

    init() throws { store = try ShelfStore() }

    private let all = ["t1", "t2", "t3", "t4", "t5"]

    @Test func aSoundStoreIsReadWithoutAWord() throws {
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(try store.titles() == all)
        #expect(try store.warnings() == [])
    }

    @Test func rowsWhoseEntityIsWrittenAsTextAreShown() throws {
        store.change("UPDATE ZTHING SET Z_ENT = 'Book' WHERE ZTITLE = 't4'")
        let run = try store.query("Book")
        #expect(run.status == 0)
        #expect(run.errors == "coredata: 1 row of ZTHING has its entity as text (Z_ENT 'Book').\n")
        #expect(try store.titles("Book") == ["t4", "t5"])
        #expect(try store.titles() == all)
        #expect(try store.warnings() == ["1 row of ZTHING has its entity as text (Z_ENT 'Book')."])
        #expect(try store.ownRows()["Book"] == 2)
    }

    @Test(arguments: LongTests.some(3, of: ["NULL", "777", "-1", "'x'", "1.5", "x'01'", "9223372036854775807"]))
    func rowsOfNoKnownEntityAreShownAsTheRoot(_ number: String) throws {
        store.change("UPDATE ZTHING SET Z_ENT = \(number) WHERE ZTITLE = 't4'")
        let run = try store.query("Thing", "--where", "title == 't4'")
        #expect(run.status == 0)
        #expect(
            run.errors.hasPrefix("coredata: 1 row of ZTHING is of no entity of this table (Z_ENT "), "\(run.errors)")
        #expect((try run.rows().first?["objectID"] as? String)?.hasPrefix("Thing/p") == true)
        #expect(try store.titles() == all)
        #expect(try store.titles("Book") == ["t5"])
        #expect(try store.warnings().count == 1)
        #expect(try store.ownRows()["Thing"] == 4)
    }

    @Test func rowsWithTheNumberOfAnotherTablesEntityAreShown() throws {
        store.change("UPDATE ZTHING SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Shelf')")
        #expect(try store.titles() == all)
        #expect(try store.warnings().first?.contains("5 rows of ZTHING are of no entity of this table") == true)
    }

    private static let valuesOfAnotherKind: [(String, String, String)] = [
        ("size", "'tall'", "tall"), ("size", "70000", "70000"), ("weight", "'heavy'", "heavy"), ("isNew", "7", "7"),
        ("code", "'abc'", "abc"), ("code", "x'0102'", "AQI="), ("made", "'soon'", "soon"), ("title", "x'00ff'", "AP8="),
        ("shelf", "'there'", "there"), ("cover", "'bytes'", "bytes"),
    ]

    @Test(arguments: LongTests.some(4, of: valuesOfAnotherKind))
    func valuesOfAnotherKindAreShownAsTheyAre(_ property: String, _ value: String, _ shown: String) throws {
        store.change("UPDATE ZTHING SET Z\(property.uppercased()) = \(value) WHERE ZSIZE = 2")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: Thing.\(property) of 1 object (p"), "\(run.errors)")
        #expect(run.errors.hasSuffix("the value is shown as it is in the file.\n"))
        let values = try run.rows().map { "\($0[property] ?? "")" }
        #expect(values.contains(shown))
        #expect(values.count == 5)
        #expect(try store.warnings().filter { $0.hasPrefix("Thing.\(property) of 1 object") }.count == 1)
    }

    @Test func keysOfRowsThatAreNotThereAreNamed() throws {
        store.change("UPDATE ZTHING SET ZSHELF = 4711 WHERE ZTITLE IN ('t2', 't3')")
        let run = try store.query("Thing", "--where", "title == 't2'")
        #expect(run.status == 0)
        #expect(try run.rows().first?["shelf"] as? String == "Shelf/p4711")
        #expect(run.errors.contains("Thing.shelf of 1 object (p"))
        #expect(run.errors.contains("leads to a row that is not there."))
        #expect(
            try store.warnings().contains { $0.hasPrefix("Thing.shelf of 2 objects (p") && $0.hasSuffix("not there.") })
    }

    @Test func aMissingFileOfALargeValueIsNamed() throws {
        let file = try #require(store.externalFiles.first)
        try FileManager.default.removeItem(at: file)
        let run = try store.query("Thing", "--sort", "title")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: Thing.cover of 1 object (p"))
        #expect(run.errors.hasSuffix("the file with the value is missing.\n"))
        #expect(try run.rows().count == 5)
        #expect(try run.rows().first?["cover"] is NSNull)
        #expect(
            try store.warnings().contains {
                $0.hasSuffix("the file with the value is missing: \(file.lastPathComponent).")
            })
    }

    @Test func aFileNameThatLeadsElsewhereIsNotFollowed() throws {
        try Data("secret".utf8).write(to: store.workplace.folder.appendingPathComponent("secret"))
        store.change("UPDATE ZTHING SET ZCOVER = CAST(x'02' || '../../secret' || x'00' AS BLOB) WHERE ZTITLE = 't2'")
        let run = try store.query("Thing", "--where", "title == 't2'")
        #expect(run.status == 0)
        #expect(try run.rows().first?["cover"] is NSNull)
        #expect(run.errors.contains("the file with the value is missing"))
    }

    @Test func onlyTheRowsAndColumnsThatAreShownAreNamed() throws {
        store.change("UPDATE ZTHING SET ZSIZE = 'tall' WHERE ZTITLE = 't2'")
        #expect(try store.query("Thing", "--where", "title == 't3'").errors == "")
        #expect(try store.query("Thing", "--columns", "title").errors == "")
        #expect(try store.query("Thing", "--columns", "size").errors.contains("Thing.size of 1 object"))
    }

    @Test func aChangeInTheWALCounts() throws {
        let writer = SQLiteFile(store.url)
        #expect(writer.execute("PRAGMA wal_autocheckpoint = 0"))
        #expect(writer.execute("UPDATE ZTHING SET Z_ENT = NULL WHERE ZTITLE = 't4'"))
        #expect((try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))).count > 0)
        // The store is open in another connection, so it is read in place and copied from there.
        let run = ToolRun(["query", store.path, "Thing", "--format", "json"])
        #expect(try run.rows().count == 5)
        #expect(run.errors.contains("1 row of ZTHING is of no entity of this table (Z_ENT NULL); shown as 'Thing'."))
        withExtendedLifetime(writer) {}
    }
}
