import CoreData
import Foundation
import Synchronization

/// Listens for the commits of all programs to a store, on a thread and a connection of its own.
///
/// Each transaction sends its number. The last number is looked up after each connect, and where
/// notifications do not arrive. So nothing is missed, though one call may report several
/// transactions.
final class PostgreSQLListener: Sendable {
    private struct State: @unchecked Sendable {
        // Sendable: only reached through the mutex. Only the thread uses the connection, except for
        // `cancel()`.
        var isEnded = false
        var wire: (any DatabaseWire)?
    }

    /// Transactions that were committed.
    struct Change {
        /// Whether another writer committed any of them.
        let byOthers: Bool
        /// The number of the last one in the history; nil where none was recorded there.
        let history: Int64?
    }

    private let pool: PostgreSQLPool
    /// The last transaction that needs no notification; nil for the last one when the thread
    /// begins.
    private let first: Int64?
    private let hasHistory: Bool
    private let onChange: @Sendable (Change) -> Void
    private let state = Mutex(State())

    /// Seconds that the thread waits without notifications. Then it checks whether the server is
    /// still there.
    private static let longestWait = 30.0
    /// Seconds between two look-ups of the number where notifications do not arrive.
    private static let pollingInterval = 1.0

    init(
        _ pool: PostgreSQLPool, after first: Int64?, hasHistory: Bool,
        onChange: @escaping @Sendable (Change) -> Void
    ) {
        self.pool = pool
        self.first = first
        self.hasHistory = hasHistory
        self.onChange = onChange
    }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "OpenCoreData.PostgreSQLListener"
        thread.start()
    }

    /// Makes the thread end. Does not wait for it.
    func end() {
        let wire = state.withLock { state in
            state.isEnded = true
            return state.wire
        }
        wire?.cancel()
    }

    private var isEnded: Bool { state.withLock { $0.isEnded } }

    private func run() {
        var known = first
        var pause = 0.1
        while !isEnded {
            do {
                try listen(&known) { pause = 0.1 }
            } catch {
                // Saves and fetches report the error. Commits in the meantime are found when the
                // server is back.
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, Self.longestWait)
            }
        }
    }

    /// Listens until the connection is lost or the store is closed.
    private func listen(_ known: inout Int64?, connected: () -> Void) throws {
        let (connection, isDirect) = try pool.connectListener()
        state.withLock { $0.wire = connection.wire }
        defer {
            state.withLock { $0.wire = nil }
            connection.wire.close()
        }
        let hears = try isDirect && mayListen(connection)
        connected()
        try lookUp(connection, &known)
        while !isEnded {
            guard hears else {
                Thread.sleep(forTimeInterval: Self.pollingInterval)
                try lookUp(connection, &known)
                continue
            }
            let notifications = try connection.wire.notifications(within: Self.longestWait)
            if isEnded { return }
            guard !notifications.isEmpty else {
                try lookUp(connection, &known)
                continue
            }
            let told = notifications.compactMap { PostgreSQLTransactions.Announcement($0.payload) }
            guard let last = told.map(\.number).max() else { continue }
            let byOthers = told.contains { $0.sender != pool.sender }
            known = max(known ?? 0, last)
            onChange(Change(byOthers: byOthers, history: told.compactMap(\.history).max()))
        }
    }

    /// Asks the server for notifications of commits.
    ///
    /// - Returns: whether the server sends them.
    private func mayListen(_ connection: PostgreSQLConnection) throws -> Bool {
        let channel = try connection.texts(WireStatement("SELECT \(PostgreSQLTransactions.channel)")).last
        do {
            try connection.wire.run("LISTEN \(PostgreSQLDialect().identifier(channel ?? ""))")
            return true
        } catch let error as WireError where error.isReadOnlyServer {
            let store = StoreName.path(pool.configuration.address.publicURL)
            Warnings.sayOnce(about: "listening to \(store)") {
                "The server of the store \(store) does not tell of changes (\(error.message)): the store asks for "
                    + "them every second."
            }
            return false
        }
    }

    /// Checks for commits without a notification.
    private func lookUp(_ connection: PostgreSQLConnection, _ known: inout Int64?) throws {
        let last: Int64
        do { last = try PostgreSQLTransactions.last(connection) } catch let error as WireError
            where error.sqlState == "42501"
        {
            let store = StoreName.path(pool.configuration.address.publicURL)
            Warnings.sayOnce(about: "reading transactions of \(store)") {
                "The role of the store \(store) may not read its transactions (\(error.message)): changes of others "
                    + "are noticed only where and while the "
                    + "server tells of them. GRANT SELECT ON \(PostgreSQLHousekeeping.transactionTable), "
                    + "\(PostgreSQLHousekeeping.storeTable) lets it find all."
            }
            return
        }
        defer { known = last }
        // A smaller number is that of a restored database, or of a standby that lagged.
        guard let known, last != known else { return }
        let history = hasHistory ? try? connection.integer(PostgreSQLHistory.last) : nil
        onChange(Change(byOthers: true, history: history))
    }
}
