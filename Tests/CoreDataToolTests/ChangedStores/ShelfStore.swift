import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// A store that a test changes behind Core Data's back: five things, two of them books, on a shelf
/// and with tags; `t1` has a cover in a file of its own.
final class ShelfStore {
    let workplace: Workplace
    let url: URL

    var path: String { url.path }

    init() throws {
        workplace = try Workplace()
        url = workplace.folder.appendingPathComponent("Shelf.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = coordinator.newContext()
        try context.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            shelf.setValue("left", forKey: "label")
            let tags = ["old", "red"].map { label in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue(label, forKey: "label")
                return tag
            }
            for number in 1...5 {
                let thing = NSEntityDescription.insertNewObject(
                    forEntityName: number > 3 ? "Book" : "Thing", into: context)
                thing.setValue("t\(number)", forKey: "title")
                thing.setValue(number, forKey: "size")
                thing.setValue(shelf, forKey: "shelf")
                thing.setValue(NSSet(array: tags), forKey: "tags")
                if number == 1 { thing.setValue(Data(repeating: 7, count: 200_000), forKey: "cover") }
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    private static func model() -> NSManagedObjectModel {
        let cover = NSAttributeDescription("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let thing = NSEntityDescription(
            "Thing",
            [
                NSAttributeDescription("title", .stringAttributeType),
                NSAttributeDescription("size", .integer16AttributeType),
                NSAttributeDescription("weight", .decimalAttributeType),
                NSAttributeDescription("isNew", .booleanAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType), NSAttributeDescription("made", .dateAttributeType),
                cover,
            ])
        let book = NSEntityDescription("Book", [NSAttributeDescription("pages", .integer32AttributeType)])
        let shelf = NSEntityDescription("Shelf", [NSAttributeDescription("label", .stringAttributeType)])
        let tag = NSEntityDescription("Tag", [NSAttributeDescription("label", .stringAttributeType)])
        thing.subentities = [book]
        relate(thing, "shelf", shelf, inverse: "things", inverseToMany: true)
        relate(thing, "tags", toMany: true, tag, inverse: "things", inverseToMany: true)
        return NSManagedObjectModel([thing, book, shelf, tag])
    }

    // MARK: Changing

    /// Runs statements on the file; all must succeed.
    func change(_ statements: String...) {
        let file = SQLiteFile(url)
        for statement in statements { #expect(file.execute(statement), "\(statement)") }
    }

    /// The name of the table for the relationship between things and tags.
    var joinTable: String {
        SQLiteFile(url).value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? ""
    }

    /// Takes the model out of the store.
    func loseModel() { change("DELETE FROM Z_MODELCACHE") }

    var externalFiles: [URL] {
        let folder = workplace.folder.appendingPathComponent(".Shelf_SUPPORT/_EXTERNAL_DATA")
        return (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    // MARK: Looking

    /// Runs a command on the store, which must leave every file as it is.
    func run(_ arguments: [String], columns: Int = 200) throws -> ToolRun {
        let before = try files()
        let run = ToolRun(arguments, columns: columns)
        #expect(try files() == before, "\(arguments)")
        return run
    }

    private func files() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in FileManager.default.subpaths(atPath: workplace.folder.path) ?? [] {
            contents[name] =
                FileManager.default.contents(atPath: workplace.folder.appendingPathComponent(name).path) ?? Data()
        }
        return contents
    }

    func query(_ entity: String, _ options: String...) throws -> ToolRun {
        try run(["query", path, entity, "--format", "json"] + options)
    }

    /// The titles of the things that a query shows.
    func titles(_ entity: String = "Thing") throws -> [String] {
        try query(entity).rows().compactMap { $0["title"] as? String }.sorted()
    }

    /// The warnings of `info`.
    func warnings() throws -> [String] {
        let run = try run(["info", path, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        return try #require((run.json() as? [String: Any])?["warnings"] as? [String])
    }

    /// The rows that `info` counts, by entity.
    func ownRows() throws -> [String: Int] {
        let report = try #require(try run(["info", path, "--json"]).json() as? [String: Any])
        let entities = try #require(report["entities"] as? [[String: Any]])
        return Dictionary(
            entities.map { ($0["name"] as? String ?? "", $0["ownRows"] as? Int ?? -1) },
            uniquingKeysWith: { first, _ in first })
    }
}
