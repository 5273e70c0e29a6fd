import CoreData
import CoreDataPostgreSQL

/// The kinds of stores that behave alike, whatever they keep their rows in.
public enum StoreKind: String, CaseIterable, Sendable {
    case sqlite
    case inMemory
    case postgreSQL

    /// Those that this machine has: a test that needs a server says so where there is none.
    public static let allCases: [StoreKind] = [.sqlite, .inMemory] + (PostgreSQLServer.isAvailable ? [.postgreSQL] : [])

    /// Those whose rows outlast their coordinators.
    public static let persistent = allCases.filter { $0 != .inMemory }

    /// The kind of stores that stacks and libraries make which are not told another: that of the run of a test that runs on every kind.
    @TaskLocal public static var current = StoreKind.sqlite

    public var type: String {
        switch self {
        case .sqlite: NSSQLiteStoreType
        case .inMemory: NSInMemoryStoreType
        case .postgreSQL: NSPostgreSQLStoreType
        }
    }

    /// Where a store is that would lie in a file if it were one of SQLite: a schema of its own for each file, or nowhere.
    public func url(_ file: URL) -> URL? {
        switch self {
        case .sqlite: file
        case .inMemory: nil
        case .postgreSQL: PostgreSQLServer.shared?.url(schema: Self.schema(file))
        }
    }

    /// A name of at most 63 bytes that no other file has.
    private static func schema(_ file: URL) -> String {
        let path = file.path
        let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "t_" + String(hash, radix: 36)
    }
}
