import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Stores whose own model lists inherited properties as stand-ins, as those of phones do.
struct StandInModelTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("notes.sqlite")
        try StandInModel.makeStore(at: url)
    }

    @Test func theModelMadeByHandIsTheSame() throws {
        let own = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(own.entityVersionHashesByName == StandInModel.model().entityVersionHashesByName)
    }

    @Test func infoCallsTheModelSoundAndCountsItsObjects() throws {
        let run = ToolRun(["info", url.path])
        #expect(run.status == 0)
        for part in ["Memo", "Note", "Owner"] { #expect(run.output.contains(part)) }
        for part in ["damaged", "cannot", "NSPropertyDescriptionProxy"] {
            #expect(!run.output.contains(part), "\(run.output)")
        }
        let report = try #require(try ToolRun(["info", url.path, "--json"]).json() as? [String: Any])
        let entities = try #require(report["entities"] as? [[String: Any]])
        let rows = Dictionary(
            uniqueKeysWithValues: entities.map { ($0["name"] as? String ?? "", $0["rows"] as? Int ?? -1) })
        #expect(rows == ["Note": 2, "Memo": 1, "Owner": 1])
    }

    @Test func queryFindsInheritedPropertiesByTheirNames() throws {
        let memo = ToolRun(["query", url.path, "Memo", "--where", "title == 'Buy milk' AND urgent == YES"])
        #expect(memo.status == 0)
        #expect(memo.output.contains("Buy milk"), "\(memo.output)")
        #expect(memo.output.contains("owner"), "\(memo.output)")
        let all = ToolRun(["query", url.path, "Note", "--where", "owner.notes.@count == 2"])
        #expect(all.output.contains("Buy milk"), "\(all.output)")
        #expect(all.output.contains("Call Ann"), "\(all.output)")
    }

    @Test func generateMakesInheritedPropertiesOnce() throws {
        let run = ToolRun(["generate", url.path, "--file", "-"])
        #expect(run.status == 0)
        for name in ["title", "owner"] {
            #expect(run.output.components(separatedBy: "var \(name)").count == 2, "\(run.output)")
        }
    }

    @Test func theStoreIsMigratedWithItsOwnModelAsTheSource() throws {
        let place = NSAttributeDescription("place", .stringAttributeType, optional: false, default: "home")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StandInModel.model(place))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let context = coordinator.newContext()
        let notes = try context.fetch(request)
        #expect(notes.map { $0.value(forKey: "title") as? String } == ["Buy milk", "Call Ann"])
        #expect(notes.first?.value(forKey: "urgent") as? Bool == true)
        #expect(notes.first?.value(forKey: "place") as? String == "home")
        #expect(
            notes.map {
                ($0.value(forKey: "owner") as? NSManagedObject)?.objectID.uriRepresentation().lastPathComponent
            } == ["p1", "p1"])
    }
}
