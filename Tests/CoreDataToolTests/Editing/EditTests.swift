import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata edit`: objects are inserted, changed and deleted by the engine.
struct EditTests {
    let warehouse: Warehouse

    init() throws { warehouse = try Warehouse() }

    private func edit(_ verb: String, _ arguments: String...) -> ToolRun {
        ToolRun(["edit", verb, warehouse.path, "--yes"] + arguments)
    }

    /// The values of a table as SQL literals.
    private func rows(_ table: String, without columns: Set<String> = []) -> [[String?]] {
        let file = warehouse.file
        let names = file.column("SELECT name FROM pragma_table_info('\(table)')").compactMap { $0 }
        let list = names.filter { !columns.contains($0) }.map { "quote(\"\($0)\")" }.joined(separator: ", ")
        return file.rows("SELECT \(list) FROM \"\(table)\" ORDER BY 1, 2")
    }

    private func value(_ sql: String) -> String? { warehouse.file.value(sql) }

    // MARK: Values

    @Test func settingAValueChangesItsColumnAlone() {
        let before = (rows("ZBOX", without: ["ZWEIGHT", "Z_OPT"]), rows("Z_METADATA"), rows("Z_PRIMARYKEY"))
        let run = edit("set", "Box/p1", "weight=-7")
        #expect(
            run.output == """
                change  Box/p1  one
                        weight  3 → -7
                1 object changed.
                Changed. 'coredata edit undo \(warehouse.path)' takes it back.

                """, "\(run.errors)")
        #expect(value("SELECT ZWEIGHT FROM ZBOX WHERE Z_PK = 1") == "-7")
        #expect(rows("ZBOX", without: ["ZWEIGHT", "Z_OPT"]) == before.0)
        #expect(rows("Z_METADATA") == before.1)
        #expect(rows("Z_PRIMARYKEY") == before.2)
        #expect(rows("Z_MODELCACHE").count == 1)
    }

    @Test func theVersionOfAChangedRowIsCountedOn() throws {
        let before = try #require(warehouse.file.integer("SELECT Z_OPT FROM ZBOX WHERE Z_PK = 1"))
        #expect(edit("set", "Box/p1", "weight=4").status == 0)
        #expect(warehouse.file.integer("SELECT Z_OPT FROM ZBOX WHERE Z_PK = 1") == before + 1)
    }

    @Test func valuesOfAllTypesAreSet() throws {
        let file = try warehouse.workplace.file("photo.bin", Data([1, 2, 3]))
        let run = edit(
            "set", "Box/p2", "name=", "packed=2026-01-31T12:00:00Z", "photo=@\(file)", "isOpen=true",
            "serial=00112233-4455-6677-8899-aabbccddeeff", "weight=nil")
        #expect(run.status == 0, "\(run.errors)")
        let row = warehouse.file.rows(
            "SELECT ZNAME, ZPACKED, hex(ZPHOTO), ZISOPEN, hex(ZSERIAL), ZWEIGHT FROM ZBOX WHERE Z_PK = 2")
        #expect(row == [["", "791553600", "010203", "1", "00112233445566778899AABBCCDDEEFF", nil]])
    }

    @Test func bytesAreWrittenAsBase64() {
        #expect(edit("set", "Box/p2", "photo=AAEC").status == 0)
        #expect(value("SELECT hex(ZPHOTO) FROM ZBOX WHERE Z_PK = 2") == "000102")
    }

    @Test func elementsOfCompositesAreSetByPath() {
        let run = edit("set", "Shelf/p1", "size.width=9")
        #expect(
            run.output.contains("size  {\"width\": 3, \"height\": 2.5} → {\"width\": 9, \"height\": 2.5}"),
            "\(run.output)")
        let row = ToolRun([
            "query", warehouse.path, "Shelf", "--where", "code == 'A'", "--columns", "size.width,size.height",
            "--format", "csv",
        ])
        #expect(row.output == "size.width,size.height\r\n9,2.5\r\n")
    }

    @Test func transformableBytesStayAsTheyAre() {
        let before = value("SELECT hex(ZTAGS) FROM ZBOX WHERE Z_PK = 1")
        #expect(edit("set", "Box/p1", "name=uno", "shelf=Shelf/p2").status == 0)
        #expect(value("SELECT hex(ZTAGS) FROM ZBOX WHERE Z_PK = 1") == before)
        #expect(edit("set", "Box/p1", "tags=nil").status == 0)
        #expect(value("SELECT ZTAGS IS NULL FROM ZBOX WHERE Z_PK = 1") == "1")
    }

    @Test func derivedValuesFollow() {
        #expect(edit("set", "Box/p1", "name=Ünó").status == 0)
        #expect(value("SELECT ZSORTNAME FROM ZBOX WHERE Z_PK = 1") == "uno")
    }

    private static let unfitValues: [(String, String)] = [
        ("weight=40000", "is not a whole number of 16 bits"), ("weight=1.5", "is not a whole number"),
        ("packed=soon", "is not a date"), ("isOpen=maybe", "is not true or false"), ("serial=12", "is not a UUID"),
        ("photo=!", "is not bytes"), ("photo=@/nowhere", "cannot be read"), ("tags=[1]", "transformable"),
        ("memo=x", "it is transient"), ("sortName=x", "derives its value"), ("nme=x", "Did you mean 'name'?"),
        ("shelf=Box/p2", "'shelf' leads to 'Shelf'"), ("shelf=Shelf/p9", "There is no object Shelf/p9"),
        ("shelf.code=x", "only the object's own properties"), ("name+=x", "+= is for relationships to many objects"),
        ("labels=Box/p1", "'labels' leads to 'Label'"), ("objectID=Box/p2", "only the object's own properties"),
        ("name=much too long", "Box/p1.name: "),
    ]

    @Test(arguments: LongTests.some(6, of: unfitValues))
    func unfitValuesAreRefused(_ assignment: String, _ message: String) throws {
        let before = try warehouse.workplace.contents()
        let run = edit("set", "Box/p1", assignment)
        #expect(run.status == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(try warehouse.workplace.contents() == before)
    }

    @Test(arguments: [
        ["set"], ["set", "Box/p1"], ["set", "Box/p1", "name"], ["set", "Box/p1", "=x"], ["delete"], ["insert"],
    ])
    func argumentsThatSetNothingAreUsageErrors(_ arguments: [String]) {
        let run = ToolRun(["edit", arguments[0], warehouse.path] + arguments.dropFirst())
        #expect(run.status == 64, "\(run.errors)")
    }

    // MARK: Objects

    @Test func anInsertedObjectGetsTheNextKey() {
        let run = edit("insert", "crate", "name=four", "depth=0.5", "shelf=Shelf/p2", "labels=[Label/p1]")
        #expect(
            run.output.hasPrefix(
                """
                insert  Crate (new)
                        depth   - → 0.5
                        name    - → four
                        labels  + Label/p1
                        shelf   - → Shelf/p2
                change  Label/p1  red
                        boxes  + Crate (new)
                change  Shelf/p2  B
                        boxes  + Crate (new)
                1 object inserted, 2 objects changed.
                Inserted Crate/p4.

                """), "\(run.output)\(run.errors)")
        #expect(value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Box'") == "4")
        #expect(
            value("SELECT Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Crate') FROM ZBOX WHERE Z_PK = 4")
                == "1")
        #expect(value("SELECT ZSHELF FROM ZBOX WHERE Z_PK = 4") == "2")
    }

    @Test func aRequiredValueIsNamed() {
        let run = edit("insert", "Shelf")
        #expect(run.status == 1)
        #expect(run.errors.contains("Shelf (new).code: "), "\(run.errors)")
    }

    @Test func aUniqueValueOfAnotherObjectIsRefused() throws {
        let before = rows("ZSHELF")
        let run = edit("insert", "Shelf", "code=A")
        #expect(run.status == 1)
        #expect(run.errors.contains("The change is refused"), "\(run.errors)")
        #expect(rows("ZSHELF") == before)
        #expect(!FileManager.default.fileExists(atPath: warehouse.path + ".coredata-backup"))
        #expect(!FileManager.default.fileExists(atPath: warehouse.path + ".coredata-backup-new"))
    }

    @Test func cascadesAndNullifiedRelationshipsAreShown() {
        let run = edit("delete", "Shelf/p1")
        #expect(
            run.output.hasPrefix(
                """
                change  Label/p1  red
                        boxes  - Box/p1  - Box/p2
                delete  Shelf/p1  A
                delete  Box/p1  one  (by a delete rule)
                delete  Box/p2  two  (by a delete rule)
                delete  Crate/p3  three  (by a delete rule)
                1 object changed, 4 objects deleted.

                """), "\(run.output)\(run.errors)")
        #expect(value("SELECT count(*) FROM ZBOX") == "0")
        #expect(value("SELECT count(*) FROM ZSHELF") == "1")
    }

    @Test func aDeniedDeletionNamesTheRelationship() {
        let run = edit("delete", "Label/p1")
        #expect(run.status == 1)
        #expect(run.errors.contains("Label/p1.boxes: "), "\(run.errors)")
        #expect(value("SELECT count(*) FROM ZLABEL") == "1")
    }

    @Test func severalObjectsAreDeletedInOneEdit() {
        #expect(edit("delete", "Box/p1", "Crate/p3", "Box/p1").status == 0)
        #expect(warehouse.file.column("SELECT Z_PK FROM ZBOX") == ["2"])
    }

    @Test func anUnknownObjectIsNamed() {
        #expect(edit("delete", "Box/p99").errors.contains("There is no object Box/p99"))
        #expect(edit("set", "Bax/p1", "name=x").errors.contains("Did you mean 'Box'?"))
    }

    // MARK: To-many relationships

    private var order: [String] {
        let rows = try? ToolRun([
            "query", warehouse.path, "Shelf", "--where", "code == 'A'", "--expand", "boxes", "--columns", "boxes.name",
            "--format", "json",
        ]).rows()
        return (rows?.first?["boxes"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }

    @Test func membersAreSetInTheirOrder() {
        let run = edit("set", "Shelf/p1", "boxes=[Box/p3, Box/p1]")
        #expect(run.output.contains("boxes  - Box/p2"), "\(run.output)\(run.errors)")
        #expect(order == ["three", "one"])
        let reordered = edit("set", "Shelf/p1", "boxes=[Box/p1,Crate/p3]")
        #expect(reordered.output.contains("boxes  another order"), "\(reordered.output)")
        #expect(order == ["one", "three"])
    }

    @Test func membersAreAddedAndRemoved() {
        #expect(edit("set", "Shelf/p1", "boxes-=Box/p1").status == 0)
        #expect(order == ["two", "three"])
        #expect(edit("set", "Shelf/p1", "boxes+=[Box/p1]").status == 0)
        #expect(order == ["two", "three", "one"])
        #expect(edit("set", "Crate/p3", "labels+=Label/p1", "labels-=Label/p1").output.contains("Nothing changes."))
        #expect(edit("set", "Label/p1", "boxes=nil").status == 0)
        let join = value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? ""
        #expect(value("SELECT count(*) FROM \(join)") == "0")
    }

    /// After each of many edits both ends of relationships agree, orders are whole, and no pair
    /// leads to a row that is gone.
    @Test(arguments: 1...(LongTests.areEnabled ? 3 : 1)) func randomEditsLeaveASoundStore(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        for step in 1...15 {
            let rows = try ToolRun(["export", warehouse.path, "--format", "json"]).rows()
            let names = rows.compactMap { $0["objectID"] as? String }
            func some(_ entities: [String]) -> String? {
                names.filter { name in entities.contains { name.hasPrefix($0 + "/") } }.randomElement(using: &generator)
            }
            let (box, shelf, label) = (some(["Box", "Crate"]), some(["Shelf"]), some(["Label"]))
            let edits: [[String?]] = [
                ["set", box, "shelf=\(shelf ?? "nil")"], ["set", box, "shelf=nil"],
                ["set", shelf, "boxes+=\(box ?? "nil")"], ["set", shelf, "boxes-=\(box ?? "nil")"],
                ["set", label, "boxes=[\(box ?? "")]"], ["set", box, "labels+=\(label ?? "nil")"],
                ["delete", box], ["delete", shelf], ["delete", label],
                ["insert", "Crate", "name=c\(step)", "shelf=\(shelf ?? "nil")"], ["insert", "Shelf", "code=\(step)"],
                ["insert", "Label", "boxes=[\(box ?? "")]"],
            ]
            guard let words = edits.randomElement(using: &generator), !words.contains(nil) else { continue }
            let edit = words.compactMap { $0 }
            // A deletion that a label denies is refused.
            let run = ToolRun(["edit", edit[0], warehouse.path] + edit.dropFirst() + ["--yes"])
            #expect([0, 1].contains(run.status), "\(edit) \(run.errors)")
            let check = ToolRun(["check", warehouse.path])
            #expect(check.status == 0, "\(edit) \(check.output)")
        }
    }

    // MARK: Asking

    @Test func nothingIsChangedWithoutAYes() throws {
        let before = try warehouse.workplace.contents()
        for answers in [[], ["n"], ["maybe"]] {
            let run = ToolRun(["edit", "set", warehouse.path, "Box/p1", "weight=9"], answers: answers)
            #expect(run.status == 1)
            #expect(run.errors.hasSuffix("[y/N] coredata: Nothing was changed.\n"), "\(run.errors)")
        }
        #expect(try warehouse.workplace.contents() == before)
        #expect(ToolRun(["edit", "set", warehouse.path, "Box/p1", "weight=9"], answers: ["y"]).status == 0)
        #expect(value("SELECT ZWEIGHT FROM ZBOX WHERE Z_PK = 1") == "9")
    }

    @Test func aDryRunOnlyShows() throws {
        let before = try warehouse.workplace.contents()
        let run = edit("delete", "Shelf/p1", "--dry-run")
        #expect(run.status == 0)
        #expect(run.output.hasSuffix("1 object changed, 4 objects deleted.\n"))
        #expect(try warehouse.workplace.contents() == before)
    }

    @Test func aChangeToTheSameValueIsNone() throws {
        let before = try warehouse.workplace.contents()
        #expect(edit("set", "Box/p1", "weight=3").output == "Nothing changes.\n")
        #expect(try warehouse.workplace.contents() == before)
    }

    @Test func jsonHasTheChangesAndTheCopy() throws {
        let run = edit("set", "Box/p1", "weight=9", "shelf=Shelf/p2", "--format", "json")
        let report = try #require(try run.json() as? [String: Any])
        #expect(report["isDone"] as? Bool == true)
        #expect((report["backup"] as? String)?.hasSuffix("Warehouse.sqlite.coredata-backup") == true)
        let changed = try #require(report["changed"] as? [[String: Any]])
        #expect(changed.map { $0["objectID"] as? String } == ["Box/p1", "Shelf/p1", "Shelf/p2"])
        let values = try #require(changed.first?["values"] as? [String: [String: Any]])
        #expect(values["weight"]?["old"] as? Int == 3)
        #expect(values["weight"]?["new"] as? Int == 9)
        #expect(values["shelf"]?["new"] as? String == "Shelf/p2")
        #expect(ToolRun(["edit", "set", warehouse.path, "Box/p1", "weight=9", "--format", "json"]).status == 64)
    }

    @Test func escapeSequencesInValuesAreShown() {
        let run = edit("set", "Box/p1", "name=a\u{1b}[31m")
        #expect(run.output.contains("name  one → a␛[31m\n"), "\(run.output)")
        #expect(!run.output.contains("\u{1b}"))
    }

    // MARK: Stores that are not edited

    @Test func aStoreWithoutAModelIsNotEdited() {
        warehouse.change("DELETE FROM Z_MODELCACHE")
        let run = edit("set", "Box/p1", "weight=1")
        #expect(run.status == 1)
        #expect(run.errors.contains("carries no model that can be used"), "\(run.errors)")
    }

    @Test func aDamagedStoreIsNotEdited() {
        warehouse.change("UPDATE ZBOX SET Z_ENT = 99 WHERE Z_PK = 1")
        let run = edit("set", "Box/p2", "weight=1")
        #expect(run.status == 1)
        #expect(run.errors.contains("is damaged, and is not edited before it is mended."), "\(run.errors)")
    }

    @Test func aStoreWhoseMetadataDoNotFitIsNotEdited() throws {
        guard case .blob(let bytes)? = try warehouse.file.cells("SELECT Z_PLIST FROM Z_METADATA").first?.first else {
            Issue.record("The store has no metadata.")
            return
        }
        var list = try #require(try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any])
        var hashes = try #require(list[NSStoreModelVersionHashesKey] as? [String: Data])
        hashes["Label"] = Data(repeating: 0, count: 32)
        list[NSStoreModelVersionHashesKey] = hashes
        let changed = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try warehouse.file.run("UPDATE Z_METADATA SET Z_PLIST = ?", bytes: changed)
        let run = edit("set", "Box/p2", "weight=1")
        #expect(run.status == 1)
        #expect(run.errors.contains("do not fit its model"), "\(run.errors)")
        warehouse.change("UPDATE Z_METADATA SET Z_PLIST = NULL")
        #expect(edit("set", "Box/p2", "weight=1").status == 1)
    }
}
