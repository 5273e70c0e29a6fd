import Foundation

/// Tells whether another program has a SQLite database open in WAL mode.
enum SharedMemory {
    // Every connection holds a shared lock on this byte of the -shm file while it is open (SQLite's "dead man's switch").
    // Source: <https://www.sqlite.org/walformat.html#wal_index_locks>
    private static let firstLock: Int = 120
    private static let lockCount: Int = 9

    /// Whether another process holds a lock in the store's shared memory file.
    ///
    /// Locks of the calling process itself are not seen.
    static func isInUse(storePath: String) -> Bool {
        #if os(Windows)
            return FileManager.default.fileExists(atPath: storePath + "-shm")
        #else
            let descriptor = open(storePath + "-shm", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { _ = close(descriptor) }
            var lock = flock()
            lock.l_type = .init(F_WRLCK)
            lock.l_whence = .init(SEEK_SET)
            lock.l_start = .init(firstLock)
            lock.l_len = .init(lockCount)
            guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return false }
            return lock.l_type != .init(F_UNLCK)
        #endif
    }
}
