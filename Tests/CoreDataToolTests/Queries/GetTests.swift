import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata get`: one object with its relationships.
struct GetTests {
    let warehouse: Warehouse
    let uuid: String

    init() throws {
        warehouse = try Warehouse()
        uuid = try #require(warehouse.file.value("SELECT Z_UUID FROM Z_METADATA"))
    }

    private func get(_ arguments: String...) -> ToolRun { ToolRun(["get", warehouse.path] + arguments) }

    @Test func anObjectIsShownWithAllItsProperties() {
        #expect(
            get("Box/p1").output == """
                Box/p1  x-coredata://\(uuid)/Box/p1
                  isOpen    -
                  name      one
                  packed    -
                  photo     -
                  serial    -
                  sortName  one
                  tags      ["one"]
                  weight    3
                  labels    1
                            Label/p1  red
                  shelf     Shelf/p1  A

                """)
    }

    @Test func theWholeAddressNamesTheObject() {
        #expect(get("x-coredata://\(uuid)/Box/p1").output == get("box/p1").output)
        #expect(get("x-coredata://\(UUID().uuidString)/Box/p1").errors.contains("is an object of another store"))
    }

    @Test func aSubentityIsFoundUnderTheNameOfItsSuperentity() {
        #expect(get("Box/p3").output.hasPrefix("Crate/p3  "))
    }

    @Test func jsonHasMembersInTheirOrder() throws {
        let object = try #require(try get("Shelf/p1", "--format", "json").json() as? [String: Any])
        #expect(object["objectID"] as? String == "Shelf/p1")
        #expect(object["label"] as? String == "A")
        let attributes = try #require(object["attributes"] as? [String: Any])
        #expect((attributes["size"] as? [String: Any])?["width"] as? Int == 3)
        let relationships = try #require(object["relationships"] as? [String: Any])
        let boxes = try #require(relationships["boxes"] as? [String: Any])
        #expect(boxes["count"] as? Int == 3)
        #expect((boxes["objects"] as? [[String: Any]])?.map { $0["label"] as? String } == ["one", "two", "three"])
    }

    @Test func objectsBehindRelationshipsAreFollowed() {
        let run = get("Shelf/p1", "--follow", "Boxes")
        let headings = run.lines.filter { !$0.hasPrefix(" ") && !$0.isEmpty }.map { $0.prefix { $0 != " " } }
        #expect(headings == ["Shelf/p1", "Box/p1", "Box/p2", "Crate/p3"])
        #expect(get("Shelf/p1", "--follow", "code").errors.contains("'code' is no relationship"))
        #expect(get("Shelf/p1", "--follow", "bxes").errors.contains("Did you mean 'boxes'?"))
    }

    @Test func levelsOfRelationshipsEndWhereNothingIsNew() {
        let run = get("Label/p1", "--depth", "9")
        let headings = run.lines.filter { !$0.hasPrefix(" ") && !$0.isEmpty }.map { $0.prefix { $0 != " " } }
        #expect(headings == ["Label/p1", "Box/p1", "Box/p2", "Shelf/p1", "Crate/p3"])
    }

    @Test func manyMembersAreCounted() {
        for key in 10..<40 {
            warehouse.change(
                "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT, ZSHELF) SELECT \(key), Z_ENT, 1, 2 FROM ZBOX LIMIT 1")
        }
        let run = get("Shelf/p2")
        #expect(run.output.contains("boxes  30\n"), "\(run.output)")
        #expect(run.output.hasSuffix("         … and 10 more\n"), "\(run.output)")
    }

    @Test func aMissingObjectIsSaid() {
        #expect(
            get("Box/p99").errors
                == "coredata: There is no object Box/p99. 'coredata query' shows those that there are.\n")
        #expect(get("Box").errors.contains("'Box' names no object"))
        #expect(get("Bax/p1").errors.contains("Did you mean 'Box'?"))
        #expect(ToolRun(["get", warehouse.path, "Box/p1", "--follow", "shelf", "--depth", "1"]).status == 64)
    }

    @Test func aReferenceToAMissingRowIsShownAndNamed() {
        #expect(warehouse.file.execute("DELETE FROM ZSHELF WHERE Z_PK = 1"))
        let run = get("Box/p1", "--follow", "shelf")
        #expect(run.status == 0)
        #expect(run.output.contains("  shelf     Shelf/p1\n"), "\(run.output)")
        #expect(run.errors.contains("Box.shelf of 1 object (p1) leads to a row that is not there."), "\(run.errors)")
    }

    @Test func escapeSequencesAreShown() {
        warehouse.change("UPDATE ZBOX SET ZNAME = 'a' || char(27) || '[31mb' || char(10) || 'c'")
        let run = get("Box/p1", "--follow", "shelf")
        #expect(run.output.contains("  name      a␛[31mb␊c\n"))
        #expect(!run.output.contains("\u{1b}"))
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some)
    func firstObjectsOfFixturesAreShown(_ fixture: String) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(fixture)
        let before = try workplace.contents()
        let report = try #require(try ToolRun(["info", path, "--json"]).json() as? [String: Any])
        for entity in try #require(report["entities"] as? [[String: Any]]) {
            let name = try #require(entity["name"] as? String)
            let rows = try ToolRun(["query", path, name, "--limit", "1", "--columns", "objectID", "--json"]).rows()
            guard let id = rows.first?["objectID"] as? String else { continue }
            let run = ToolRun(["get", path, id, "--depth", "1"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.hasPrefix(id + "  x-coredata://"))
        }
        #expect(try workplace.contents() == before)
    }
}
