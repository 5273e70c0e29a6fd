import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Objects in predicates, written as the command shows them.
struct ObjectIdentityTests {
    let store: ShelfStore
    /// The key of the book `t4`.
    let book: String
    /// The key of the thing `t2`.
    let thing: String

    init() throws {
        store = try ShelfStore()
        let file = SQLiteFile(store.url)
        book = try #require(file.value("SELECT Z_PK FROM ZTHING WHERE ZTITLE = 't4'"))
        thing = try #require(file.value("SELECT Z_PK FROM ZTHING WHERE ZTITLE = 't2'"))
    }

    private func titles(_ predicate: String) throws -> [String] {
        let run = try store.query("Thing", "--where", predicate, "--sort", "title")
        #expect(run.status == 0, "\(run.errors)")
        return try run.rows().compactMap { $0["title"] as? String }
    }

    @Test func anObjectIsFoundByWhatIsShown() throws {
        for predicate in ["SELF == 'Book/p\(book)'", "objectID == 'book/p\(book)'", "SELF == 'Thing/p\(book)'"] {
            #expect(try titles(predicate) == ["t4"], "\(predicate)")
        }
        #expect(try titles("SELF IN {'Thing/p\(thing)', 'Book/p\(book)'}") == ["t2", "t4"])
        #expect(try titles("SELF != 'Thing/p\(thing)'") == ["t1", "t3", "t4", "t5"])
    }

    @Test func relationshipsAreComparedWithObjects() throws {
        #expect(try titles("shelf == 'Shelf/p1' AND title < 't3'") == ["t1", "t2"])
        #expect(try titles("shelf.objectID == 'Shelf/p1'").count == 5)
        #expect(try titles("shelf == 'Shelf/p99'") == [])
        let tag = try #require(try store.query("Tag").rows().first?["objectID"] as? String)
        #expect(try titles("ANY tags == '\(tag)'").count == 5)
    }

    @Test func objectsInSubqueriesAreFound() throws {
        func labels(_ predicate: String) throws -> [String] {
            let run = try store.query("Shelf", "--where", predicate)
            #expect(run.status == 0, "\(run.errors)")
            return try run.rows().compactMap { $0["label"] as? String }
        }
        let tag = try #require(try store.query("Tag").rows().first?["objectID"] as? String)
        for there in [
            "$t == 'Book/p\(book)'", "$t.objectID == 'Book/p\(book)'", "$t IN {'Book/p\(book)', 'Thing/p\(thing)'}",
            "$t.shelf == 'Shelf/p1'",
            "$t.shelf.objectID == 'Shelf/p1'", "ANY $t.tags == '\(tag)'", "$T.Shelf == 'shelf/p1' AND $T.Title == 't2'",
        ] {
            let name = there.contains("$T") ? "T" : "t"
            #expect(try labels("SUBQUERY(things, $\(name), \(there)).@count > 0") == ["left"], "\(there)")
            #expect(try labels("SUBQUERY(Things, $\(name), \(there)).@count == 0") == [], "\(there)")
        }
        #expect(try labels("SUBQUERY(things, $t, $t == 'Thing/p999').@count > 0") == [])
        #expect(try titles("SUBQUERY(tags, $g, $g == '\(tag)').@count == 1 AND title == 't3'") == ["t3"])
        let mistaken = try store.query("Shelf", "--where", "SUBQUERY(things, $t, $t.shelf == 'left').@count > 0")
        #expect(mistaken.errors.contains("names no object"))
    }

    @Test func objectIDIsTheObjectWhereAnAttributeDiffersInCaseAlone() throws {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("Parse.sqlite")
        let item = NSEntityDescription("Item", [NSAttributeDescription("objectId", .stringAttributeType)])
        relate(item, "next", item, inverse: "former")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item]))
        let opened = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            let first = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            first.setValue("xyz", forKey: "objectId")
            try context.save()
            let second = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            second.setValue("abc", forKey: "objectId")
            second.setValue(first, forKey: "next")
            try context.save()
        }
        try coordinator.remove(opened)
        func lines(_ predicate: String) -> String {
            let run = ToolRun([
                "query", url.path, "Item", "--columns", "objectID,objectId", "--where", predicate, "--format", "csv",
            ])
            return run.output + run.errors
        }
        let head = "objectID,objectId\r\n"
        #expect(lines("objectID == 'Item/p1'") == head + "Item/p1,xyz\r\n")
        #expect(lines("objectId == 'xyz'") == head + "Item/p1,xyz\r\n")
        #expect(lines("OBJECTID == 'xyz'") == head + "Item/p1,xyz\r\n")
        #expect(lines("next.objectID == 'Item/p1'") == head + "Item/p2,abc\r\n")
        #expect(lines("next.objectId == 'xyz'") == head + "Item/p2,abc\r\n")
        // Without the model the attribute has a name in lower case.
        #expect(SQLiteFile(url).execute("DELETE FROM Z_MODELCACHE"))
        let run = ToolRun([
            "query", url.path, "Item", "--columns", "objectID,objectid", "--where", "objectID == 'Item/p2'", "--format",
            "csv",
        ])
        #expect(run.output == "objectID,objectid\r\nItem/p2,abc\r\n", "\(run.errors)")
    }

    @Test func theWholeAddressOfAnObjectMeansIt() throws {
        let uuid = try #require(SQLiteFile(store.url).value("SELECT Z_UUID FROM Z_METADATA"))
        #expect(try titles("SELF == 'x-coredata://\(uuid)/Book/p\(book)'") == ["t4"])
    }

    @Test func anObjectOfAnotherEntityIsNamedWithItsOwn() throws {
        let run = try store.query("Thing", "--where", "SELF == 'Book/p\(thing)'")
        #expect(run.status == 1)
        #expect(
            run.errors.hasPrefix(
                "coredata: The object p\(thing) is one of 'Thing', not of 'Book'. Write Thing/p\(thing).\n"),
            "\(run.errors)")
        let other = try store.query("Thing", "--where", "shelf == 'Book/p\(book)'")
        #expect(other.status == 1)
        #expect(
            other.errors.contains("'Book/p\(book)' is an object of 'Book', but what it is compared with is of 'Shelf'.")
        )
        #expect(other.errors.split(separator: "\n").last == "          ^")
    }

    @Test func textsThatNameNoObjectAreMarked() throws {
        #expect(
            try store.query("Thing", "--where", "shelf == 'left'").errors.hasPrefix(
                "coredata: 'left' names no object. Write Shelf/p1"))
        #expect(try store.query("Thing", "--where", "shelf == 'Shelv/p1'").errors.contains("Did you mean 'Shelf'?"))
    }
}
