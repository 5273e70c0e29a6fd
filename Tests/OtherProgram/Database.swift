import CSQLite
import Foundation

/// A connection of a program that knows nothing of Core Data.
final class Database {
    private var handle: OpaquePointer?

    struct Failure: Error {
        let message: String
    }

    init(_ path: String) throws {
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw failure }
    }

    deinit { sqlite3_close_v2(handle) }

    private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }
}
