import TestSupport
import Testing

@testable import CoreData

/// How many connections a store opens (`NSPersistentStoreConnectionPoolMaxSizeKey`).
struct ConnectionPoolTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pool(_ size: Any?) throws -> SQLiteConnectionPool {
        var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.01]
        options[NSPersistentStoreConnectionPoolMaxSizeKey] = size
        return try OpenStore(model: TestModel.company(), url: folder.file("store.sqlite"), options: options).store
            .backend().pool
    }

    /// How many reads can go on at once, up to five.
    private func simultaneousReads(_ pool: SQLiteConnectionPool) -> Int {
        func read(_ depth: Int) -> Int {
            if depth == 5 { return depth }
            return (try? pool.read { _ in read(depth + 1) }) ?? depth
        }
        return read(0)
    }

    @Test func oneConnectionOfThePoolWritesAndTheOthersRead() throws {
        #expect(simultaneousReads(try pool(2)) == 1)
        #expect(simultaneousReads(try pool(4 as NSNumber)) == 3)
        #expect(simultaneousReads(try pool(nil)) == 5)
    }

    @Test func aConnectionThatIsGivenBackIsFreeAgain() throws {
        let pool = try pool(2)
        for _ in 0..<5 { #expect(simultaneousReads(pool) == 1) }
        #expect(throws: (any Error).self) { try pool.read { _ in throw CocoaError(.coreData) } }
        #expect(simultaneousReads(pool) == 1)
    }

    @Test func waitingInVainIsATimeout() throws {
        let pool = try pool(2)
        let error = #expect(throws: NSError.self) { try pool.read { _ in try pool.read { _ in } } }
        #expect(error?.code == CocoaError.persistentStoreTimeout.rawValue)
        #expect(error?.localizedDescription.contains("NSPersistentStoreConnectionPoolMaxSizeKey") == true)
    }

    @Test func aSingleConnectionReadsAndWrites() throws {
        let options: [AnyHashable: Any] = [NSPersistentStoreConnectionPoolMaxSizeKey: 1]
        let open = try OpenStore(model: TestModel.company(), url: folder.file("store.sqlite"), options: options)
        try open.insert("Tag", ["name": .string("red")])
        #expect(try open.strings("Tag") == ["red"])
        #expect(try open.store.backend().pool.sharesConnection)
    }

    @Test func readersThatAreNoLongerUsedAreClosed() throws {
        let pool = try pool(nil)
        #expect(simultaneousReads(pool) == 5)
        let readers = pool.readers
        #expect(readers.count == 5)
        readers.closeUnused(since: .now - .seconds(60))
        #expect(readers.count == 5, "they were used since")
        readers.closeUnused(since: .now)
        #expect(readers.count == 1, "the next fetch finds one")
        try pool.read { _ in
            readers.closeUnused()
            #expect(readers.count == 1, "one is in use")
        }
        readers.closeUnused()
        #expect(readers.count == 0)
        #expect(simultaneousReads(pool) == 5)
    }

    @Test func aBurstOfThreadsSharesAFewReaders() async throws {
        let pool = try pool(nil)
        let most = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    for _ in 0..<5 { try? pool.read { _ = try $0.integer("SELECT count(*) FROM sqlite_master") } }
                    let count = pool.readers.count
                    if count > most.value { most.increase(by: count - most.value) }
                }
            }
        }
        #expect(most.value > 0)
        #expect(most.value < 20)
    }

    @Test func anOpenStoreIsUsedWhereNoFileDescriptorIsLeft() throws {
        let url = folder.file("gallery.sqlite")
        try Gallery.create(url)
        for count in 1...5 {
            let run = try ProgramRun(OtherProgram.url, ["gallery", "works", url.path])
            #expect(run.output == "done\nnew: \(count)\ndone\n", "\(run.output)")
            #expect(run.status == 0, "\(run.output)")
        }
    }

    @Test(arguments: [0, -1]) func asManyAsNoneAreRefused(_ size: Int) {
        #expect(throws: NSError.self) { try pool(size) }
    }
}
