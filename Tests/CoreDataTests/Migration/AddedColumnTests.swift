import CoreData
import Synchronization
import TestSupport
import Testing

/// A table that only gets columns, or new names of columns, is altered: no row is copied.
final class AddedColumnTests {
    /// The statements that write rows or change tables.
    private final class Statements: CoreDataInstrument {
        let texts = Mutex<[String]>([])

        func record(_ event: CoreDataEvent) {
            guard case .statement(let statement) = event else { return }
            let verbs = ["INSERT INTO Z", "ALTER", "UPDATE", "CREATE TABLE", "DROP TABLE"]
            if verbs.contains(where: statement.sql.hasPrefix), statement.sql.contains("ZITEM") {
                texts.withLock { $0.append(statement.sql) }
            }
        }
    }

    private let statements = Statements()
    private let store: MigratedStore

    init() throws {
        store = try MigratedStore(.sqlite)
        try store.open(Self.first) { context in
            for number in 1...20 { context.insert("Item", ["name": "\(number)", "zip": "z\(number)"]) }
        }
    }

    deinit { NSPersistentStoreCoordinator.instrument = nil }

    private static var first: NSManagedObjectModel { model(entity("Item", text("name"), text("zip"))) }

    /// Migrates the store and returns the statements.
    private func migrate(to model: NSManagedObjectModel) throws -> [String] {
        NSPersistentStoreCoordinator.instrument = statements
        try store.open(model) { _ in }
        NSPersistentStoreCoordinator.instrument = nil
        try store.expectSoundness(model, #_sourceLocation)
        return statements.texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }

    @Test func aNewAttributeCostsOneStatement() throws {
        let made = try migrate(to: model(entity("Item", text("name"), text("note"), text("zip"))))
        #expect(made == ["ALTER TABLE ZITEM ADD COLUMN ZNOTE VARCHAR"])
        #expect(store.file.column("SELECT ZNAME || ZZIP FROM ZITEM WHERE Z_PK = 3") == ["3z3"])
    }

    @Test func aDefaultIsWrittenToTheRows() throws {
        let count = NSAttributeDescription("count", .integer32AttributeType, optional: false, default: 7)
        let made = try migrate(to: model(entity("Item", count, text("name"), text("zip"))))
        #expect(made == ["ALTER TABLE ZITEM ADD COLUMN ZCOUNT INTEGER", "UPDATE ZITEM SET ZCOUNT = ?"])
        #expect(store.file.column("SELECT DISTINCT ZCOUNT FROM ZITEM") == ["7"])
    }

    @Test func attributesMaySwapTheirNames() throws {
        let (name, zip) = (text("name"), text("zip"))
        (name.renamingIdentifier, zip.renamingIdentifier) = ("zip", "name")
        // Names alone are no other version.
        let made = try migrate(to: model(entity("Item", name, text("note"), zip)))
        #expect(made.filter { !$0.contains(" RENAME COLUMN ") } == ["ALTER TABLE ZITEM ADD COLUMN ZNOTE VARCHAR"])
        #expect(store.file.rows("SELECT ZNAME, ZZIP FROM ZITEM WHERE Z_PK = 3") == [["z3", "3"]])
    }

    @Test func aRemovedAttributeTakesItsColumnAlong() throws {
        let made = try migrate(to: model(entity("Item", text("name"))))
        #expect(made.contains { $0.hasPrefix("INSERT INTO ZITEM") })
        let columns = store.file.column("SELECT name FROM pragma_table_info('ZITEM')")
        #expect(columns == ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"])
    }

    /// The columns are no longer in the order of a new store.
    @Test func anAlteredTableIsKeptByTheNextMigration() throws {
        _ = try migrate(to: model(entity("Item", text("name"), text("note"), text("zip"))))
        let made = try migrate(
            to: model(entity("Item", text("name"), text("note"), text("zip")), entity("Zoo", text("name"))))
        #expect(made.isEmpty)
        let found = try store.open(
            model(entity("Item", text("name"), text("note"), text("zip")), entity("Zoo", text("name")))
        ) { context in
            let items = try context.objects("Item")
            items[0].setValue("new", forKey: "note")
            return items.count
        }
        #expect(found == 20)
        #expect(store.file.integer("SELECT count(*) FROM ZITEM WHERE ZNOTE = 'new'") == 1)
    }

    /// The name of the relationship is used again, and the index of its column with it.
    @Test func aNameUsedAgainHasAnIndexOfItsOwn() throws {
        func version(_ names: [(now: String, former: String?)], _ more: NSAttributeDescription...)
            -> NSManagedObjectModel
        {
            let item = NSEntityDescription("Item", class: "NSManagedObject", [text("name"), text("zip")] + more)
            let group = entity("Group", text("name"))
            for (now, former) in names {
                let relationship = NSRelationshipDescription(now, to: group)
                relationship.renamingIdentifier = former
                item.properties.append(relationship)
            }
            return model(item, group)
        }
        try store.migrate(to: version([("group", nil)]))
        try store.migrate(to: version([("team", "group"), ("group", "another")]))
    }

    @Test func viewsOfTheProgramDoNotStopARename() throws {
        try store.file.run("CREATE VIEW names AS SELECT ZNAME FROM ZITEM; CREATE VIEW stale AS SELECT ZGONE FROM ZNONE")
        let title = text("title", was: "name")
        try store.open(model(entity("Item", title, text("zip")))) { _ in }
        #expect(store.file.value("SELECT ZTITLE FROM ZITEM WHERE Z_PK = 3") == "3")
        #expect(
            store.file.column("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1") == ["names", "stale"])
    }

    @Test func tablesOfTheProgramStay() throws {
        try store.file.run("CREATE TABLE FORMER_MEMBERS (name)")
        try store.open(model(entity("Item", text("name")))) { _ in }
        #expect(store.file.integer("SELECT count(*) FROM FORMER_MEMBERS") == 0)
    }

    @Test func indexesOfAnAlteredTableStay() throws {
        func indexed(_ attributes: NSAttributeDescription...) -> NSManagedObjectModel {
            let item = NSEntityDescription("Item", class: "NSManagedObject", attributes)
            item.uniquenessConstraints = [["name"]]
            return model(item)
        }
        try store.migrate(to: indexed(text("name"), text("zip")))
        let root = store.file.value("SELECT rootpage FROM sqlite_master WHERE name LIKE '%UNIQUE%'")
        try store.migrate(to: indexed(text("name"), text("note"), text("zip")))
        #expect(root != nil)
        #expect(store.file.value("SELECT rootpage FROM sqlite_master WHERE name LIKE '%UNIQUE%'") == root)
    }
}
