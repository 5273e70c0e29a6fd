import CSQLite
import Foundation
import Synchronization

/// External files that an open store's rows no longer name, kept until no reader can need them.
///
/// A statement that began before the commit still reads the former rows, in this process or
/// another. After a power failure the database may be in its former state. A complete checkpoint
/// ends both: SQLite copies the last frame of the log into the database only when no reader needs
/// an older state, and it syncs log and database before it reports that all is copied. With another
/// journal mode nobody reads during a commit, and the database is synced.
final class SupersededFiles: Sendable {
    let files: ExternalFiles
    /// Guards the names. Each name has the identity of its file: copying a store here brings new
    /// files under the same names.
    private let names = Mutex<[String: FileIdentity]>([:])

    init(_ files: ExternalFiles) { self.files = files }

    /// Adds files that no committed row names.
    func add(_ superseded: some Sequence<String>) {
        let found = superseded.compactMap { name in FileIdentity(path: files.path(of: name)).map { (name, $0) } }
        names.withLock { $0.merge(found) { $1 } }
    }

    var isEmpty: Bool { names.withLock { $0.isEmpty } }

    /// Removes the files, if no reader can need them.
    ///
    /// Costs nothing without files; otherwise a passive checkpoint, which waits for no other
    /// connection.
    ///
    /// - Parameter connection: the store's writer, in no transaction.
    func collect(_ connection: SQLiteConnection) {
        if isEmpty { return }
        // The checkpoint does not cover files that are added later. All files are added under the
        // writer's lock.
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
    /// Runs a checkpoint: moves the content of the log into the database file.
    ///
    /// - Returns: whether all of it is in the file and on the disk, and no reader uses an older
    ///   state. Without a log: whether the commits so far are final.
    func checkpoint(_ mode: Int32) -> Bool {
        var logFrames: Int32 = -1
        var movedFrames: Int32 = -1
        guard sqlite3_wal_checkpoint_v2(handle, "main", mode, &logFrames, &movedFrames) == SQLITE_OK else {
            return false
        }
        if logFrames >= 0 { return logFrames == movedFrames }
        // A transaction ends with the removal of its journal, which is a change of the folder.
        guard let file = sqlite3_db_filename(handle, "main") else { return true }
        let folder = URL(fileURLWithPath: String(cString: file)).deletingLastPathComponent().path
        return (try? ExternalFiles.sync(folder: folder)) != nil
    }
}
