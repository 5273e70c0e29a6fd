import CSQLite
import Foundation
import Synchronization

/// Finds external files that no row names, in the background.
///
/// Used where reading all rows would make opening the store slow.
///
/// It has its own connection while it runs, so that no request waits for it. With a WAL it only
/// keeps the log from being reset; with another journal mode, commits wait until it ends. Closing
/// the store ends it; the next opening starts it again.
final class BackgroundSweep: Sendable {
    private enum State { case none, waiting, running, finished }

    /// Guards the state.
    private let state = Mutex(State.none)
    /// Left when the sweep ends, or when it is cancelled before it begins.
    private let ending = DispatchGroup()
    private let isCancelled = Atomic(false)

    /// Starts the sweep, unless the store already has one.
    func begin(_ pool: SQLiteConnectionPool) {
        let isNew = state.withLock { state in
            guard state == .none else { return false }
            state = .waiting
            return true
        }
        guard isNew else { return }
        ending.enter()
        DispatchQueue.global(qos: .utility).async { [weak pool] in
            defer { self.ending.leave() }
            guard let pool, self.start() else { return }
            // After an error the files stay; the sweep of a later opening finds them.
            try? self.run(pool)
            self.state.withLock { $0 = .finished }
        }
    }

    /// Waits for the sweep, if there is one.
    func wait() { ending.wait() }

    private func start() -> Bool {
        state.withLock { state in
            guard state == .waiting else { return false }
            state = .running
            return true
        }
    }

    /// Ends the sweep at once. When this returns, the sweep no longer uses the store.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        let isRunning = state.withLock { state in
            if state == .running { return true }
            state = .finished
            return false
        }
        if isRunning { ending.wait() }
    }

    private func run(_ pool: SQLiteConnectionPool) throws {
        guard let superseded = pool.supersededFiles else { return }
        let connection = try SQLiteConnection(
            path: pool.configuration.path, mode: .readWrite,
            timeout: min(pool.configuration.timeout, SupersededFiles.longestWait))
        // Safe without a retain: the handler is removed before this function returns.
        sqlite3_progress_handler(
            connection.handle, Self.stepsBetweenLooks,
            { context in
                guard let context else { return 0 }
                return Unretained<BackgroundSweep>(pointer: context).object.isCancelled.load(
                    ordering: .relaxed) ? 1 : 0
            }, Unretained(self).pointer)
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        try superseded.files.whileLocked(waits: false) {
            let unnamed = try ExternalFileSweep(files: superseded.files, connection: connection).unnamedFiles()
            // Another store of the same name may have been created meanwhile.
            if unnamed.isEmpty || isCancelled.load(ordering: .relaxed) || superseded.files.isShared() { return }
            try pool.write { writer in
                superseded.add(unnamed)
                superseded.collect(writer)
            }
        }
    }

    /// The number of SQLite virtual machine steps between two checks for cancellation.
    private static var stepsBetweenLooks: Int32 { 10_000 }
}
