import Foundation

/// A lock on a folder, held against other processes and other threads.
struct FolderLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock. Nil, with the reason in `errno`, when it cannot be taken.
    ///
    /// - Parameter waits: whether to wait for who holds it.
    init?(_ path: String, waits: Bool = true) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            close(descriptor)
            errno = reason
            return nil
        }
    }

    /// Whether the folder is still at its path: who held the lock before may have removed it.
    var isOnPresentFolder: Bool {
        guard let locked = FileIdentity(descriptor: descriptor) else { return false }
        return locked == FileIdentity(path: path)
    }

    /// Unlocks explicitly: a forked child has a copy of the descriptor until it calls exec, so
    /// `close` alone would keep the lock.
    func release() {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
