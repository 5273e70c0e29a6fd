import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata migrate`: stores that are brought to other versions of their models.
struct MigrateTests {
    private let workplace: Workplace
    private let model: String
    private let store: String

    init() throws {
        workplace = try Workplace()
        let bundle = workplace.folder.appendingPathComponent("Shop.xcdatamodeld")
        model = bundle.path
        store = workplace.folder.appendingPathComponent("Store.sqlite").path
        let versions = [
            "Shop": Self.item("<attribute name=\"size\" optional=\"YES\" attributeType=\"String\"/>"),
            "Shop 2": Self.item(""),
            "Shop 3": Self.item("<attribute name=\"size\" optional=\"YES\" attributeType=\"Integer 64\"/>"),
        ]
        for (name, contents) in versions {
            let folder = bundle.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(contents)\n</model>\n"
            try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        }
        let first = try NSManagedObjectModel(reading: bundle, version: "Shop")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        let added = try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: store))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("Bolt", forKey: "name")
            try context.save()
        }
        try coordinator.remove(added)
    }

    /// An item of a class that the command does not have.
    private static func item(_ attribute: String) -> String {
        """
        <entity name="Item" representedClassName="ItemOfAProgram">
            <attribute name="name" optional="YES" attributeType="String"/>\(attribute)
        </entity>
        """
    }

    private var file: SQLiteFile { SQLiteFile(URL(fileURLWithPath: store)) }

    private var columns: [String?] { file.column("SELECT type FROM pragma_table_info('ZITEM') WHERE name = 'ZSIZE'") }

    @Test func aDryRunShowsTheStepsAndChangesNothing() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let run = ToolRun(["migrate", store, "--to", model, "--dry-run"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Shop → Shop 2 → Shop 3: 2 steps"), "\(run.output)")
        #expect(run.output.contains("Item: copied by SQL, 1 object"), "\(run.output)")
        #expect(run.output.contains("Item.size"), "\(run.output)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test func aStoreIsMigratedOverAnotherVersion() throws {
        let run = ToolRun(["migrate", store, "--to", model, "--yes"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasSuffix("The store was migrated to 'Shop 3'.\n"))
        #expect(columns == ["INTEGER"])
        #expect(file.column("SELECT ZNAME FROM ZITEM") == ["Bolt"])
        #expect(ToolRun(["migrate", store, "--to", model]).output.contains("nothing to do"))
    }

    @Test func aVersionCanBeNamed() throws {
        let run = ToolRun(["migrate", store, "--to", model, "--version", "Shop 2"], answers: ["y"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(columns.isEmpty)
    }

    @Test func withoutAnAnswerNothingIsChanged() throws {
        let run = ToolRun(["migrate", store, "--to", model])
        #expect(run.status == 1)
        #expect(columns == ["VARCHAR"])
    }

    @Test func theOldStoreIsKeptWhereAsked() throws {
        let old = workplace.folder.appendingPathComponent("Old.sqlite")
        let run = ToolRun(["migrate", store, "--to", model, "--yes", "--keep-old", old.path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            SQLiteFile(old).column("SELECT type FROM pragma_table_info('ZITEM') WHERE name = 'ZSIZE'") == ["VARCHAR"])
        let again = ToolRun(["migrate", store, "--to", model, "--version", "Shop 2", "--yes", "--keep-old", old.path])
        #expect(again.status == 1)
        #expect(again.errors.contains("exists"))
    }

    @Test func aWayThatDoesNotExistIsExplained() throws {
        let alone = workplace.folder.appendingPathComponent("Shop 3.xcdatamodel")
        try FileManager.default.copyItem(
            at: URL(fileURLWithPath: model).appendingPathComponent("Shop 3.xcdatamodel"), to: alone)
        let run = ToolRun(["migrate", store, "--to", alone.path, "--yes"])
        #expect(run.status == 1)
        #expect(run.errors.contains("Item.size: it was of type String, now Integer 64"), "\(run.errors)")
        #expect(columns == ["VARCHAR"])
    }

    @Test func theModelIsNeeded() {
        #expect(ToolRun(["migrate", store]).status == 64)
        #expect(ToolRun(["migrate", store, "--to", store]).errors.contains("is a store"))
    }

    @Test func aModelDiffSaysWhatHappensToEachEntity() throws {
        let folder = URL(fileURLWithPath: model)
        let paths = ["Shop", "Shop 2"].map { folder.appendingPathComponent("\($0).xcdatamodel").path }
        let run = ToolRun(["model", "diff"] + paths)
        #expect(run.output.hasSuffix("the mapping can be inferred.\n    Item: copied by SQL\n"), "\(run.output)")
        let json = try #require(try ToolRun(["model", "diff", "--json"] + paths).json() as? [String: Any])
        #expect(json["entities"] as? [String] == ["Item: copied by SQL"])
    }
}
