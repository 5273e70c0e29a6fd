import Foundation

/// Detects whether another program uses a SQLite database.
enum FileLocks {
    /// A range of bytes of a file that SQLite locks.
    private struct Range {
        let start: Int
        let count: Int
    }

    // Every connection in WAL mode holds a shared lock on the last of these bytes of the -shm file
    // while it is open (SQLite's "dead man's switch"). Source:
    // <https://www.sqlite.org/walformat.html#wal_index_locks>
    private static let sharedMemory = Range(start: 120, count: 9)
    // Pending, reserved and shared locks of the database file. A connection that reads or writes
    // holds one. A connection that does not share its WAL holds it as long as it is open. Source:
    // <https://www.sqlite.org/lockingv3.html>
    private static let database = Range(start: 0x4000_0000, count: 512)

    /// Whether another process holds a lock in the store's file or in its shared memory file.
    ///
    /// Locks of the calling process itself are not detected.
    static func isInUse(storePath: String) -> Bool {
        isLocked(storePath + "-shm", sharedMemory) || isLocked(storePath, database)
    }

    private static func isLocked(_ path: String, _ range: Range) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var lock = flock()
        lock.l_type = .init(F_WRLCK)
        lock.l_whence = .init(SEEK_SET)
        lock.l_start = .init(range.start)
        lock.l_len = .init(range.count)
        guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return false }
        return lock.l_type != .init(F_UNLCK)
    }
}
