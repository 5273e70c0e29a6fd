import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The copy of a store before an edit, and `coredata edit undo`.
struct EditUndoTests {
    /// With history, and with an external file.
    let store: ShelfStore
    let thing: String

    init() throws {
        store = try ShelfStore()
        let key = try #require(SQLiteFile(store.url).value("SELECT Z_PK FROM ZTHING WHERE ZTITLE = 't1'"))
        thing = "Thing/p\(key)"
    }

    private var file: SQLiteFile { SQLiteFile(store.url) }
    private var backup: URL { URL(fileURLWithPath: store.path + ".coredata-backup") }
    private var newBackup: URL { URL(fileURLWithPath: store.path + ".coredata-backup-new") }

    private func set(_ assignments: String...) -> ToolRun {
        ToolRun(["edit", "set", store.path, thing, "--yes"] + assignments)
    }

    private func undo(_ options: String..., answers: [String] = []) -> ToolRun {
        ToolRun(["edit", "undo", store.path] + options, answers: answers)
    }

    /// All rows of all tables as SQL literals.
    private func content() -> [String: [[String?]]] { Self.content(of: file) }

    static func content(of file: SQLiteFile) -> [String: [[String?]]] {
        var content: [String: [[String?]]] = [:]
        for table in file.column("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap({ $0 }) {
            let columns = file.column("SELECT name FROM pragma_table_info('\(table)')").compactMap { $0 }
            let list = columns.map { "quote(\"\($0)\")" }.joined(separator: ", ")
            content[table] = file.rows("SELECT \(list) FROM \"\(table)\" ORDER BY rowid")
        }
        return content
    }

    private var title: String? { file.value("SELECT ZTITLE FROM ZTHING WHERE 'Thing/p' || Z_PK = '\(thing)'") }

    // MARK: History

    @Test func editsOfAStoreWithHistoryAreRecorded() {
        let before = file.integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0
        #expect(set("title=new").status == 0)
        #expect(file.integer("SELECT max(Z_PK) FROM ATRANSACTION") == before + 1)
        let change = file.rows(
            "SELECT ZCHANGETYPE, 'Thing/p' || ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = \(before + 1)")
        #expect(change == [["1", thing]])
        let author = file.value(
            "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS "
                + "WHERE t.Z_PK = \(before + 1)"
        )
        #expect(author == "coredata")
    }

    @Test func aStoreWithoutHistoryGetsNone() throws {
        let warehouse = try Warehouse()
        let tables = warehouse.file.column("SELECT name FROM sqlite_master ORDER BY 1")
        #expect(ToolRun(["edit", "set", warehouse.path, "Box/p1", "weight=9", "--yes"]).status == 0)
        #expect(warehouse.file.column("SELECT name FROM sqlite_master ORDER BY 1") == tables)
    }

    // MARK: Undo

    @Test func undoRestoresEveryRow() {
        let before = content()
        #expect(set("title=new", "tags=[]").status == 0)
        let after = content()
        #expect(after != before)
        let run = undo("--yes")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("Restored the store as it was before the edit of "))
        #expect(content() == before)
        #expect(undo("--yes").status == 0)
        #expect(content() == after)
    }

    @Test func undoAsks() {
        #expect(set("title=new").status == 0)
        let run = undo()
        #expect(run.status == 1)
        #expect(run.errors.contains("[y/N]"))
        #expect(title == "new")
        #expect(undo(answers: ["yes"]).status == 0)
        #expect(title == "t1")
    }

    @Test func externalFilesComeBack() throws {
        let names = store.externalFiles.map(\.lastPathComponent)
        #expect(names.count == 1)
        let before = try Data(contentsOf: try #require(store.externalFiles.first))
        #expect(set("cover=nil").status == 0)
        for file in store.externalFiles { try FileManager.default.removeItem(at: file) }
        #expect(undo("--yes").status == 0)
        #expect(store.externalFiles.map(\.lastPathComponent) == names)
        #expect(try Data(contentsOf: try #require(store.externalFiles.first)) == before)
    }

    @Test func newExternalFilesAreWrittenAndRead() throws {
        let bytes = Data((0..<300_000).map { UInt8($0 % 251) })
        let source = try store.workplace.file("cover.bin", bytes)
        #expect(set("cover=@\(source)").status == 0)
        let run = ToolRun(["query", store.path, "Thing", "--where", "title == 't1'", "--columns", "cover", "--json"])
        #expect(try run.rows().first?["cover"] as? String == bytes.base64EncodedString())
    }

    @Test func aMissingExternalFileIsNoReasonToRefuseAnEdit() throws {
        try FileManager.default.removeItem(at: try #require(store.externalFiles.first))
        let run = set("title=new")
        #expect(run.status == 0, "\(run.errors)")
        #expect(title == "new")
    }

    @Test func aLaterChangeIsTakenBackOnlyWithAYes() {
        #expect(set("title=new").status == 0)
        store.change("UPDATE ZTHING SET ZSIZE = 77")
        let run = undo(answers: ["y"])
        #expect(run.status == 1)
        #expect(run.errors.contains("was changed after the edit. Use --yes"), "\(run.errors)")
        #expect(title == "new")
        #expect(undo("--yes").status == 0)
        #expect(title == "t1")
        #expect(undo("--yes").status == 0)
        #expect(file.value("SELECT max(ZSIZE) FROM ZTHING") == "77")
    }

    @Test func withoutAnEditNothingIsUndone() throws {
        #expect(undo("--yes").errors.contains("nothing can be undone"))
        #expect(ToolRun(["edit", "undo", "/nowhere"]).errors.contains("There is no file"))
        #expect(
            ToolRun(["edit", "undo", try store.workplace.file("x", Data("abc".utf8))]).errors.contains("not a SQLite"))
    }

    // MARK: Interruptions

    @Test func anIncompleteCopyIsRemoved() throws {
        #expect(set("title=new").status == 0)
        try FileManager.default.createDirectory(at: newBackup, withIntermediateDirectories: false)
        #expect(FileManager.default.createFile(atPath: newBackup.path + "/Shelf.sqlite", contents: Data([1])))
        #expect(undo("--yes").status == 0)
        #expect(title == "t1")
        #expect(!FileManager.default.fileExists(atPath: newBackup.path))
    }

    @Test func aCopyOfAnUnchangedStoreDoesNotReplaceTheLastOne() throws {
        #expect(set("title=new").status == 0)
        // Ended after the copy, before the change.
        try StoreBackup(of: store.url.resolvingSymlinksInPath()).begin()
        #expect(FileManager.default.fileExists(atPath: newBackup.path))
        #expect(undo("--yes").status == 0)
        #expect(title == "t1")
    }

    @Test func aCopyOfAChangedStoreIsTheLastOne() throws {
        #expect(set("title=new").status == 0)
        // Ended after the change, before the copy took its place.
        try StoreBackup(of: store.url.resolvingSymlinksInPath()).begin()
        store.change("UPDATE ZTHING SET ZTITLE = 'newer'")
        #expect(undo("--yes").status == 0)
        #expect(title == "new")
    }

    // MARK: Files

    @Test func rowsInTheJournalCount() throws {
        // A store whose program ended without closing it.
        let copy = store.workplace.folder.appendingPathComponent("Left.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let live = store.workplace.folder.appendingPathComponent("Live.sqlite")
        try coordinator.addPersistentStore(type: .sqlite, at: live)
        let context = coordinator.newContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context).setValue("Ida", forKey: "name")
            try context.save()
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: live.path + suffix, toPath: copy.path + suffix)
        }
        let run = ToolRun(["edit", "set", copy.path, "Maker/p1", "name=Eva", "--yes"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(SQLiteFile(copy).column("SELECT ZNAME FROM ZMAKER") == ["Eva"])
        #expect(ToolRun(["edit", "undo", copy.path, "--yes"]).status == 0)
        #expect(SQLiteFile(copy).column("SELECT ZNAME FROM ZMAKER") == ["Ida"])
    }

    @Test(arguments: ["DELETE", "WAL"]) func theJournalModeStays(_ mode: String) throws {
        #expect(file.value("PRAGMA journal_mode = \(mode)") == mode.lowercased())
        #expect(set("title=new").status == 0)
        #expect(file.value("PRAGMA journal_mode") == mode.lowercased())
        #expect(undo("--yes").status == 0)
        #expect(file.value("PRAGMA journal_mode") == mode.lowercased())
        #expect(title == "t1")
    }

    @Test func onlyTheFoldersOfTheCopyStandBeside() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: store.workplace.folder.path).sorted()
        #expect(set("title=new").status == 0)
        let after = try FileManager.default.contentsOfDirectory(atPath: store.workplace.folder.path).sorted()
        #expect(after == (before + ["Shelf.sqlite.coredata-backup"]).sorted())
        let permissions = try FileManager.default.attributesOfItem(atPath: backup.path)[.posixPermissions] as? NSNumber
        #expect(permissions?.intValue == 0o700)
    }
}

/// Edits of stores that Apple's framework wrote.
@Suite(.enabled(if: FixtureStores.arePresent, "the fixtures are not beside the repository"))
struct EditFixtureTests {
    /// The metadata, the model and everything else that an edit of one value leaves alone.
    private func unrelated(_ path: String, _ table: String) -> [String: [[String?]]] {
        var content = EditUndoTests.content(of: SQLiteFile(URL(fileURLWithPath: path)))
        for name in [table, "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING", "Z_PRIMARYKEY"] { content[name] = nil }
        return content
    }

    /// Sets a text of the first object of each entity, and takes it back.
    @Test(arguments: FixtureStores.some) func aTextIsChangedAndNothingElse(_ fixture: String) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(fixture)
        #expect(chmod(path, 0o600) == 0)
        let model = try? NamedModel(path: path, version: nil).model
        for entity in model?.entities ?? [] {
            let name = try #require(entity.name)
            let texts = entity.attributesByName.values.filter { $0.attributeType == .stringAttributeType }.map(\.name)
            let list = ToolRun(["query", path, name, "--limit", "1", "--json"])
            guard let key = texts.min(), let row = try? list.rows().first, let id = row["objectID"] as? String,
                id.hasPrefix(name + "/"), row[key] != nil
            else { continue }
            let table = "Z" + (entity.rootEntity.name ?? "").uppercased()
            let before = unrelated(path, table)
            let content = EditUndoTests.content(of: SQLiteFile(URL(fileURLWithPath: path)))
            let run = ToolRun(["edit", "set", path, id, "\(key)=\(row[key] as? String ?? "") title", "--yes"])
            if run.status == 1, run.errors.contains("The change is refused") { continue }
            #expect(run.status == 0, "\(id) \(run.errors)")
            #expect(unrelated(path, table) == before, "\(id)")
            let undone = ToolRun(["edit", "undo", path, "--yes"])
            #expect(undone.status == 0, "\(undone.errors)")
            #expect(EditUndoTests.content(of: SQLiteFile(URL(fileURLWithPath: path))) == content)
        }
    }
}
