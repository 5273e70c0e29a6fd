import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Tables that are missing, changed, or something else than Core Data made.
struct ChangedTablesTests {
    let store: ShelfStore

    init() throws { store = try ShelfStore() }

    private let all = ["t1", "t2", "t3", "t4", "t5"]

    // MARK: Tables of entities

    @Test(arguments: [false, true])
    func aMissingTableIsNamedAndTheOthersAreShown(losesModel: Bool) throws {
        if losesModel { store.loseModel() }
        store.change("DROP TABLE ZSHELF")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.contains("entity 'Shelf' is missing."))
        #expect(try store.titles() == all)
        let lost = try store.query("Shelf")
        #expect(lost.status == 1)
        #expect(lost.output == "")
        #expect(lost.errors.hasPrefix("coredata: The store '\(store.path)' has lost the table"))
        #expect(try store.warnings().contains { $0.contains("'Shelf' is missing.") })
    }

    @Test func aMissingTableOfARelationshipIsNamed() throws {
        let table = store.joinTable
        store.change("DROP TABLE \(table)")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: The table \(table) of the relationship "))
        #expect(try run.rows().allSatisfy { $0["tags"] as? Int == 0 })
        #expect(try store.titles() == all)
        #expect(try store.warnings().contains { $0.hasPrefix("The table \(table) of the relationship ") })
    }

    @Test(arguments: ["ZTITLE", "ZSIZE", "ZCOVER", "Z_OPT"])
    func aMissingColumnIsNamedAndTheOthersAreShown(_ column: String) throws {
        store.change("ALTER TABLE ZTHING DROP COLUMN \(column)")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: The column ZTHING.\(column) "))
        #expect(run.errors.hasSuffix("is missing.\n"))
        let rows = try run.rows()
        #expect(rows.count == 5)
        #expect(rows.allSatisfy { $0["shelf"] as? String == "Shelf/p1" && $0["tags"] as? Int == 2 })
        #expect(try store.warnings().contains { $0.hasPrefix("The column ZTHING.\(column) ") })
    }

    @Test func aTableWithoutEntityNumbersIsShown() throws {
        store.change("DROP INDEX IF EXISTS ZTHING_Z_ENT_INDEX", "ALTER TABLE ZTHING DROP COLUMN Z_ENT")
        let run = try store.query("Thing")
        #expect(run.errors == "coredata: The column ZTHING.Z_ENT is missing.\n")
        #expect(try store.titles() == all)
        #expect(try store.ownRows()["Thing"] == 5)
    }

    @Test func aTableWithoutTypesAndKeysIsShown() throws {
        store.change(
            "CREATE TABLE copy AS SELECT * FROM ZTHING", "DROP TABLE ZTHING", "ALTER TABLE copy RENAME TO ZTHING",
            "UPDATE ZTHING SET Z_ENT = CAST(Z_ENT AS TEXT), Z_PK = CAST(Z_PK AS TEXT)")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(try store.titles() == all)
        #expect(try store.titles("Book") == ["t4", "t5"])
        #expect(try run.rows().allSatisfy { $0["tags"] as? Int == 2 })
    }

    @Test func rowsWithoutAKeyOfTheirOwnAreShown() throws {
        store.change(
            "CREATE TABLE copy AS SELECT * FROM ZTHING", "DROP TABLE ZTHING", "ALTER TABLE copy RENAME TO ZTHING",
            "UPDATE ZTHING SET Z_PK = NULL WHERE ZTITLE = 't2'",
            "UPDATE ZTHING SET Z_PK = (SELECT Z_PK FROM ZTHING WHERE ZTITLE = 't4') WHERE ZTITLE = 't3'")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(
            run.errors.hasPrefix(
                "coredata: 2 rows of ZTHING have no key or that of another row; they are shown with keys above p"))
        #expect(try store.titles() == all)
        #expect(Set(try run.rows().compactMap { $0["objectID"] as? String }).count == 5)
    }

    @Test func namesInOtherCaseAreFound() throws {
        store.change(
            "ALTER TABLE ZTHING RENAME TO aside", "ALTER TABLE aside RENAME TO zThing",
            "ALTER TABLE zThing RENAME COLUMN ZTITLE TO aside", "ALTER TABLE zThing RENAME COLUMN aside TO ztitle")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(try store.titles() == all)
    }

    // MARK: Views and triggers

    @Test func aViewInATablesPlaceIsRead() throws {
        store.change(
            "ALTER TABLE ZTHING RENAME TO real", "CREATE VIEW ZTHING AS SELECT * FROM real WHERE ZTITLE <> 't2'")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors == "coredata: ZTHING is a view, not a table; what it shows is read.\n")
        #expect(try store.titles() == ["t1", "t3", "t4", "t5"])
        #expect(try store.warnings().contains { $0.hasPrefix("ZTHING is a view") })
    }

    @Test(arguments: [
        "SELECT * FROM nowhere",
        "WITH RECURSIVE r(Z_PK) AS (SELECT 1 UNION ALL SELECT Z_PK + 1 FROM r) SELECT Z_PK, 1 AS Z_ENT, 1 AS Z_OPT "
            + "FROM r",
    ])
    func aViewThatCannotBeReadIsNamed(_ select: String) throws {
        store.change("DROP TABLE ZSHELF", "CREATE VIEW ZSHELF AS \(select)")
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.contains("ZSHELF of the entity 'Shelf' is a view, not a table, and cannot be read"))
        #expect(try run.rows().compactMap { $0["title"] as? String }.sorted() == all)
        // Each command reads a view without end for some seconds.
        if LongTests.areEnabled || !select.contains("RECURSIVE") { #expect(try store.query("Shelf").status == 1) }
    }

    @Test(arguments: LongTests.some(1, of: ["Z_METADATA", "Z_PRIMARYKEY"]))
    func aViewWithoutEndInThePlaceOfATableLeavesTheRestReadable(table: String) throws {
        store.change(
            "ALTER TABLE \(table) RENAME TO aside",
            "CREATE VIEW \(table) AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                + "SELECT r.n AS Z_VERSION, r.n AS Z_ENT, aside.* FROM r, aside")
        let problem = "The table \(table) cannot be read: its rows do not end"
        let run = try store.query("Thing")
        #expect(try run.rows().compactMap { $0["title"] as? String }.sorted() == all)
        #expect(run.errors.contains(problem))
        // Each command reads a view without end for some seconds.
        if LongTests.areEnabled { #expect(try store.warnings().contains { $0.hasPrefix(problem) }) }
    }

    @Test func triggersOfOthersAreInNobodysWay() throws {
        store.change(
            "UPDATE ZTHING SET Z_ENT = NULL WHERE ZTITLE = 't1'",
            "CREATE TRIGGER no1 BEFORE UPDATE ON ZTHING BEGIN SELECT RAISE(ABORT, 'no'); END",
            "CREATE TRIGGER no2 AFTER UPDATE ON ZTHING BEGIN DELETE FROM ZTHING; END")
        #expect(try store.titles() == all)
    }

    @Test func tablesOfOthersAreListedAndDoNotMatter() throws {
        store.change("CREATE TABLE notes (text)", "CREATE VIEW Zview AS SELECT * FROM notes")
        #expect(try store.query("Thing").errors == "")
        let report = try #require(try store.run(["info", store.path, "--json"]).json() as? [String: Any])
        #expect(report["otherTables"] as? [String] == ["Zview", "notes"])
        #expect(report["warnings"] as? [String] == [])
        #expect(try store.run(["info", store.path]).output.contains("Other tables       Zview, notes\n"))
    }

    // MARK: Tables of Core Data's own

    private static let changesOfTheList: [String] = [
        "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'",
        "DELETE FROM Z_PRIMARYKEY",
        "DROP TABLE Z_PRIMARYKEY", "ALTER TABLE Z_PRIMARYKEY DROP COLUMN Z_SUPER",
        "INSERT INTO Z_PRIMARYKEY SELECT 99, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'",
        "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_NAME = 'Book'",
    ]

    @Test(arguments: LongTests.some(3, of: changesOfTheList))
    func aListOfEntitiesThatIsNotCompleteIsNamed(_ change: String) throws {
        store.change(change)
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.contains("Z_PRIMARYKEY"), "\(run.errors)")
        #expect(try store.titles() == all)
        #expect(try store.titles("Book") == ["t4", "t5"])
        #expect(try store.warnings().contains { $0.contains("Z_PRIMARYKEY") })
        #expect(try store.ownRows()["Book"] == 2)
        // Without the model too: the tables are still there.
        store.loseModel()
        #expect(try store.titles() == all)
    }

    @Test func numbersThatTheListDoesNotHaveAreUnderstoodFromTheRows() throws {
        // As in a store whose entities were numbered by an earlier model.
        store.change("UPDATE ZSHELF SET Z_ENT = 50", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Shelf'")
        let run = try store.query("Shelf")
        #expect(run.errors == "coredata: Z_PRIMARYKEY does not list the entity 'Shelf'.\n")
        #expect(try run.rows().compactMap { $0["label"] as? String } == ["left"])
    }

    private static let changesOfMetadata: [(String, String)] = [
        ("DROP TABLE Z_METADATA", "The table Z_METADATA is missing."),
        ("DELETE FROM Z_METADATA", "The table Z_METADATA has no row."),
        ("UPDATE Z_METADATA SET Z_PLIST = NULL", "Z_METADATA has no property list"),
        ("UPDATE Z_METADATA SET Z_PLIST = x'00ff'", "The property list in Z_METADATA is damaged."),
        ("UPDATE Z_METADATA SET Z_PLIST = 'text'", "Z_METADATA has no property list"),
        ("ALTER TABLE Z_METADATA DROP COLUMN Z_UUID", "The table Z_METADATA has no column Z_UUID."),
        ("INSERT INTO Z_METADATA VALUES (2, 'x', NULL)", "The table Z_METADATA has 2 rows instead of one"),
    ]

    @Test(arguments: LongTests.some(3, of: changesOfMetadata))
    func metadataThatAreNotCompleteAreNamed(_ change: String, _ problem: String) throws {
        store.change(change)
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: \(problem)"), "\(run.errors)")
        #expect(try store.titles() == all)
        #expect(try store.warnings().contains { $0.hasPrefix(problem) })
    }

    @Test(arguments: [
        "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00ff'", "UPDATE Z_MODELCACHE SET Z_CONTENT = 'text'",
        "DROP TABLE Z_MODELCACHE",
    ])
    func aModelThatCannotBeReadGivesWayToTheTables(_ change: String) throws {
        store.change(change)
        let run = try store.query("Thing")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty == change.hasPrefix("DROP"))
        #expect(try store.titles() == all)
        #expect(try store.run(["info", store.path]).output.contains("inferred from the tables"))
    }

    @Test(arguments: [
        ("DROP TABLE ACHANGE", "the table ACHANGE is missing."),
        ("DROP TABLE ATRANSACTION", "the table ATRANSACTION is missing."),
        ("ALTER TABLE ACHANGE RENAME COLUMN ZCHANGETYPE TO other", "the table ACHANGE has no column ZCHANGETYPE."),
    ])
    func aHistoryThatIsNotCompleteIsNamedByInfo(_ change: String, _ problem: String) throws {
        store.change(change)
        #expect(try store.warnings() == ["The history is not complete: " + problem])
        #expect(try store.query("Thing").errors == "")
        #expect(try store.titles() == all)
    }

    // MARK: Whatever may come

    private static let changes = [
        "UPDATE ZTHING SET Z_ENT = NULL WHERE ZSIZE = 2", "UPDATE ZTHING SET Z_ENT = 'Book' WHERE ZSIZE = 3",
        "UPDATE ZTHING SET Z_ENT = 999",
        "DROP TABLE ZSHELF", "DROP TABLE ZTAG", "ALTER TABLE ZTHING DROP COLUMN ZCODE",
        "ALTER TABLE ZTHING DROP COLUMN Z_OPT",
        "DROP TABLE Z_PRIMARYKEY", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'",
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 77",
        "UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 20", "DROP TABLE Z_METADATA", "DELETE FROM Z_MODELCACHE",
        "DROP TABLE ACHANGE",
        "UPDATE ZTHING SET ZSHELF = 'x', ZSIZE = 'y', ZWEIGHT = x'00', ZCODE = 'z', ZMADE = 'never', ZTITLE = ZTITLE "
            + "|| ''",
        "UPDATE ZTHING SET ZCOVER = x'0200'", "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT",
        "UPDATE ZTHING SET Z_OPT = 'x'",
        "CREATE TABLE other (a, b)", "ALTER TABLE ZTAG RENAME TO real; CREATE VIEW ZTAG AS SELECT * FROM real",
        "CREATE TABLE again AS SELECT * FROM ZTHING; DROP TABLE ZTHING; ALTER TABLE again RENAME TO ZTHING",
        "UPDATE ZTHING SET Z_PK = -Z_PK", "UPDATE ZTHING SET Z_PK = 9223372036854775807 WHERE ZSIZE = 5",
    ]

    @Test(arguments: 0..<(LongTests.areEnabled ? 24 : 5))
    func anyMixtureOfChangesShowsAllRows(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let file = SQLiteFile(store.url)
        var done: [String] = []
        for _ in 0..<Int.random(in: 2...5, using: &generator) {
            guard let change = Self.changes.randomElement(using: &generator) else { continue }
            if file.execute(change) { done.append(change) }
        }
        let expected = file.integer("SELECT count(*) FROM ZTHING")
        _ = file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        let run = try store.query("Thing")
        #expect(run.status == 0, "\(done): \(run.errors)")
        #expect(try run.rows().count == expected, "\(done)")
        #expect(try store.run(["query", store.path, "Thing"]).status == 0, "\(done)")
        _ = try store.warnings()
    }
}
