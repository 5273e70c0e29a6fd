import CSQLite
import Foundation
import Synchronization

/// External files of one open store that its rows do not name any more, kept until nobody can need them.
///
/// A statement that was begun before the commit still reads the former rows, in this process or another; and after a power
/// failure the database may be as it was before. Both ends with a complete checkpoint: SQLite copies the last frame of the log
/// into the database only when no reader needs an older state, and syncs log and database before it says that all is copied.
/// With a journal of another kind nobody reads during a commit, and the database is synced.
final class SupersededFiles: Sendable {
    let files: ExternalFiles
    /// Guards the names. With each stands which file it is: a store that is copied here brings new files under the same names.
    private let names = Mutex<[String: FileIdentity]>([:])

    init(_ files: ExternalFiles) { self.files = files }

    /// Notes files that no committed row names.
    func add(_ superseded: some Sequence<String>) {
        let found = superseded.compactMap { name in FileIdentity(path: files.path(of: name)).map { (name, $0) } }
        names.withLock { $0.merge(found) { $1 } }
    }

    var isEmpty: Bool { names.withLock { $0.isEmpty } }

    /// Removes the files, if nobody can need them. Without any this costs nothing; otherwise a checkpoint that waits for nobody.
    ///
    /// - Parameter connection: the store's writer, in no transaction.
    func collect(_ connection: SQLiteConnection) {
        if isEmpty { return }
        // Those that come to the list later are not covered by this checkpoint; all come to it under the writer's lock.
        if connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) { removeAll() }
    }

    /// Removes the files after a complete checkpoint.
    func removeAll() {
        let removed = names.withLock { names in
            defer { names = [:] }
            return names
        }
        files.remove(removed.lazy.filter { FileIdentity(path: self.files.path(of: $0.key)) == $0.value }.map(\.key))
    }
}

extension SQLiteConnection {
    /// Moves what the log holds into the database file.
    ///
    /// - Returns: whether all of it is there and on the disk, and nobody reads an older state. Without a log: whether the commits
    ///   so far are final.
    func checkpoint(_ mode: Int32) -> Bool {
        var logFrames: Int32 = -1
        var movedFrames: Int32 = -1
        guard sqlite3_wal_checkpoint_v2(handle, "main", mode, &logFrames, &movedFrames) == SQLITE_OK else { return false }
        if logFrames >= 0 { return logFrames == movedFrames }
        // The end of a transaction is the removal of its journal, which is a change of the folder.
        guard let file = sqlite3_db_filename(handle, "main") else { return true }
        let folder = URL(fileURLWithPath: String(cString: file)).deletingLastPathComponent().path
        return (try? ExternalFiles.sync(folder: folder)) != nil
    }
}
