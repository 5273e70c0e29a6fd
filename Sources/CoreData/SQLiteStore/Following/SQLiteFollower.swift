import Dispatch
import Foundation
import Synchronization

/// Notices what other connections commit to the file of a store: those of other processes and of
/// other coordinators.
///
/// The system says that the file was written; SQLite says whether another connection did it.
final class SQLiteFollower: Sendable {
    private let pool: SQLiteConnectionPool
    /// Called on a queue of its own after others have committed.
    private let othersCommitted: @Sendable () -> Void
    private let watches = Mutex<[UUID]>([])
    /// SQLite's number of the state that the writer's connection saw last. It changes when another
    /// connection has committed.
    private let version = Mutex<Int64?>(nil)
    private let looks = Mutex(Looks())
    private let queue = DispatchQueue(label: "OpenCoreData.SQLiteFollower", qos: .utility)

    private struct Looks {
        /// Whether a look is due after the shortest pause.
        var isDue = false
        /// The number of writes that were told.
        var writes = 0
    }

    /// The time in seconds for which writes are collected. One commit writes the file several
    /// times.
    private static let pause = 0.005
    /// The longest time in seconds between two looks, and the time for which they go on without
    /// further writes.
    private static let (longestPause, patience) = (1.0, 10.0)

    init(_ pool: SQLiteConnectionPool, othersCommitted: @escaping @Sendable () -> Void) {
        self.pool = pool
        self.othersCommitted = othersCommitted
    }

    deinit { end() }

    /// Begins to watch the files of a database.
    ///
    /// - Parameter path: that of the database file, without symbolic links; nil for a database in
    ///   memory, whose other connections call `look()`.
    func begin(_ path: String?) throws {
        _ = try haveOthersCommitted()
        guard let path else { return }
        for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
            let watch = try FileChanges.shared.watch(file) { [weak self] in self?.look() }
            watches.withLock { $0.append(watch) }
        }
        // For what was committed before the watches.
        look()
    }

    func end() {
        let ended = watches.withLock { watches in
            defer { watches = [] }
            return watches
        }
        for watch in ended { FileChanges.shared.end(watch) }
    }

    /// Finds out soon whether others have committed.
    func look() {
        let isFirst = looks.withLock { looks in
            looks.writes += 1
            defer { looks.isDue = true }
            return !looks.isDue
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
            guard let self else { return }
            let writes = looks.withLock { looks in
                looks.isDue = false
                return looks.writes
            }
            look(after: writes, pause: Self.pause, Date(timeIntervalSinceNow: Self.patience))
        }
    }

    /// Looks until more is written or the patience ends.
    ///
    /// A program writes the file before it has committed: it may first wait for the disk, or for
    /// its turn. What follows is not told, as it is in memory that programs share.
    private func look(after writes: Int, pause: Double, _ end: Date) {
        guard looks.withLock({ $0.writes == writes && !$0.isDue }) else { return }
        // A file that cannot be read is reported by the next request.
        if (try? haveOthersCommitted()) == true { othersCommitted() }
        guard Date() < end else { return }
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            self?.look(after: writes, pause: min(pause * 2, Self.longestPause), end)
        }
    }

    private func haveOthersCommitted() throws -> Bool {
        // The connection through which this store itself writes: its own commits do not count.
        let current = try pool.write { try $0.integer("PRAGMA data_version") }
        return version.withLock { known in
            defer { known = current }
            return known != nil && known != current
        }
    }
}

// Changes of the file by others, for a store with
// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
extension SQLiteStore {
    /// Begins to tell of all commits to the file.
    func followFile() {
        guard let url, let pool = openPool else { return }
        knownHistory.begin(try? history?.historySpan().last)
        let follower = SQLiteFollower(pool) { [weak self] in
            guard let self else { return }
            let last = try? history?.historySpan().last
            othersChanged?(knownHistory.othersCommitted(last))
            RemoteChanges.shared.post(self, last)
        }
        do { try follower.begin(Self.isInMemory(url) ? nil : ExternalFiles(storeURL: url).storeURL.path) } catch {
            Warnings.sayOnce(about: "following of \(url.path)") {
                "The system does not tell when other programs write the store at \(url.path) "
                    + "(\(error.localizedDescription)): their changes are seen by requests only. Raise "
                    + "fs.inotify.max_user_watches or max_user_instances if there are many files."
            }
        }
        self.follower.withLock { $0 = follower }
    }

    func unfollowFile() {
        let ended = follower.withLock { follower in
            defer { follower = nil }
            return follower
        }
        ended?.end()
    }
}
