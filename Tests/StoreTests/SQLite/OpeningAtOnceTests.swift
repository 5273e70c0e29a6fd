import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// A new store that several open, and so make, at once: each finds it made, by itself or by
/// another.
struct OpeningAtOnceTests {
    @Test(arguments: 0..<(LongTests.areEnabled ? 30 : 6))
    func everyoneOpensAStoreThatAllMakeAtOnce(round: Int) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            do {
                let open = try OpenStore(model: TestModel.company(), url: url)
                let context = open.coordinator.newContext()
                try context.performAndWait {
                    NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue(
                        "\(number)", forKey: "name")
                    try context.save()
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let file = SQLiteFile(url)
        #expect(Set(file.rows("SELECT ZNAME FROM ZTAG").map { $0[0] }) == Set((0..<6).map(String.init)))
        #expect(file.value("SELECT count(*) FROM Z_METADATA") == "1")
    }

    /// SQLite refuses at once to change the journal mode of a database that somebody is about to
    /// write.
    @Test func openingWaitsForSomebodyWhoIsMakingTheFile() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let maker = SQLiteFile(url)
        #expect(maker.execute("PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE a(b); DROP TABLE a; BEGIN IMMEDIATE"))
        let isOpen = DispatchSemaphore(value: 0)
        let result = Mutex<Result<OpenStore, any Error>?>(nil)
        DispatchQueue.global().async {
            let opened = Result { try OpenStore(model: TestModel.company(), url: url) }
            result.withLock { $0 = opened }
            isOpen.signal()
        }
        #expect(isOpen.wait(timeout: .now() + 0.3) == .timedOut)
        #expect(maker.execute("COMMIT"))
        isOpen.wait()
        let open = try #require(try result.withLock { try $0?.get() })
        #expect(open.store.type == NSSQLiteStoreType)
        #expect(SQLiteFile(url).value("PRAGMA journal_mode") == "wal")
    }

    @Test func openingWaitsNoLongerThanTheStoresTimeout() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let maker = SQLiteFile(url)
        #expect(maker.execute("PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE a(b); DROP TABLE a; BEGIN IMMEDIATE"))
        let error = try #require(throws: NSError.self) {
            _ = try OpenStore(model: TestModel.company(), url: url, options: [NSPersistentStoreTimeoutOption: 0.1])
        }
        #expect(error.code == 134090)
        #expect(error.localizedDescription.contains(url.path))
        #expect(maker.execute("COMMIT"))
    }
}
