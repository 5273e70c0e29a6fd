import CSQLite
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// The cost for a store of noticing that others change its schema.
struct SchemaWatchTests {
    let folder: TemporaryFolder
    let open: OpenStore

    init() throws {
        folder = try TemporaryFolder()
        open = try OpenStore(model: TestModel.company(), url: folder.file("store.sqlite"))
        for number in 0..<100 { try open.insert("Tag", ["name": .string("\(number)")]) }
        #expect(try open.strings("Tag").count == 100)
    }

    /// The statements that a connection runs.
    private final class Statements: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func begin(_ connection: SQLiteConnection) {
            sqlite3_trace_v2(
                connection.handle, UInt32(SQLITE_TRACE_STMT),
                { _, context, _, text in
                    guard let context, let text else { return 0 }
                    // Retained by the test.
                    let statements = Unmanaged<Statements>.fromOpaque(context).takeUnretainedValue()
                    statements.texts.withLock { $0.append(String(cString: text.assumingMemoryBound(to: CChar.self))) }
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        func end(_ connection: SQLiteConnection) { sqlite3_trace_v2(connection.handle, 0, nil, nil) }
    }

    /// Reads take the connection that was given back last.
    @Test func fetchesRunNoStatementForIt() throws {
        let pool = try open.store.backend().pool
        let statements = Statements()
        try pool.read { statements.begin($0) }
        for _ in 0..<10 {
            #expect(try open.strings("Tag").count == 100)
            #expect(try open.names("Tag", "name LIKE %@", ["1*"]).count == 11)
            #expect(try open.names("Tag", "name BEGINSWITH %@", ["1"]).count == 11)
        }
        try pool.read { statements.end($0) }
        #expect(statements.all.count == 30)
        #expect(statements.all.allSatisfy { $0.hasPrefix("SELECT") }, "\(statements.all)")
        withExtendedLifetime(statements) {}
    }

    @Test func aSaveOfAnyNumberOfRowsRunsOne() throws {
        let pool = try open.store.backend().pool
        var batch = SaveBatch()
        let first = try open.store.reserveKeys(50, for: open.layout("Tag"))
        batch.inserts = (0..<50).map { open.change("Tag", first + $0, ["name": .string("\($0)")]) }
        let statements = Statements()
        try pool.write { statements.begin($0) }
        _ = try open.store.save(batch)
        try pool.write { statements.end($0) }
        #expect(statements.all.filter { $0.hasPrefix("PRAGMA") } == ["PRAGMA schema_version"])
        #expect(!statements.all.contains { $0.contains("Z_METADATA") })
        withExtendedLifetime(statements) {}
    }

    /// Metadata are read once after a change, not in each save from then on.
    @Test func aChangeOfTheSchemaIsLookedIntoOnce() throws {
        let pool = try open.store.backend().pool
        #expect(SQLiteFile(folder.file("store.sqlite")).execute("CREATE TABLE notes (text)"))
        let statements = Statements()
        try pool.write { statements.begin($0) }
        for name in ["a", "b", "c"] { try open.insert("Tag", ["name": .string(name)]) }
        try pool.write { statements.end($0) }
        #expect(statements.all.filter { $0.contains("FROM Z_METADATA") }.count == 1)
        withExtendedLifetime(statements) {}
    }
}
