import CoreData
import Synchronization
import TestSupport
import Testing

/// Stores that are not migrated: what is said, and that they stay as they are.
struct MigrationRefusalTests {
    let store: MigratedStore

    init() throws {
        store = try MigratedStore(.current)
        try store.open(Self.first) { context in
            for number in 1...20 { context.insert("Item", ["name": "Item \(number)"]) }
        }
    }

    private static var first: NSManagedObjectModel { model(entity("Item", text("name"))) }
    private static var second: NSManagedObjectModel { model(entity("Item", text("name"), text("note"))) }

    /// Runs a statement in the store's database, which is of the kind of the run.
    private func execute(inFile: String, onServer: String) {
        #expect(store.kind == .sqlite ? store.file.execute(inFile) : PostgreSQLTables(store.url).execute(onServer))
    }

    @Test(.stores(StoreKind.persistent)) func withoutTheOptionTheStoreIsRefused() throws {  // 275
        #expect(try store.refusal(Self.second, [:]).code == NSPersistentStoreIncompatibleVersionHashError)
        let inferOnly = [NSInferMappingModelAutomaticallyOption: true]
        #expect(try store.refusal(Self.second, inferOnly).code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test(.stores(StoreKind.persistent)) func withoutInferenceThereIsNoMappingModel() throws {  // 277
        let error = try store.refusal(Self.second, [NSMigratePersistentStoresAutomaticallyOption: true])
        #expect(error.code == NSMigrationMissingMappingModelError)
        #expect(error.userInfo["sourceModel"] is NSManagedObjectModel)
    }

    @Test(.stores(StoreKind.persistent)) func withoutASourceModelThereIsNoMigration() throws {  // 277
        execute(inFile: "DELETE FROM Z_MODELCACHE", onServer: "DELETE FROM ocd_model")
        let error = try store.refusal(Self.second)
        #expect(error.code == NSMigrationMissingSourceModelError)
        #expect(error.localizedDescription.contains("Item"))
    }

    @Test(.stores(StoreKind.persistent)) func aDamagedModelInTheStoreIsNoSourceModel() throws {  // 277
        let contents: [(inFile: String, onServer: String?)] = [
            ("x'00'", "'\\x00'"), ("randomblob(500)", "decode(repeat(md5('a'), 31), 'hex')"), ("'text'", "'text'"),
            ("x''", "''"),
            // There it cannot be missing.
            ("NULL", nil),
        ]
        for (inFile, onServer) in contents {
            guard store.kind == .sqlite || onServer != nil else { continue }
            execute(
                inFile: "UPDATE Z_MODELCACHE SET Z_CONTENT = \(inFile)",
                onServer: "UPDATE ocd_model SET content = \(onServer ?? "")")
            #expect(try store.refusal(Self.second).code == NSMigrationMissingSourceModelError, "\(inFile)")
        }
    }

    @Test(.stores(StoreKind.persistent)) func aModelThatIsNotTheStoresIsNoSourceModel() throws {  // 277
        let other = try MigratedStore(.current)
        try other.open(model(entity("Item", text("other")))) { _ in }
        let schema = store.kind == .postgreSQL ? PostgreSQLTables(other.url).schema : ""
        execute(
            inFile:
                "ATTACH '\(other.url.path)' AS other; UPDATE Z_MODELCACHE SET Z_CONTENT = (SELECT Z_CONTENT FROM "
                + "other.Z_MODELCACHE)",
            onServer: "UPDATE ocd_model SET content = (SELECT content FROM \(schema).ocd_model)")
        #expect(try store.refusal(Self.second).code == NSMigrationMissingSourceModelError)
    }

    /// Writes both versions into a model's bundle, in the form of Xcode.
    private func writeVersions(to bundle: URL) throws {
        for (model, version) in [(Self.first, "1"), (Self.second, "2")] {
            let folder = bundle.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            _ = try model.xcdatamodelContents().write(to: folder)
        }
    }

    @Test(.stores(StoreKind.persistent)) func theSourceModelIsFoundBesideTheDestination() throws {  // 277
        let bundle = store.folder.file("Shop.xcdatamodeld")
        try writeVersions(to: bundle)
        // As in stores of older frameworks, and where somebody has emptied the table.
        execute(inFile: "DROP TABLE Z_MODELCACHE", onServer: "DELETE FROM ocd_model")
        try store.migrate(to: NSManagedObjectModel(reading: bundle, version: "2"))
        #expect(StoreTables(store.kind, store.folder.file("store.sqlite")).value("SELECT count(*) FROM {item}") == "20")
    }

    @Test(.stores(StoreKind.persistent)) func whatCannotBeInferredLeavesTheStoreAsItIs() throws {  // 283
        let error = try store.refusal(model(entity("Item", number("name"))))
        #expect(error.code == NSInferredMappingModelError)
        let place = store.kind == .sqlite ? store.url.path : PostgreSQLTables(store.url).schema
        #expect(error.localizedDescription.contains("Item.name"))
        #expect(error.localizedDescription.contains(place))
    }

    @Test(.stores(StoreKind.persistent)) func aReadOnlyStoreIsNotMigrated() throws {  // 300
        let error = try store.refusal(
            Self.second, MigratedStore.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("NSReadOnlyPersistentStoreOption"))
    }

    @Test(.stores(StoreKind.persistent)) func aMissingTableIsDamage() throws {
        execute(inFile: "DROP TABLE ZITEM", onServer: "DROP TABLE item")
        let error = try store.refusal(Self.second)
        #expect(error.code == NSMigrationManagerSourceStoreError)
        #expect(error.localizedDescription.contains(store.kind == .sqlite ? "ZITEM" : "item"))
    }

    @Test func rowsOfNoEntityAreDamage() throws {
        let parent = entity("Parent", text("name")), child = entity("Child")
        parent.subentities = [child]
        let store = try MigratedStore()
        try store.open(model(parent, child)) { $0.insert("Child", ["name": "a"]) }
        store.file.execute("UPDATE ZPARENT SET Z_ENT = 77")
        let error = try store.refusal(model(entity("Parent", text("name"), text("note"))))
        #expect(error.code == NSMigrationManagerSourceStoreError)
        #expect(error.localizedDescription.contains("ZPARENT"))
    }

    @Test func aLockedStoreIsNotMigrated() throws {
        let other = store.file
        other.execute("BEGIN IMMEDIATE")
        let options = MigratedStore.automatic.merging([NSPersistentStoreTimeoutOption: 0.05]) { $1 }
        let error = try #require(errorThrown { try store.open(Self.second, options) { _ in } })
        #expect(error.code == NSPersistentStoreTimeoutError)
        other.execute("ROLLBACK")
        try store.migrate(to: Self.second)
    }

    @Test(.stores(StoreKind.persistent)) func whoComesSecondFindsTheStoreMigrated() throws {
        let (url, type) = (store.url, store.kind.type)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.second)
                let added = try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: url, options: MigratedStore.automatic)
                let context = coordinator.newContext()
                let count = try context.objects("Item").count
                if count != 20 { failures.withLock { $0.append("\(count) items") } }
                try coordinator.remove(added)
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try store.expectSoundness(Self.second, #_sourceLocation)
    }

    @Test func aFullDiskLeavesTheFormerStore() throws {
        // A table that loses a column is rebuilt.
        try store.migrate(to: Self.second)
        try store.open(Self.second) { context in
            for number in 1...2000 { context.insert("Item", ["name": "Item \(number)"]) }
        }
        let pages = try #require(store.file.integer("PRAGMA page_count"))
        for extra in [0, 5, 10] {
            let options = MigratedStore.automatic.merging([
                NSSQLitePragmasOption: ["max_page_count": String(pages + extra)]
            ]) { $1 }
            #expect(try store.refusal(Self.first, options).code == NSFileWriteOutOfSpaceError, "\(extra)")
        }
        let count = try store.open(Self.second) { try $0.objects("Item").count }
        #expect(count == 2020)
        try store.migrate(to: Self.first)
    }

    @Test func aFormerCopyOfAnAddedStoreIsNotMigrated() throws {
        let copy = try MigratedStore()
        try FileManager.default.copyItem(at: store.url, to: copy.url)
        let before = copy.content
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.second)
        func add(_ url: URL) throws {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: MigratedStore.automatic)
        }
        try add(store.url)
        // Both have the same UUID.
        let error = try #require(errorThrown { try add(copy.url) })
        #expect(error.code == 134081)
        #expect(copy.content == before)
    }

    @Test(.stores(StoreKind.persistent)) func aStoreOfTheRightModelReportsNoProgress() throws {
        let fractions = Mutex<[Double]>([])
        func load(_ model: NSManagedObjectModel) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let description = NSPersistentStoreDescription(url: store.url)
            description.type = store.kind.type
            description.migrationProgressHandler = { fraction in fractions.withLock { $0.append(fraction) } }
            var failure: (any Error)?
            coordinator.addPersistentStore(with: description) { failure = $1 }
            if let failure { throw failure }
            try coordinator.remove(coordinator.persistentStores[0])
        }
        try load(Self.first)
        #expect(fractions.withLock { $0 }.isEmpty)
        try load(Self.second)
        let reported = fractions.withLock { $0 }
        #expect(reported.first == 0)
        #expect(reported.last == 1)
        #expect(reported == reported.sorted())
        try load(Self.second)
        #expect(fractions.withLock { $0 }.count == reported.count)
    }

    @Test(.stores(StoreKind.persistent)) func onlyTheEntitiesOfAConfigurationAreMigrated() throws {  // 308
        func version(_ extra: Bool) -> NSManagedObjectModel {
            let model = model(
                extra ? entity("Item", text("name"), text("note")) : entity("Item", text("name")),
                extra ? entity("Other", number("x")) : entity("Other", text("x")))
            model.setEntities([model.entitiesByName["Item"]!], forConfigurationName: "Items")
            return model
        }
        let store = try MigratedStore(.current)
        try store.open(version(false), configuration: "Items") { $0.insert("Item", ["name": "a"]) }
        let names = try store.open(version(true), configuration: "Items") {
            try $0.values("Item", "name", as: String.self)
        }
        #expect(names == ["a"])
        if store.kind == .sqlite {
            #expect(store.file.column("SELECT Z_NAME FROM Z_PRIMARYKEY") == ["Item"])
            #expect(store.file.column("SELECT name FROM pragma_table_info('ZITEM')").contains("ZNOTE"))
        } else {
            let tables = PostgreSQLTables(store.url)
            #expect(tables.column("SELECT name FROM ocd_entity") == ["Item"])
            #expect(tables.rows("SELECT name, note FROM item") == [["a", nil]])
        }
    }
}
