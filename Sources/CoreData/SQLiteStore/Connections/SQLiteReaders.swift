import Dispatch
import Foundation
import Synchronization

/// The connections that read a store.
///
/// A burst of fetches shares a few of them, and unused ones are closed. SQLite keeps the database
/// file of a closed connection open for the next one while other connections hold locks on it, as
/// closing the file would release those locks. The number of concurrent readers therefore
/// determines how many file descriptors a store takes.
final class SQLiteReaders: Sendable {
    fileprivate struct State {
        /// The unused readers, each with the time since when; the last one was used most recently.
        var idle: [(connection: SQLiteConnection, since: ContinuousClock.Instant)] = []
        var usedCount = 0
        var waitingCount = 0
        /// The time when a reader was last opened beyond the usual number.
        var lastGrowth: ContinuousClock.Instant?
        /// Whether a check for unused readers is scheduled.
        var looksLater = false
    }

    /// Guards the readers and their numbers.
    private let state = Mutex(State())
    private let returned = DispatchSemaphore(value: 0)
    /// The maximum number of concurrent readers; nil for no limit.
    private let limit: Int?

    /// The number of readers that are opened without waiting for one that is in use.
    static let usualCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    /// The time in seconds that a read waits for a reader before it opens another one.
    ///
    /// Also the minimum time between two such openings.
    fileprivate static let patience = 0.2
    /// The time in seconds that an unused reader is kept. One reader is kept in any case.
    static let keepingTime = 1.0

    init(limit: Int?) { self.limit = limit }

    /// The number of readers that are open.
    var count: Int { state.withLock { $0.idle.count + $0.usedCount } }

    /// Returns a reader for the caller's exclusive use.
    ///
    /// - Returns: nil where the limit was reached during the whole wait.
    /// - Throws: the error that `open` throws.
    func take(waiting timeout: Double, orOpen open: () throws -> SQLiteConnection) throws -> SQLiteConnection? {
        let start = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            let (idle, mayOpen) = state.withLock {
                $0.take(limit, hasWaited: now - start >= .seconds(Self.patience), now)
            }
            if let idle { return idle }
            if mayOpen {
                do { return try open() } catch {
                    state.withLock { $0.usedCount -= 1 }
                    returned.signal()
                    throw error
                }
            }
            let isLate = limit != nil && now - start >= .seconds(min(timeout, 1e9))
            if !isLate {
                _ = returned.wait(timeout: .now() + (limit == nil ? Self.patience : min(Self.patience, timeout)))
            }
            state.withLock { $0.waitingCount -= 1 }
            if isLate { return nil }
        }
    }

    func giveBack(_ connection: SQLiteConnection) {
        keep(connection)
        let wakes = state.withLock { state in
            state.usedCount -= 1
            return state.waitingCount > 0
        }
        if wakes { returned.signal() }
    }

    /// Returns an unused reader, if there is one, for a pinned state. It does not count as one in
    /// use.
    func lend() -> SQLiteConnection? { state.withLock { Unchecked($0.idle.popLast()?.connection) }.value }

    /// Adds a reader to the unused ones.
    func keep(_ connection: SQLiteConnection) {
        let looksLater = state.withLock { state in
            state.idle.append((connection, .now))
            let looksLater = !state.looksLater && state.idle.count > 1
            if looksLater { state.looksLater = true }
            return looksLater
        }
        if looksLater { lookLater() }
    }

    func closeUnused() { closing { $0.closeUnused(since: .now, keeping: 0) } }

    /// Closes readers that were not used since a point of time, except the last one.
    func closeUnused(since time: ContinuousClock.Instant) { closing { $0.closeUnused(since: time, keeping: 1) } }

    private func lookLater() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.keepingTime) { [weak self] in
            guard let self else { return }
            self.closeUnused(since: .now - .seconds(Self.keepingTime))
            let looksAgain = self.state.withLock { state in
                state.looksLater = state.idle.count > 1
                return state.looksLater
            }
            if looksAgain { self.lookLater() }
        }
    }

    /// Removes connections from the state under the lock, and closes them outside of it.
    private func closing(_ body: (inout State) -> [SQLiteConnection]) {
        let unused = state.withLock { Unchecked(body(&$0)) }
        withExtendedLifetime(unused) {}
    }
}

extension SQLiteReaders.State {
    /// Takes an unused reader, or permission to open one; otherwise counts the caller as waiting.
    fileprivate mutating func take(
        _ limit: Int?, hasWaited: Bool, _ now: ContinuousClock.Instant
    ) -> (idle: SQLiteConnection?, mayOpen: Bool) {
        if let last = idle.popLast() {
            usedCount += 1
            return (last.connection, false)
        }
        var mayOpen = usedCount < min(limit ?? .max, SQLiteReaders.usualCount)
        if !mayOpen, hasWaited, usedCount < limit ?? .max {
            mayOpen = lastGrowth.map { now - $0 >= .seconds(SQLiteReaders.patience) } ?? true
            if mayOpen { lastGrowth = now }
        }
        if mayOpen { usedCount += 1 } else { waitingCount += 1 }
        return (nil, mayOpen)
    }

    fileprivate mutating func closeUnused(since time: ContinuousClock.Instant, keeping kept: Int) -> [SQLiteConnection]
    {
        let count = min(idle.prefix { $0.since <= time }.count, max(idle.count - kept, 0))
        defer { idle.removeFirst(count) }
        return idle[..<count].map(\.connection)
    }
}
