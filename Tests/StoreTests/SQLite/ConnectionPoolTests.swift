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
        return try OpenStore(model: TestModel.company(), url: folder.file("store.sqlite"), options: options).store.backend().pool
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

    @Test(arguments: [0, -1]) func asManyAsNoneAreRefused(_ size: Int) {
        #expect(throws: NSError.self) { try pool(size) }
    }
}
