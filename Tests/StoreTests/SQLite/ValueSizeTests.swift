import CSQLite
import TestSupport
import Testing

@testable import CoreData

/// Values that are larger than SQLite, or a page of rows, takes: an error, and never nil or other
/// bytes.
struct ValueSizeTests {
    private let folder: TemporaryFolder
    private let open: OpenStore
    private let context: NSManagedObjectContext

    /// SQLite's own limit is a thousand million bytes; here it is a small one.
    private static let limit: Int32 = 50_000

    init() throws {
        folder = try TemporaryFolder()
        let entity = NSEntityDescription(
            "Note", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("text", .stringAttributeType),
                NSAttributeDescription("bytes", .binaryDataAttributeType),
            ])
        open = try OpenStore(model: NSManagedObjectModel([entity]), url: folder.file("notes.sqlite"))
        context = open.coordinator.newContext()
        let pool = try open.store.backend().pool
        _ = try pool.write { sqlite3_limit($0.handle, SQLITE_LIMIT_LENGTH, Self.limit) }
        _ = try pool.read { sqlite3_limit($0.handle, SQLITE_LIMIT_LENGTH, Self.limit) }
    }

    private var raw: SQLiteFile { SQLiteFile(open.store.url!) }

    private func note(_ name: String) -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(name, forKey: "name")
        return note
    }

    private static func value(_ key: String) -> Any {
        let count = Int(limit) * 2
        return key == "text" ? String(repeating: "x", count: count) : Data(repeating: 7, count: count)
    }

    private func expectTooLarge(_ error: NSError?, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = error.map { $0.localizedDescription + " \($0.userInfo)" } ?? "no error"
        #expect(text.contains("larger than SQLite takes"), "\(text)", sourceLocation: sourceLocation)
        #expect(text.contains("ZNOTE"), "\(text)", sourceLocation: sourceLocation)
    }

    @Test(arguments: ["text", "bytes"]) func aNewObjectWithTooLargeAValueIsNotSaved(key: String) throws {
        let small = note("small")
        let large = note("large")
        large.setValue(Self.value(key), forKey: key)
        expectTooLarge(errorThrown { try context.save() })
        #expect(raw.value("SELECT count(*) FROM ZNOTE") == "0")
        #expect(small.isInserted)
        #expect(large.isInserted)
        // What was refused leaves nothing behind in the statement.
        large.setValue(nil, forKey: key)
        try context.save()
        #expect(raw.column("SELECT ZNAME FROM ZNOTE ORDER BY ZNAME") == ["large", "small"])
    }

    @Test(arguments: ["text", "bytes"]) func anObjectThatGetsTooLargeAValueKeepsItsRow(key: String) throws {
        let note = note("one")
        note.setValue(key == "text" ? "short" : Data([1]), forKey: key)
        try context.save()
        note.setValue(Self.value(key), forKey: key)
        expectTooLarge(errorThrown { try context.save() })
        #expect(note.hasChanges)
        #expect(raw.value("SELECT Z_OPT FROM ZNOTE") == "1")
        #expect(raw.value("SELECT coalesce(ZTEXT, ZBYTES) FROM ZNOTE") != nil)
    }

    @Test(arguments: ["text", "bytes"]) func aBatchWithTooLargeAValueChangesNothing(key: String) throws {
        _ = note("one")
        try context.save()
        let insertion = NSBatchInsertRequest(
            entityName: "Note", objects: [["name": "two"], ["name": "three", key: Self.value(key)]])
        expectTooLarge(errorThrown { _ = try context.execute(insertion) })
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = [key: Self.value(key)]
        expectTooLarge(errorThrown { _ = try context.execute(update) })
        #expect(raw.rows("SELECT ZNAME, Z_OPT FROM ZNOTE") == [["one", "1"]])
    }

    @Test func aPredicateWithTooLargeAValueIsAnErrorAndNotOneOnNil() throws {
        _ = note("one")
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "text != %@", argumentArray: [Self.value("text")])
        expectTooLarge(errorThrown { _ = try context.fetch(request) })
        request.predicate = NSPredicate(format: "text == nil")
        #expect(try context.fetch(request).count == 1)
    }

    /// Offsets and lengths in a page have 32 bits.
    @Test(arguments: [(0, 1 << 32), (10, Int(UInt32.max) - 5)]) func aRowOfMoreThanAPageCanHoldIsRefused(
        first: Int, second: Int
    ) throws {
        let layout = open.layout("Note")
        let (text, bytes) = (layout.slotByName["text"]!, layout.slotByName["bytes"]!)
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        let row = builder.appendRow(key: 1, version: 1)
        // Without bytes, of which there is not enough memory, nothing is copied.
        builder.page.setBytes(row, text, nil, first)
        builder.page.setBytes(row, bytes, nil, second)
        let error = errorThrown { try builder.requireWholeRows() }
        #expect(error?.localizedDescription.contains("'Note'") == true)
        #expect(error?.localizedDescription.contains("'bytes'") == true)
    }
}
