import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Stores of one configuration of a model, which they carry as a whole.
struct ConfigurationStoreTests {
    let workplace: Workplace
    let path: String

    init() throws {
        workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("Stock.sqlite")
        path = url.path
        try Self.make(Self.model(), at: url)
    }

    private static func make(_ model: NSManagedObjectModel, at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: "Stock", at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("bolt", forKey: "name")
            let special = NSEntityDescription.insertNewObject(forEntityName: "SpecialItem", into: context)
            special.setValue("gold bolt", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
    }

    private static func model() -> NSManagedObjectModel {
        let item = NSEntityDescription("Item", [NSAttributeDescription("name", .stringAttributeType)])
        let special = NSEntityDescription("SpecialItem", [NSAttributeDescription("price", .doubleAttributeType)])
        item.subentities = [special]
        let account = NSEntityDescription("Account", [NSAttributeDescription("owner", .stringAttributeType)])
        let model = NSManagedObjectModel([account, item, special])
        model.setEntities([item, special], forConfigurationName: "Stock")
        model.setEntities([account], forConfigurationName: "People")
        return model
    }

    private func report(_ options: String...) throws -> [String: Any] {
        let run = ToolRun(["info", path, "--json"] + options)
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try run.json() as? [String: Any])
    }

    @Test func nothingIsMissing() throws {
        let report = try report()
        #expect(report["warnings"] as? [String] == [])
        let entities = try #require(report["entities"] as? [[String: Any]])
        #expect(entities.compactMap { $0["name"] as? String } == ["Item", "SpecialItem"])
        #expect(entities.compactMap { $0["ownRows"] as? Int } == [1, 1])
    }

    @Test func theStoreItselfIsRead() throws {
        let store = try ReadableStore(path: path, modelPath: nil)
        #expect(store.survey.mends.isEmpty)
        #expect(store.file.url.path == path)
        store.file.close()
    }

    @Test func subentitiesThatTheConfigurationDoesNotListAreShown() throws {
        let model = Self.model()
        model.setEntities(model.entities.filter { $0.name == "Item" }, forConfigurationName: "Stock")
        let url = workplace.folder.appendingPathComponent("Listed.sqlite")
        try Self.make(model, at: url)
        let info = ToolRun(["info", url.path, "--json"])
        let report = try #require(try info.json() as? [String: Any])
        #expect(report["warnings"] as? [String] == [])
        let entities = try #require(report["entities"] as? [[String: Any]])
        #expect(entities.compactMap { $0["name"] as? String } == ["Item", "SpecialItem"])
        #expect(entities.compactMap { $0["ownRows"] as? Int } == [1, 1])
        let run = ToolRun(["query", url.path, "SpecialItem", "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.rows().map { $0["name"] as? String } == ["gold bolt"])
    }

    @Test func objectsAreShown() throws {
        let run = ToolRun(["query", path, "Item", "--sort", "name", "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.rows().map { $0["name"] as? String } == ["bolt", "gold bolt"])
    }

    @Test func anEntityOfAnotherConfigurationIsNone() throws {
        let run = ToolRun(["query", path, "Account"])
        #expect(run.status != 0)
        #expect(run.errors.contains("has no entity 'Account'"), "\(run.errors)")
    }

    /// A configuration has the subentities of what it lists.
    @Test(arguments: [["Item", "SpecialItem"], ["Item"]]) func aModelWithTheConfigurationFits(listed: [String]) throws {
        let folder = workplace.folder.appendingPathComponent("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let contents = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Account" syncable="YES"><attribute name="owner" optional="YES" \
            attributeType="String"/></entity>
                <entity name="Item" syncable="YES"><attribute name="name" optional="YES" \
            attributeType="String"/></entity>
                <entity name="SpecialItem" parentEntity="Item" syncable="YES">
                    <attribute name="price" optional="YES" attributeType="Double"/>
                </entity>
                <configuration name="Stock">\(listed.map { "<memberEntity name=\"\($0)\"/>" }.joined())</configuration>
            </model>
            """
        try Data(contents.utf8).write(to: folder.appendingPathComponent("contents"))
        let model = folder.path
        #expect(try report("--model", model)["warnings"] as? [String] == [])
        let run = ToolRun(["query", path, "SpecialItem", "--model", model, "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.rows().count == 1)
    }

    @Test func aTableOfTheConfigurationThatIsLostIsMissed() throws {
        #expect(SQLiteFile(URL(fileURLWithPath: path)).execute("DROP TABLE ZITEM"))
        let warnings = try #require(try report()["warnings"] as? [String])
        #expect(warnings.contains { $0.contains("ZITEM") })
        #expect(!warnings.contains { $0.contains("ZACCOUNT") })
    }
}
