import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// A store with every kind of relationship and limit, for tests that damage it: two boxes with
/// three tools each, two of them saws, and owners with lockers.
final class Workshop {
    let workplace: Workplace
    let url: URL

    var path: String { url.path }

    init() throws {
        workplace = try Workplace()
        url = workplace.folder.appendingPathComponent("Workshop.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = coordinator.newContext()
        context.transactionAuthor = "tests"
        try context.performAndWait {
            try Self.fill(context)
            try context.save()
        }
        try coordinator.remove(store)
        #expect(file.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    }

    static func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription("name", .stringAttributeType, optional: false, default: "?")
        let price = NSAttributeDescription("price", .doubleAttributeType)
        price.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: [1620 as NSNumber])
        let label = NSAttributeDescription("label", .stringAttributeType)
        label.setValidationPredicates([NSPredicate(format: "length <= 5")], withValidationWarnings: [1660 as NSNumber])
        let sort = NSAttributeDescription("sort", .stringAttributeType)
        sort.setValidationPredicates(
            [NSPredicate(format: "SELF MATCHES %@", "[a-z]+")], withValidationWarnings: [1680 as NSNumber])
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let tool = NSEntityDescription(
            "Tool",
            [
                name, price, label, sort, photo, NSAttributeDescription("code", .stringAttributeType),
                NSAttributeDescription("uuid", .UUIDAttributeType), NSAttributeDescription("made", .dateAttributeType),
                NSAttributeDescription("count", .integer16AttributeType),
                NSAttributeDescription("weight", .decimalAttributeType),
            ])
        tool.uniquenessConstraints = [["code"]]
        let saw = NSEntityDescription("Saw", [NSAttributeDescription("teeth", .integer32AttributeType)])
        tool.subentities = [saw]
        let box = NSEntityDescription("Box", [NSAttributeDescription("title", .stringAttributeType)])
        let owner = NSEntityDescription("Owner", [NSAttributeDescription("name", .stringAttributeType)])
        let locker = NSEntityDescription("Locker", [NSAttributeDescription("number", .integer64AttributeType)])
        let note = NSEntityDescription("Note", [NSAttributeDescription("text", .stringAttributeType)])
        relate(box, "tools", toMany: true, ordered: true, tool, inverse: "box")
        relate(owner, "tools", toMany: true, ordered: true, tool, inverse: "users", inverseToMany: true)
        relate(owner, "locker", locker, inverse: "owner")
        relate(note, "tool", tool, inverse: "notes", inverseToMany: true)
        relate(note, "saw", saw, inverse: "sawNotes", inverseToMany: true)
        relate(note, "writer", optional: false, owner, inverse: "notes", inverseToMany: true)
        return NSManagedObjectModel([tool, saw, box, owner, locker, note])
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let owners = (1...3).map { insert("Owner", ["name": "owner \($0)"]) }
        for number in 1...3 {
            _ = insert("Locker", ["number": number, "owner": owners[number - 1]])
        }
        for number in 1...2 {
            let tools = (1...3).map { place in
                insert(
                    place == 3 ? "Saw" : "Tool",
                    ["name": "tool \(number)\(place)", "price": place, "code": "c\(number)\(place)", "count": place])
            }
            tools[0].setValue(Data(repeating: UInt8(number), count: 200_000), forKey: "photo")
            let box = insert("Box", ["title": "box \(number)"])
            box.setValue(NSOrderedSet(array: tools), forKey: "tools")
            owners[number].setValue(NSOrderedSet(array: tools), forKey: "tools")
            _ = insert("Note", ["tool": tools[0], "saw": tools[2], "writer": owners[0], "text": "note \(number)"])
        }
    }

    // MARK: Changing

    var file: SQLiteFile { SQLiteFile(url) }

    /// Runs statements on the file; all must succeed.
    func change(_ sql: String) {
        #expect(file.execute(sql.replacingOccurrences(of: "@JOIN", with: joinTable)), "\(sql)")
    }

    /// The table of the relationship between owners and tools.
    var joinTable: String {
        file.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? ""
    }

    var externalFolder: URL { workplace.folder.appendingPathComponent(".Workshop_SUPPORT/_EXTERNAL_DATA") }

    var externalFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: externalFolder.path)) ?? []).sorted()
    }

    // MARK: Looking

    /// The findings of `check`, by kind.
    func findings() throws -> [String: [String: Any]] {
        let run = ToolRun(["check", path, "--json"])
        let report = try #require(try run.json() as? [String: Any], "\(run.errors)")
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(run.status == (findings.isEmpty ? 0 : 3))
        return Dictionary(
            findings.map { ($0["kind"] as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Opens the store with its program's model and fetches every object with its relationships.
    func openAndRead() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = coordinator.newContext()
        try context.performAndWait {
            for entity in ["Tool", "Box", "Owner", "Locker", "Note"] {
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                    for name in object.entity.relationshipsByName.keys { _ = object.value(forKey: name) }
                    for name in object.entity.attributesByName.keys { _ = object.value(forKey: name) }
                }
            }
            let tool = NSEntityDescription.insertNewObject(forEntityName: "Tool", into: context)
            tool.setValue("new", forKey: "name")
            try context.save()
            context.delete(tool)
            try context.save()
        }
        try coordinator.remove(store)
    }
}

/// A way in which a store gets damaged, and what `check` and `repair` make of it.
struct Damage: CustomStringConvertible, Sendable {
    let kind: FindingKind
    let sql: String
    /// The number of rows or other things with the fault.
    var count = 1
    /// A query on the mended store, and its result.
    var mended: (query: String, value: String)?

    var description: String { "\(kind.rawValue): \(sql)" }

    static let mendable: [Damage] = [
        Damage(
            kind: .greatestKey, sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Tool'",
            mended: ("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tool'", "6")),
        Damage(
            kind: .greatestKey, sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_NAME = 'CHANGE'",
            mended: ("SELECT Z_MAX = (SELECT max(Z_PK) FROM ACHANGE) FROM Z_PRIMARYKEY WHERE Z_NAME = 'CHANGE'", "1")),
        Damage(
            kind: .entityNumber, sql: "UPDATE ZTOOL SET Z_ENT = 777 WHERE Z_PK IN (1, 2)", count: 2,
            mended: ("SELECT count(*) FROM ZTOOL WHERE Z_ENT NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY)", "0")),
        Damage(
            kind: .entityNumber, sql: "UPDATE ZTOOL SET Z_ENT = 'Saw' WHERE ZNAME = 'tool 13'",
            mended: (
                "SELECT p.Z_NAME FROM ZTOOL t JOIN Z_PRIMARYKEY p ON p.Z_ENT = t.Z_ENT WHERE ZNAME = 'tool 13'", "Saw"
            )),
        Damage(
            kind: .rowVersion, sql: "UPDATE ZBOX SET Z_OPT = CASE Z_PK WHEN 1 THEN 0 END", count: 2,
            mended: ("SELECT sum(Z_OPT) FROM ZBOX", "2")),
        Damage(
            kind: .danglingKey, sql: "UPDATE ZTOOL SET ZBOX = 99 WHERE Z_PK = 1",
            mended: ("SELECT count(*) FROM ZTOOL WHERE Z_PK = 1 AND ZBOX IS NULL AND Z_FOK_BOX IS NULL", "1")),
        Damage(
            kind: .wrongEntity, sql: "UPDATE ZNOTE SET ZSAW = ZTOOL WHERE Z_PK = 1",
            mended: ("SELECT count(*) FROM ZNOTE WHERE Z_PK = 1 AND ZSAW IS NULL", "1")),
        Damage(
            kind: .wrongEntity, sql: "UPDATE ZNOTE SET Z5_TOOL = 1",
            count: 2, mended: ("SELECT count(DISTINCT Z5_TOOL) FROM ZNOTE", "1")),
        Damage(
            kind: .oneSided, sql: "UPDATE ZLOCKER SET ZOWNER = NULL WHERE Z_PK = 1",
            mended: ("SELECT count(*) FROM ZLOCKER l JOIN ZOWNER o ON o.ZLOCKER = l.Z_PK AND l.ZOWNER = o.Z_PK", "3")),
        Damage(
            kind: .oneSided, sql: "UPDATE ZLOCKER SET ZOWNER = (SELECT max(Z_PK) FROM ZOWNER)", count: 2,
            mended: ("SELECT count(*) FROM ZLOCKER l JOIN ZOWNER o ON o.ZLOCKER = l.Z_PK AND l.ZOWNER = o.Z_PK", "1")),
        Damage(
            kind: .order, sql: "UPDATE ZTOOL SET Z_FOK_BOX = NULL WHERE Z_PK = 1",
            mended: ("SELECT count(DISTINCT Z_FOK_BOX) FROM ZTOOL WHERE ZBOX = 1", "3")),
        Damage(
            kind: .order, sql: "UPDATE ZTOOL SET Z_FOK_BOX = 7", count: 6,
            mended: ("SELECT count(*) FROM (SELECT DISTINCT ZBOX, Z_FOK_BOX FROM ZTOOL)", "6")),
        Damage(
            kind: .valueType, sql: "UPDATE ZTOOL SET ZNAME = CAST('tööl' AS BLOB) WHERE Z_PK = 1",
            mended: ("SELECT ZNAME FROM ZTOOL WHERE Z_PK = 1", "tööl")),
        Damage(
            kind: .valueType, sql: "UPDATE ZTOOL SET ZUUID = '00112233-4455-6677-8899-AABBCCDDEEFF' WHERE Z_PK = 1",
            mended: ("SELECT hex(ZUUID) FROM ZTOOL WHERE Z_PK = 1", "00112233445566778899AABBCCDDEEFF")),
        Damage(
            kind: .valueType, sql: "UPDATE ZTOOL SET ZMADE = '2001-01-02' WHERE Z_PK = 1",
            mended: ("SELECT CAST(ZMADE AS INTEGER) FROM ZTOOL WHERE Z_PK = 1", "86400")),
        Damage(
            kind: .requiredValue, sql: "UPDATE ZTOOL SET ZNAME = NULL WHERE Z_PK = 1",
            mended: ("SELECT ZNAME FROM ZTOOL WHERE Z_PK = 1", "?")),
        Damage(
            kind: .history,
            sql: "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
                + "SELECT 0, Z_ENT, ZENTITY, ZENTITYPK, 99 FROM ACHANGE LIMIT 1",
            mended: ("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID = 99", "0")),
        Damage(
            kind: .history, sql: "UPDATE ACHANGE SET ZENTITY = 99 WHERE Z_PK IN (1, 2)", count: 2,
            mended: ("SELECT count(*) FROM ACHANGE WHERE ZENTITY = 99", "0")),
        Damage(
            kind: .history, sql: "UPDATE ATRANSACTION SET ZAUTHORTS = 99",
            mended: ("SELECT count(*) FROM ATRANSACTION WHERE ZAUTHORTS = 99", "0")),
        Damage(
            kind: .missingIndex, sql: "DROP INDEX ZTOOL_ZBOX_INDEX",
            mended: ("SELECT count(*) FROM sqlite_master WHERE name = 'ZTOOL_ZBOX_INDEX'", "1")),
        Damage(
            kind: .missingIndex, sql: "DROP INDEX Z_Tool_UNIQUE_code",
            mended: ("SELECT count(*) FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%ZCODE%'", "1")),
        Damage(
            kind: .modelCache, sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'",
            mended: ("SELECT count(*) FROM Z_MODELCACHE", "0")),
        Damage(
            kind: .orphanedJoinRow, sql: "DELETE FROM ZTOOL WHERE Z_PK = 2",
            mended: ("SELECT count(*) FROM @JOIN", "5")),
        Damage(
            kind: .integrity,
            sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE INDEX ZNOTE_ZSAW_INDEX ON "
                + "ZNOTE (ZTOOL)' WHERE name = 'ZNOTE_ZSAW_INDEX'", count: 2,
            mended: ("PRAGMA integrity_check", "ok")),
    ]

    /// Damage that nothing can mend without guessing.
    static let lasting: [Damage] = [
        Damage(
            kind: .duplicate, sql: "DROP INDEX Z_Tool_UNIQUE_code; UPDATE ZTOOL SET ZCODE = 'c11' WHERE Z_PK < 4",
            count: 3),
        Damage(kind: .valueLimit, sql: "UPDATE ZTOOL SET ZPRICE = -1 WHERE Z_PK = 2"),
        Damage(kind: .valueLimit, sql: "UPDATE ZTOOL SET ZLABEL = 'longer' WHERE Z_PK = 2"),
        Damage(kind: .valueLimit, sql: "UPDATE ZTOOL SET ZSORT = 'UP' WHERE Z_PK = 2"),
        Damage(kind: .valueType, sql: "UPDATE ZTOOL SET ZCOUNT = 70000 WHERE Z_PK = 2"),
        Damage(kind: .danglingKey, sql: "UPDATE ZNOTE SET ZWRITER = 99 WHERE Z_PK = 2"),
        Damage(kind: .requiredValue, sql: "UPDATE ZNOTE SET ZWRITER = NULL WHERE Z_PK = 2"),
        Damage(kind: .structure, sql: "DROP TABLE ZLOCKER"),
        Damage(kind: .structure, sql: "ALTER TABLE ZBOX DROP COLUMN ZTITLE"),
    ]
}
