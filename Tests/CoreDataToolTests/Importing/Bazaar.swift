import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// A model for imports: attributes of each type, and relationships of each kind.
enum Bazaar {
    static func model() -> NSManagedObjectModel {
        let (item, maker, note) = (Self.item(), NSEntityDescription("Maker", [named()]), Self.note())
        let rare = NSEntityDescription("Rare", [NSAttributeDescription("grade", .integer16AttributeType)])
        item.subentities = [rare]
        let (badge, playlist) = (NSEntityDescription("Badge", [named()]), NSEntityDescription("Playlist", [named()]))
        let (left, right) = (NSEntityDescription("Left", [named()]), NSEntityDescription("Right", [named()]))
        let (team, plain) = (NSEntityDescription("Team", [named()]), NSEntityDescription("Base", [named()]))
        plain.isAbstract = true
        relate(item, "maker", maker, inverse: "items", inverseToMany: true)
        relate(note, "item", optional: false, item, inverse: "notes", inverseToMany: true)
        relate(maker, "badge", badge, inverse: "maker")
        relate(playlist, "songs", toMany: true, ordered: true, item, inverse: "playlists", inverseToMany: true)
        relate(left, "right", optional: false, right, inverse: "left")
        right.relationshipsByName["left"]?.isOptional = false
        relate(item, "next", item, inverse: "previous")
        relate(team, "members", toMany: true, optional: false, maker, inverse: "team")
        team.relationshipsByName["members"]?.minCount = 1
        let token = NSEntityDescription(
            "Token", [NSAttributeDescription("serial", .integer64AttributeType, default: 5)])
        token.uniquenessConstraints = [["serial"]]
        return NSManagedObjectModel([item, rare, maker, note, badge, playlist, left, right, team, plain, token])
    }

    private static func named() -> NSAttributeDescription { NSAttributeDescription("name", .stringAttributeType) }

    private static func note() -> NSEntityDescription {
        NSEntityDescription("Note", [NSAttributeDescription("text", .stringAttributeType)])
    }

    private static func item() -> NSEntityDescription {
        let stock = NSAttributeDescription("stock", .integer16AttributeType, default: 7)
        stock.setValidationPredicates(
            [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["stock must not be negative"])
        let image = NSAttributeDescription("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.isOptional = true
        address.elements = [
            NSAttributeDescription("city", .stringAttributeType),
            NSAttributeDescription("zip", .integer32AttributeType),
        ]
        let item = NSEntityDescription(
            "Item",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false),
                NSAttributeDescription("code", .stringAttributeType), stock,
                NSAttributeDescription("size", .integer32AttributeType),
                NSAttributeDescription("count", .integer64AttributeType),
                NSAttributeDescription("sold", .booleanAttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
                NSAttributeDescription("ratio", .floatAttributeType),
                NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("added", .dateAttributeType), NSAttributeDescription("uuid", .UUIDAttributeType),
                NSAttributeDescription("page", .URIAttributeType), image,
                NSAttributeDescription("tags", .transformableAttributeType), address,
            ])
        item.uniquenessConstraints = [["code"]]
        return item
    }

    /// Makes an empty store.
    static func make(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    }
}

/// A folder with a model, files to import, and the store that they are imported into.
final class ImportPlace {
    let workplace: Workplace
    let model: String
    let store: String

    init() throws {
        workplace = try Workplace()
        model = workplace.folder.appendingPathComponent("Model.sqlite").path
        store = workplace.folder.appendingPathComponent("Store.sqlite").path
        try Bazaar.make(at: URL(fileURLWithPath: model))
    }

    func file(_ name: String, _ text: String) throws -> String { try workplace.file(name, Data(text.utf8)) }

    /// Imports a file, into a new store if there is none.
    func run(_ path: String, _ more: String...) -> ToolRun {
        let isThere = FileManager.default.fileExists(atPath: store)
        return ToolRun(["import", store, path] + (isThere ? [] : ["--model", model]) + more)
    }

    /// Imports lines of NDJSON.
    func run(lines: [String], _ more: String...) throws -> ToolRun {
        let path = try file("rows.ndjson", lines.map { $0 + "\n" }.joined())
        let isThere = FileManager.default.fileExists(atPath: store)
        return ToolRun(["import", store, path] + (isThere ? [] : ["--model", model]) + more)
    }

    /// The store, read by the sqlite3 library.
    func rows(_ sql: String) -> [[String?]] { SQLiteFile(URL(fileURLWithPath: store)).rows(sql) }

    func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    var hasStore: Bool { FileManager.default.fileExists(atPath: store) }
}
