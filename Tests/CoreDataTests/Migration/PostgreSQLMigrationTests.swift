import CoreData
import Synchronization
import TestSupport
import Testing

/// Migrations as PostgreSQL alone has them: tables that are not copied, lost connections, programs
/// that migrate at the same time.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct PostgreSQLMigrationTests {
    let store: MigratedStore
    let tables: PostgreSQLTables

    init() throws {
        store = try MigratedStore(.postgreSQL)
        tables = PostgreSQLTables(store.url)
    }

    // MARK: - Without copying

    private static var first: NSManagedObjectModel {
        let group = entity("Group", text("name"))
        let item = entity(
            "Item", text("name"), text("note", optional: false, default: "none"),
            number("count", optional: false, default: 1))
        relate(group, "items", toMany: true, item, inverse: "group")
        relate(group, "marks", toMany: true, item, inverse: "markers", inverseToMany: true)
        return model(group, item, entity("Extra", text("name")))
    }

    /// Changes that leave the rows of Item where they are.
    enum Change: CaseIterable {
        case optional, standard, dropped, renamed, renamedEntity, optionalNow, requiredNow, index, entities, subentity,
            swapped
    }

    private func changed(_ change: Change) -> NSManagedObjectModel {
        let group = entity("Group", text("name"))
        var name = text("name"), note = text("note", optional: false, default: "none")
        let count = number("count", optional: false, default: 1)
        var item = entity("Item")
        var added: [NSPropertyDescription] = []
        var others = [entity("Extra", text("name"))]
        switch change {
        case .optional: added = [text("more"), number("size"), NSAttributeDescription("day", .dateAttributeType)]
        case .standard:
            added = [
                text("unit", optional: false, default: "k'g\\"),
                number("size", .integer16AttributeType, optional: false, default: 7),
                NSAttributeDescription(
                    "day", .dateAttributeType, optional: false, default: Date(timeIntervalSinceReferenceDate: 0.25)),
                NSAttributeDescription("data", .binaryDataAttributeType, optional: false, default: Data([0, 39, 92])),
            ]
        case .dropped: note = text("note", optional: false, default: "none")
        case .renamed: name = text("title", was: "name")
        case .renamedEntity: item = entity("Thing", was: "Item")
        case .optionalNow: note = text("note")
        case .requiredNow: name = text("name", optional: false, default: "nobody")
        case .index:
            item.indexes = [
                NSFetchIndexDescription(name: "byName", elements: [.init(property: name, collationType: .binary)])
            ]
        case .entities: others = [entity("Aaa", text("name")), entity("Zzz", text("name"))]
        case .subentity:
            let special = entity("Special", text("reason"))
            item.subentities = [special]
            others.append(special)
        case .swapped:
            name = text("note", was: "name")
            note = text("name", was: "note", optional: false, default: "none")
        }
        item.properties = [name, count] + added
        if change != .dropped { item.properties += [note] }
        relate(group, "items", toMany: true, item, inverse: "group")
        relate(group, "marks", toMany: true, item, inverse: "markers", inverseToMany: true)
        return NSManagedObjectModel([group, item] + others)
    }

    @Test(arguments: LongTests.some(4, of: Change.allCases)) func whatAltersATableCopiesNoRows(change: Change) throws {
        try store.open(Self.first) { context in
            let group = context.insert("Group", ["name": "g"])
            context.insert(
                "Item", ["name": "a", "note": "x", "count": 3, "group": group, "markers": NSSet(object: group)])
            context.insert("Item", ["note": "y", "count": 4])
        }
        let new = changed(change)
        let table = change == .renamedEntity ? "thing" : "item"
        func files(_ names: String...) -> [String?] {
            names.map { tables.value("SELECT pg_relation_filenode('\"\($0)\"')") }
        }
        let before = files("item", "group", "group_marks")
        try store.migrate(to: new)
        #expect(files(table, "group", "group_marks") == before)
        let (name, note) = change == .swapped ? ("note", "name") : (change == .renamed ? "title" : "name", "note")
        let names = tables.rows("SELECT \(name), group_id, version FROM \(table) ORDER BY id")
        #expect(names == [["a", "1", "1"], [change == .requiredNow ? "nobody" : nil, nil, "1"]])
        if change != .dropped { #expect(tables.column("SELECT \(note) FROM \(table) ORDER BY id") == ["x", "y"]) }
        #expect(tables.integer("SELECT count(*) FROM group_marks") == 1)
        if change == .standard {
            #expect(
                tables.rows("SELECT DISTINCT unit, size, day, data FROM item") == [
                    ["k'g\\", "7", "2001-01-01 00:00:00.25+00", "\\x00275c"]
                ])
        }
        try store.open(new) { context in
            context.insert(change == .renamedEntity ? "Thing" : "Item", [name: "new"])
        }
        #expect(tables.integer("SELECT count(*) FROM \(table)") == 3)
    }

    // MARK: - Ends

    /// Two entities whose rows are copied, and altered.
    private static var second: NSManagedObjectModel {
        let group = entity("Group", text("title", was: "name"))
        let item = entity(
            "Thing", was: "Item", text("name"), text("note"), number("count", optional: false, default: 1))
        relate(group, "items", toMany: true, ordered: true, item, inverse: "group", inverseToMany: true)
        relate(group, "marks", toMany: true, item, inverse: "markers", inverseToMany: true)
        return model(group, item)
    }

    private func fill() throws {
        try store.open(Self.first) { context in
            let group = context.insert("Group", ["name": "all"])
            for number in 0..<120 { context.insert("Item", ["name": "\(number)", "group": group, "count": number]) }
        }
    }

    /// Opens the store with the second version and tells of each step.
    private static func migrate(_ url: URL, _ step: @escaping @Sendable (Double) -> Void) -> (any Error)? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        let description = NSPersistentStoreDescription(url: url)
        description.type = StoreKind.postgreSQL.type
        description.migrationProgressHandler = step
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        return failure
    }

    @Test func aMigrationWhoseConnectionEndsLeavesTheFormerStore() throws {
        try fill()
        let before = tables.content
        let url = store.url
        var isDone = false
        for step in 2...20 {
            let steps = Atomic<Int>(0)
            let failure = Self.migrate(url) { fraction in
                // The last report comes behind the commit.
                guard fraction < 1, steps.wrappingAdd(1, ordering: .relaxed).newValue == step else { return }
                let others = PostgreSQLTables(url)
                _ = others.rows(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE relation = 'ocd_store'::regclass "
                        + "AND mode = 'ExclusiveLock'"
                )
            }
            guard failure != nil else {
                isDone = true
                break
            }
            #expect(tables.content == before, "ended at report \(step)")
        }
        #expect(isDone)
        #expect(tables.integer("SELECT count(*) FROM thing") == 120)
        #expect(tables.integer("SELECT count(*) FROM group_items") == 120)
    }

    @Test func ofTwoProgramsOneMigratesAndTheOtherFindsItDone() throws {
        try fill()
        let url = store.url
        let other = Mutex<(thread: OtherThread<(any Error)?>?, steps: [Double])>((nil, []))
        let steps = Atomic<Int>(0)
        let failure = Self.migrate(url) { _ in
            guard steps.wrappingAdd(1, ordering: .relaxed).newValue == 3 else { return }
            let thread = OtherThread<(any Error)?> {
                Self.migrate(url) { step in other.withLock { $0.steps.append(step) } }
            }
            other.withLock { $0.thread = thread }
            let tables = PostgreSQLTables(url)
            // It waits for the lock of this schema; others may wait for other ones.
            let waiting = """
                SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objsubid = 1 \
                AND (classid::bigint << 32 | objid::bigint) = hashtextextended('OpenCoreData \(tables.schema)', 0)
                """
            #expect(wait { tables.integer(waiting) != 0 || thread.isOver })
            #expect(!thread.isOver)
        }
        #expect(failure == nil)
        let thread = try #require(other.withLock { $0.thread })
        let otherFailure = try thread.value()
        #expect(otherFailure == nil)
        // From the beginning to the end without anything between.
        #expect(other.withLock { $0.steps } == [0, 1])
        #expect(tables.integer("SELECT count(*) FROM group_items") == 120)
    }

    // MARK: - Others

    @Test func viewsOfOthersOnATableThatIsCopiedKeepTheStoreAsItIs() throws {
        try fill()
        #expect(tables.execute("CREATE VIEW names AS SELECT group_id FROM item"))
        let before = tables.content
        let error = try #require(Self.migrate(store.url) { _ in } as NSError?)
        #expect(error.code == NSMigrationError, "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("names"), "\(error.localizedDescription)")
        #expect(tables.content == before)
    }

    @Test func tablesOfOthersStay() throws {
        try fill()
        #expect(
            tables.execute(
                "CREATE TABLE mine (x int); INSERT INTO mine VALUES (1); CREATE INDEX own ON \"group\" (name)"))
        #expect(Self.migrate(store.url) { _ in } == nil)
        #expect(tables.integer("SELECT x FROM mine") == 1)
        #expect(tables.value("SELECT indexdef FROM pg_indexes WHERE indexname = 'own'")?.hasSuffix("(title)") == true)
    }

    @Test func aReadOnlyStoreIsNotMigrated() throws {
        try fill()
        let options = MigratedStore.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        let error = try store.refusal(Self.second, options)
        #expect(error.code == NSMigrationError)
    }
}
