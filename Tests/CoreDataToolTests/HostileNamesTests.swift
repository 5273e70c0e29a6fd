import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Names with control characters, as a store or a model from elsewhere can have them: they steer no
/// terminal and break no line.
struct HostileNamesTests {
    private func expectPlain(_ run: ToolRun, status: Int32, lines: Int, _ place: SourceLocation = #_sourceLocation) {
        #expect(run.status == status, sourceLocation: place)
        let controls = run.errors.unicodeScalars.filter { $0.value < 0x20 && $0 != "\n" }
        #expect(controls.isEmpty, "\(run.errors.debugDescription)", sourceLocation: place)
        #expect(
            run.errors.split(separator: "\n").count == lines, "\(run.errors.debugDescription)", sourceLocation: place)
    }

    @Test func problemsOfAStoreAreOneLineEach() throws {
        let store = try ShelfStore()
        store.change("INSERT INTO Z_PRIMARYKEY VALUES (98, char(27) || '[2J' || char(10) || 'x', 0, 0)")
        store.change("INSERT INTO Z_PRIMARYKEY VALUES (99, char(27) || '[2J' || char(10) || 'x', 0, 0)")
        expectPlain(try store.query("Thing"), status: 0, lines: 1)
        expectPlain(try store.query("Shel"), status: 1, lines: 1)
    }

    @Test func anEntityWithANameThatNoModelTakesIsShownByItsTable() throws {
        let store = try ShelfStore()
        store.loseModel()
        store.change("UPDATE Z_PRIMARYKEY SET Z_NAME = 'a' || char(0) || 'b' WHERE Z_NAME = 'Tag'")
        #expect(try store.ownRows()["Tag"] == 2)
    }

    /// A store whose model has names that no model file can have.
    private func store(attribute: String, isTransient: Bool = true) throws -> (Workplace, String) {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("Odd.sqlite")
        let odd = NSAttributeDescription(attribute, .stringAttributeType)
        odd.isTransient = isTransient
        let model = NSManagedObjectModel([
            NSEntityDescription("Odd", [odd, NSAttributeDescription("name", .stringAttributeType)])
        ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: url))
        return (workplace, url.path)
    }

    @Test func namesInCommentsOfClassesDoNotBecomeCode() throws {
        let (workplace, path) = try store(attribute: "a\nfatalError() \u{1b}[2J")
        let run = ToolRun(["generate", path, "--output", workplace.folder.path])
        expectPlain(run, status: 0, lines: 1)
        let text = try String(contentsOf: workplace.folder.appendingPathComponent("Odd.swift"), encoding: .utf8)
        #expect(text.contains("    // a␊fatalError() ␛[2J is not declared: "), "\(text)")
        #expect(!text.contains("\u{1b}"))
        withExtendedLifetime(workplace) {}
    }

    @Test func whatAModelFileHasNoPlaceForIsOneLineEach() throws {
        let (workplace, path) = try store(attribute: "a\n\u{1b}[2J")
        let run = ToolRun([
            "model", "export", path, "--output", workplace.folder.appendingPathComponent("Odd.xcdatamodel").path,
        ])
        #expect(!run.errors.contains("\u{1b}"))
        #expect(
            run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("warning: ") || $0.hasPrefix("coredata: ") },
            "\(run.errors)")
        withExtendedLifetime(workplace) {}
    }

    @Test func refusedEntitiesAreOneLineEach() throws {
        let (workplace, path) = try store(attribute: "a\n\u{1b}[2J", isTransient: false)
        expectPlain(ToolRun(["generate", path, "--file", "-"]), status: 1, lines: 2)
        withExtendedLifetime(workplace) {}
    }
}
