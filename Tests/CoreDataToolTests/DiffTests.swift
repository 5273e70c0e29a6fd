import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Two stores side by side.
struct DiffTests {
    let workplace: Workplace
    let old: String
    let new: String

    init() throws {
        workplace = try Workplace()
        old = try workplace.shop()
        new = workplace.folder.appendingPathComponent("New.sqlite").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: old + suffix) {
            try FileManager.default.copyItem(atPath: old + suffix, toPath: new + suffix)
        }
    }

    private func change(_ sql: String) throws { try SQLiteFile(URL(fileURLWithPath: new)).run(sql) }

    private func diff(_ more: String...) -> ToolRun { ToolRun(["diff", old, new] + more) }

    /// The differences in lines of JSON.
    private func changes(_ more: String...) throws -> [[String: Any]] {
        try ToolRun(["diff", old, new, "--format", "ndjson"] + more).lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func names(_ more: String...) throws -> [String] {
        try ToolRun(["diff", old, new, "--format", "ndjson"] + more).lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return "\(object?["change"] ?? "") \(object?["objectID"] ?? "")"
        }
    }

    @Test func copiesAreEqual() {
        let run = diff()
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                Entity        Added   Removed   Changed      Same
                Maker             0         0         0         1
                Product           0         0         0         3
                The stores have the same objects.

                """)
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some)
    func fixturesAreEqualToThemselves(_ fixture: String) throws {
        let store = try workplace.copy(fixture)
        #expect(ToolRun(["diff", store, store]).status == 0)
    }

    @Test func differencesAreCountedAndShown() throws {
        try change("UPDATE ZPRODUCT SET ZSTOCK = 11 WHERE ZSTOCK = 10; DELETE FROM ZPRODUCT WHERE ZSTOCK = 20")
        try change("INSERT INTO ZPRODUCT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9, 2, 1, 'New \u{1b}[31m')")
        let run = diff("--details", "--entity", "Product")
        #expect(run.status == 3)
        #expect(run.output.contains("Product           1         1         1         1\n"), "\(run.output)")
        #expect(run.output.contains("\n    stock: 10 → 11\n"))
        #expect(run.output.contains("\n+ Product/p9  name: 'New ␛[31m'"))
        #expect(!diff().output.contains("→"))
    }

    @Test func bothEndsOfARelationshipDiffer() throws {
        try change("UPDATE ZPRODUCT SET ZMAKER = NULL WHERE ZSTOCK = 10")
        let found = try changes()
        #expect(found.count == 2)
        let maker = found.first { $0["objectID"] as? String == "Maker/p1" }?["values"] as? [String: [String: Any]]
        #expect((maker?["products"]?["old"] as? [Any])?.count == 3)
        #expect((maker?["products"]?["new"] as? [Any])?.count == 2)
    }

    @Test func jsonHasCountsAndDetails() throws {
        try change("UPDATE ZMAKER SET ZNAME = 'Other'")
        let run = diff("--json", "--details")
        let json = try #require(try run.json() as? [String: Any])
        #expect(json["isEqual"] as? Bool == false)
        let maker = try #require((json["entities"] as? [[String: Any]])?.first)
        #expect(maker["changed"] as? Int == 1)
        #expect((maker["changes"] as? [Any])?.count == 1)
        #expect(
            ((try diff("--json").json() as? [String: Any])?["entities"] as? [[String: Any]])?.first?["changed"] as? Int
                == 1)
    }

    /// Objects with other keys are the same if a value says so, also behind relationships.
    @Test func aKeyAttributeNamesObjects() throws {
        try change("UPDATE ZPRODUCT SET Z_PK = 100 - Z_PK; UPDATE ZMAKER SET Z_PK = 7; UPDATE ZPRODUCT SET ZMAKER = 7")
        #expect(diff().status == 3)
        #expect(diff("--key", "name").status == 0, "\(diff("--key", "name", "--details").output)")
        #expect(diff("--key", "Product.stock,Maker.name").status == 0)
        try change("UPDATE ZPRODUCT SET ZSTOCK = 21 WHERE ZSTOCK = 20")
        #expect(try names("--key", "name") == ["changed Product[漢字 screw]"])
        #expect(
            try names("--key", "stock,Maker.name") == [
                "changed Maker[Søren & Sons]", "removed Product[20]", "added Product[21]",
            ])
    }

    @Test func anUnknownKeyIsNamed() {
        let run = diff("--key", "sku")
        #expect(run.status == 1)
        #expect(run.errors.contains("--key sku: no entity has this attribute"))
    }

    @Test func anUnknownEntityIsNamed() {
        #expect(diff("--entity", "Prodct").errors.contains("Did you mean 'Product'?"))
    }

    @Test func entitiesOfOneStoreAloneAreAddedOrRemoved() throws {
        let other = workplace.folder.appendingPathComponent("Other.sqlite")
        let model = Shop.model()
        model.entities.first { $0.name == "Product" }?.properties.removeAll { $0.name == "stock" }
        let tag = NSEntityDescription()
        tag.name = "Tag"
        model.entities.append(tag)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: other)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            try context.save()
        }
        try coordinator.remove(store)
        let run = ToolRun(["diff", old, other.path])
        #expect(run.output.contains("Tag               1         0"), "\(run.output)")
        #expect(run.output.contains("only in the first store: stock"))
    }

    /// Random changes are found, each of them, and nothing else.
    @Test(arguments: 1...(LongTests.areEnabled ? 6 : 2)) func randomChangesAreFound(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        for path in [old, new] {
            try SQLiteFile(URL(fileURLWithPath: path)).run(
                "WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
                    + "INSERT INTO ZPRODUCT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSTOCK) SELECT i, 2, 1, 'n' || i, i FROM n")
        }
        var expected: Set<String> = []
        for key in (10...200).shuffled(using: &generator).prefix(40) {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                try change("DELETE FROM ZPRODUCT WHERE Z_PK = \(key)")
                expected.insert("removed Product/p\(key)")
            case 1:
                try change("UPDATE ZPRODUCT SET ZNAME = 'x' || ZNAME WHERE Z_PK = \(key)")
                expected.insert("changed Product/p\(key)")
            default:
                try change("INSERT INTO ZPRODUCT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(1000 + key), 2, 1, 'a')")
                expected.insert("added Product/p\(1000 + key)")
            }
        }
        #expect(Set(try names()) == expected)
        #expect(ToolRun(["diff", new, old, "--entity", "Product", "--format", "ndjson"]).lines.count == 40)
    }
}
