import CSQLite
import Foundation
import Synchronization

/// Looks for external files that no row names while the store is used, where reading all its rows would make opening it slow.
///
/// It has a connection of its own for as long as it takes, so that nobody waits for it: with a WAL it only keeps the log from being
/// begun anew; with another journal, commits wait until it is through. Closing the store ends it; the next opening begins again.
final class BackgroundSweep: Sendable {
    private enum State { case none, waiting, running, finished }

    /// Guards the state.
    private let state = Mutex(State.none)
    /// Left when the sweep has ended, or was cancelled before it began.
    private let ending = DispatchGroup()
    private let isCancelled = Atomic(false)

    /// Begins, unless the store has one already.
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
            // Where something goes wrong, files stay, and another opening looks for them.
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

    /// Ends the sweep at once. When this returns, it does not use the store any more.
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
        // The sweep outlives the handler: it is removed before this returns.
        sqlite3_progress_handler(
            connection.handle, Self.stepsBetweenLooks,
            { context in
                guard let context else { return 0 }
                return Unmanaged<BackgroundSweep>.fromOpaque(context).takeUnretainedValue().isCancelled.load(ordering: .relaxed) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        try superseded.files.whileLocked(waits: false) {
            let unnamed = try ExternalFileSweep(files: superseded.files, connection: connection).unnamedFiles()
            // Another store of the same name may have come meanwhile.
            if unnamed.isEmpty || isCancelled.load(ordering: .relaxed) || superseded.files.isShared() { return }
            try pool.write { writer in
                superseded.add(unnamed)
                superseded.collect(writer)
            }
        }
    }

    /// How many steps of SQLite's machine pass between two looks at whether the sweep shall end.
    private static var stepsBetweenLooks: Int32 { 10_000 }
}
