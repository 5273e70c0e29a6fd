import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Tables of which `info` looks at the first and last rows only: a row between them has the number
/// of no entity.
struct LargeTableTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
        try file.run(
            "WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                + "INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) "
                + "SELECT i, (SELECT max(Z_ENT) FROM ZMAKER), 1, 'n' || i FROM n; "
                + "UPDATE ZMAKER SET Z_ENT = 77 WHERE Z_PK = 2500; UPDATE Z_PRIMARYKEY SET Z_MAX = 5000"
        )
    }

    private var file: SQLiteFile { SQLiteFile(URL(fileURLWithPath: store)) }
    private let rows = 4992

    @Test func anExportLosesNoRow() {
        let run = ToolRun(["export", store, "--entity", "Maker"])
        #expect(run.lines.count == rows, "\(run.errors)")
        #expect(run.output.contains("\"Maker/p2500\""))
        #expect(run.errors.contains("of no entity of this table (Z_ENT 77)"))
    }

    @Test func aDifferenceLosesNoRow() throws {
        let run = ToolRun(["diff", store, store, "--entity", "Maker", "--json"])
        let entities = (try run.json() as? [String: Any])?["entities"] as? [[String: Any]]
        #expect(entities?.first?["same"] as? Int == rows)
    }

    @Test func aQueryOfAllObjectsLosesNoRow() {
        #expect(ToolRun(["query", store, "Maker", "--count"]).output == "\(rows)\n")
        #expect(ToolRun(["query", store, "Maker", "--format", "ndjson"]).lines.count == rows)
    }

    @Test func suchAStoreIsNotEdited() throws {
        let before = file.rows("SELECT * FROM ZMAKER")
        let run = ToolRun(["edit", "set", store, "Maker/p1", "name=x", "--yes"])
        #expect(run.status == 1)
        #expect(run.errors.contains("is damaged"), "\(run.errors)")
        #expect(file.rows("SELECT * FROM ZMAKER") == before)
    }

    @Test func infoSaysThatItLookedAtAPart() {
        let run = ToolRun(["info", store])
        #expect(run.output.contains("\(rows)"))
        #expect(run.output.contains("coredata check"))
    }
}
