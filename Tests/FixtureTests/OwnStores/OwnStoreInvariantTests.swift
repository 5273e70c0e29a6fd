import CoreData
import TestSupport
import Testing

/// Invariants that reads and saves keep in a store, whoever wrote it.
struct OwnStoreInvariantTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func content(_ file: SQLiteFile) throws -> [String: [[SQLiteCell]]] {
        var content = ["": try file.cells("SELECT type, tbl_name, name, sql FROM sqlite_master ORDER BY rowid")]
        for table in try file.strings("SELECT name FROM sqlite_master WHERE type = 'table'") {
            content[table] = try file.cells("SELECT rowid, * FROM \"\(table)\" ORDER BY rowid")
        }
        return content
    }

    @Test(arguments: OwnStore.all) func readingAStoreChangesNothingInIt(store: OwnStore) throws {
        let url = try store.make(in: folder)
        let file = SQLiteFile(url)
        let before = try content(file)
        let stack = try Stack(store.model(), url)
        for entity in stack.model.concreteEntities {
            for object in try stack.objects(entity) {
                for name in entity.propertiesByName.keys { _ = object.value(forKey: name) }
            }
        }
        try stack.close()
        #expect(try content(file) == before)
    }

    @Test(arguments: OwnStore.all) func aStoreIsReadWithTheModelThatItKeeps(store: OwnStore) throws {
        guard store.hasModel else { return }
        let url = try store.make(in: folder)
        let own = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let (stack, expected) = (try Stack(own, url), try Stack(store.model(), url))
        #expect(differences(try stack.states(), try expected.states()) == [])
        #expect(try !stack.states().isEmpty)
    }

    @Test(arguments: OwnStore.all) func savesKeepSchemaMetadataAndModel(store: OwnStore) throws {
        let url = try store.make(in: folder)
        let file = SQLiteFile(url)
        let before = try content(file)
        let stack = try Stack(store.model(), url, options: [NSPersistentHistoryTrackingKey: true])
        defer { try? stack.close() }
        let made = try content(file)
        // A history that the program asks for begins in tables of its own.
        #expect(
            made[""]?.filter { $0[1].text?.hasPrefix("A") != true }
                == before[""]?.filter { $0[1].text?.hasPrefix("A") != true })
        let maker = ObjectMaker(stack.context)
        for entity in stack.model.concreteEntities { try maker.insert(entity) }
        try stack.context.save()
        for entity in stack.model.concreteEntities {
            for object in try stack.objects(entity).suffix(1) { maker.fill(object) }
        }
        try stack.context.save()
        for entity in stack.model.concreteEntities {
            for object in try stack.objects(entity).prefix(1) { stack.context.delete(object) }
        }
        try stack.context.save()
        let after = try content(file)
        #expect(after[""] == made[""])
        #expect(after["Z_METADATA"]?.map { $0.prefix(3) } == before["Z_METADATA"]?.map { $0.prefix(3) })
        #expect(try list(after["Z_METADATA"]) == list(before["Z_METADATA"]))
        #expect(after["Z_MODELCACHE"] == before["Z_MODELCACHE"])
        #expect(file.value("PRAGMA integrity_check") == "ok")
        #expect(file.value("PRAGMA auto_vacuum") == "2")
        try checkKeys(file, store)
        try checkHistory(file)
    }

    private func list(_ rows: [[SQLiteCell]]?) throws -> NSDictionary {
        let data = try #require(rows?.first?.last?.blob)
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        return NSDictionary(dictionary: try #require(list as? [String: Any]))
    }

    /// `Z_MAX` of a root entity is at least the highest key of its table, and keys of the others
    /// are not counted.
    private func checkKeys(_ file: SQLiteFile, _ store: OwnStore) throws {
        for row in try file.cells("SELECT Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
            let (name, root, highest) = (row[0].text ?? "", row[1].integer, row[2].integer ?? -1)
            guard root == 0 else {
                #expect(highest == 0, "\(name)")
                continue
            }
            #expect(highest >= file.integer("SELECT max(Z_PK) FROM Z\(name.uppercased())") ?? 0, "\(name)")
        }
    }

    private func checkHistory(_ file: SQLiteFile) throws {
        for (table, name) in [("ACHANGE", "CHANGE"), ("ATRANSACTION", "TRANSACTION")] {
            let highest = file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'")
            #expect(highest == file.integer("SELECT max(Z_PK) FROM \(table)"), "\(table)")
        }
        #expect(
            file.integer("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)")
                == 0)
        let last = "SELECT DISTINCT ZCHANGETYPE FROM ACHANGE WHERE ZTRANSACTIONID ="
        let count = try #require(file.integer("SELECT max(Z_PK) FROM ATRANSACTION"))
        #expect(file.column("\(last) \(count - 2)").contains("0"))
        #expect(file.column("\(last) \(count - 1)").contains("1"))
        #expect(file.column("\(last) \(count)").contains("2"))
    }
}
