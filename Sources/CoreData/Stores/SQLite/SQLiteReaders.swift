import Dispatch
import Foundation
import Synchronization

/// The connections that read a store. A burst of fetches shares a few of them, and those that are no longer used are closed.
///
/// SQLite keeps the database file of a closed reader open for the next one while others hold locks on it, as closing it would end them. So
/// the number of readers at once decides how many file descriptors a store takes.
final class SQLiteReaders: Sendable {
    fileprivate struct State {
        /// Readers that nobody uses, with the time since when; the one that was used last is the last one.
        var idle: [(connection: SQLiteConnection, since: ContinuousClock.Instant)] = []
        var usedCount = 0
        var waitingCount = 0
        /// When a reader was last opened beyond the usual number.
        var lastGrowth: ContinuousClock.Instant?
        /// Whether a look for readers that are no longer used is scheduled.
        var looksLater = false
    }

    /// Guards the readers and their numbers.
    private let state = Mutex(State())
    private let returned = DispatchSemaphore(value: 0)
    /// How many readers there are at once at most; nil for no limit.
    private let limit: Int?

    /// How many readers are opened without waiting for one that is in use.
    static let usualCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    /// How long a read waits for a reader before it opens another one, and how much time passes between two of these.
    fileprivate static let patience = 0.2
    /// How long a reader is kept after its use, in seconds. One is kept in any case.
    static let keepingTime = 1.0

    init(limit: Int?) { self.limit = limit }

    /// The number of readers that are open.
    var count: Int { state.withLock { $0.idle.count + $0.usedCount } }

    /// A reader for the caller alone.
    ///
    /// - Returns: nil where the limit was reached all the time.
    /// - Throws: what `open` throws.
    func take(waiting timeout: Double, orOpen open: () throws -> SQLiteConnection) throws -> SQLiteConnection? {
        let start = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            let (idle, mayOpen) = state.withLock { $0.take(limit, hasWaited: now - start >= .seconds(Self.patience), now) }
            if let idle { return idle }
            if mayOpen {
                do { return try open() } catch {
                    state.withLock { $0.usedCount -= 1 }
                    returned.signal()
                    throw error
                }
            }
            let isLate = limit != nil && now - start >= .seconds(min(timeout, 1e9))
            if !isLate { _ = returned.wait(timeout: .now() + (limit == nil ? Self.patience : min(Self.patience, timeout))) }
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

    /// A reader that nobody uses, if there is one, for a state that stays pinned: it does not count as one in use.
    func lend() -> SQLiteConnection? { state.withLock { Unchecked($0.idle.popLast()?.connection) }.value }

    /// Has others use a reader.
    func keep(_ connection: SQLiteConnection) {
        let looksLater = state.withLock { state in
            state.idle.append((connection, .now))
            let looksLater = !state.looksLater && state.idle.count > 1
            if looksLater { state.looksLater = true }
            return looksLater
        }
        if looksLater { lookLater() }
    }

    /// Closes all readers that nobody uses.
    func closeUnused() { closing { $0.closeUnused(since: .now, keeping: 0) } }

    /// Closes readers that nobody has used since a point of time, but for the last one.
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

    /// Connections are closed outside of the lock.
    private func closing(_ body: (inout State) -> [SQLiteConnection]) {
        let unused = state.withLock { Unchecked(body(&$0)) }
        withExtendedLifetime(unused) {}
    }
}

extension SQLiteReaders.State {
    /// Takes a reader that nobody uses, or the right to open one; counts the caller among those who wait where there is neither.
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

    fileprivate mutating func closeUnused(since time: ContinuousClock.Instant, keeping kept: Int) -> [SQLiteConnection] {
        let count = min(idle.prefix { $0.since <= time }.count, max(idle.count - kept, 0))
        defer { idle.removeFirst(count) }
        return idle[..<count].map(\.connection)
    }
}
