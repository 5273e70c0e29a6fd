import TestSupport
import Testing

@testable import CoreData

/// Files that are no stores, or cannot be used (behaviours 298 to 307).
struct OpeningTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    @Test func aFileThatIsNoDatabaseIsRefusedAndKept() throws {
        let url = folder.file("text.sqlite")
        let text = Data(String(repeating: "This is no database. ", count: 100).utf8)
        try text.write(to: url)
        #expect(code { _ = try OpenStore(model: TestModel.company(), url: url) } == 259)
        #expect(try Data(contentsOf: url) == text)
    }

    @Test func aDatabaseOfAnotherKindIsRefused() throws {
        let url = folder.file("other.sqlite")
        SQLiteFile(url).execute("CREATE TABLE t(a)")
        #expect(code { _ = try OpenStore(model: TestModel.company(), url: url) } == 259)
    }

    @Test func aMissingFolderIsNamed() throws {
        let url = folder.file("missing/store.sqlite")
        #expect(code { _ = try OpenStore(model: TestModel.company(), url: url) } == 134080)
    }

    @Test func aMissingColumnIsNamed() throws {
        let url = folder.file("store.sqlite")
        try OpenStore(model: TestModel.company(), url: url).close()
        SQLiteFile(url).execute("ALTER TABLE ZTAG DROP COLUMN ZNAME")
        do {
            _ = try OpenStore(model: TestModel.company(), url: url)
            Issue.record("opened")
        } catch {
            #expect((error as NSError).localizedDescription.contains("ZTAG.ZNAME"))
        }
    }

    @Test func aLockedStoreTimesOut() throws {
        let url = folder.file("store.sqlite")
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSPersistentStoreTimeoutOption: 0.05 as NSNumber])
        let other = SQLiteFile(url)
        other.execute("BEGIN IMMEDIATE")
        #expect(code { try open.insert("Tag", [:]) } == 134090)
        #expect(try open.rows("Tag").rows.isEmpty)
        other.execute("ROLLBACK")
        try open.insert("Tag", [:])
    }

    @Test func aReadOnlyStoreReadsAndRefusesSaves() throws {
        let url = folder.file("store.sqlite")
        let first = try OpenStore(model: TestModel.company(), url: url)
        try first.insert("Tag", ["name": .string("red")])
        try first.close()
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
        #expect(try open.strings("Tag") == ["red"])
        #expect(code { try open.insert("Tag", [:]) } == 513)
    }

    @Test func aStoreInMemoryServesReadsAndWrites() throws {
        let open = try OpenStore(model: TestModel.company(), url: URL(fileURLWithPath: "/dev/null"))
        try open.insert("Tag", ["name": .string("red")])
        #expect(try open.strings("Tag") == ["red"])
    }

    @Test func pragmasChangeTheJournal() throws {
        let url = folder.file("store.sqlite")
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        try open.insert("Tag", ["name": .string("red")])
        #expect(try open.strings("Tag") == ["red"])
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "delete")
    }

    @Test func closingMovesTheJournalIntoTheFile() throws {
        let url = folder.file("store.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        try open.close()
        let size = (try? FileManager.default.attributesOfItem(atPath: url.path + "-wal"))?[.size] as? NSNumber
        #expect(size?.intValue ?? 0 == 0)
    }

    @Test func aRenamedEntityKeepsTheNumberOfItsFormerName() throws {
        let url = folder.file("store.sqlite")
        try OpenStore(model: TestModel.company(), url: url).close()
        SQLiteFile(url).execute("UPDATE Z_PRIMARYKEY SET Z_ENT = 9, Z_NAME = 'Chief' WHERE Z_NAME = 'Manager'")
        let model = TestModel.company()
        model.entitiesByName["Manager"]?.renamingIdentifier = "Chief"
        let open = try OpenStore(model: model, url: url)
        #expect(try open.store.backend().mapping.entity(open.layout("Manager"))?.number == 9)
    }

    @Test func destroyingAStoreEmptiesIt() throws {
        let url = folder.file("store.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        try open.close()
        try SQLiteStore.destroy(at: url, options: nil)
        #expect(SQLiteFile(url).value("SELECT count(*) FROM sqlite_master") == "0")
        let again = try OpenStore(model: TestModel.company(), url: url)
        #expect(try again.rows("Tag").rows.isEmpty)
    }

    @Test func replacingAStoreCopiesItsJournalAndFilesToo() throws {
        let source = folder.file("source.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: source)
        try open.insert("Employee", ["name": .string("Anna"), "photo": .data(Data(repeating: 9, count: 150_000))])
        let url = folder.file("copy.sqlite")
        try OpenStore(model: TestModel.company(), url: url).close()
        try SQLiteStore.replace(at: url, destinationOptions: nil, withStoreAt: source, sourceOptions: nil)
        let copy = try OpenStore(model: TestModel.company(), url: url)
        let rows = try copy.rows("Employee")
        let snapshot = try #require(copy.firstSnapshot(rows))
        #expect(snapshot.data(snapshot.layout.slotByName["photo"]!).count == 150_000)
    }

    @Test func damagedFilesGiveErrorsOrRowsButNeverACrash() throws {
        let url = folder.file("store.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: url)
        for index in 0..<50 {
            try open.insert(
                "Employee",
                [
                    "name": .string("n\(index)"), "age": .integer(Int64(index)), "badge": .uuid(UUID()),
                    "photo": .data(Data([1])),
                ])
        }
        try open.close()
        let good = try Data(contentsOf: url)
        var state: UInt64 = 42
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        for variant in 0..<(LongTests.areEnabled ? 300 : 60) {
            var bad = good
            if variant % 10 == 0 {
                bad = good.prefix(random(good.count))
            } else {
                for _ in 0..<(1 + random(40)) { bad[random(good.count)] = UInt8(random(256)) }
            }
            let file = folder.file("bad\(variant).sqlite")
            try bad.write(to: file)
            do {
                let damaged = try OpenStore(model: TestModel.company(), url: file)
                _ = try damaged.strings("Employee", "name", NSPredicate(format: "age > 3 AND name BEGINSWITH 'n'"))
                _ = try damaged.strings("Department")
                try damaged.insert("Employee", ["name": .string("new")])
            } catch {}
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
    }
}
