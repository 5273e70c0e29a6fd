import CoreData
import Foundation
import Synchronization

/// The connections of one store: any of them reads or writes.
final class PostgreSQLPool: @unchecked Sendable {
    // Sendable: constants, and a state that the condition guards. A connection is with one thread, or in `idle`.

    struct Configuration: Sendable {
        var address: PostgreSQLAddress
        var isReadOnly: Bool
        /// Whether the schema's tables are others'.
        var hasExternalTables = false
        var maximumConnections = 8
        /// Seconds to wait for a free connection, and for locks of others.
        var timeout: Double
        var password: (@Sendable () throws -> String)?
    }

    let configuration: Configuration
    /// Names the store that the pool serves, among all of all programs: what it commits is told apart from what others commit.
    let sender = UUID().uuidString.lowercased()
    /// Looks whether others have migrated the store, once it is ready for requests.
    let watch: PostgreSQLSchemaWatch
    private let condition = NSCondition()
    private var idle: [PostgreSQLConnection] = []
    private var count = 0
    private var isClosed = false
    /// Whether there was a connection at any time: only then the address is right, and the server may come back.
    private var wasConnected = false

    init(_ configuration: Configuration) throws {
        self.configuration = configuration
        watch = PostgreSQLSchemaWatch(schema: configuration.address.schema, url: configuration.address.publicURL)
    }

    deinit { for connection in idle { connection.wire.close() } }

    /// What the pool's users are told.
    var url: URL { configuration.address.publicURL }

    // MARK: Using

    /// Runs a block with a connection. Errors of the server become those of the program.
    ///
    /// - Parameter repeats: whether the block may be run once more, with another connection, where one that lay idle turns out to be
    ///   lost: it must not have changed anything.
    func withConnection<Result>(repeats: Bool = false, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        do {
            return try withWire(repeats: repeats, body)
        } catch let error as WireError {
            throw error.cocoaError(store: url)
        }
    }

    /// The same with errors as the server gave them.
    func withWire<Result>(repeats: Bool = false, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        var mayRepeat = repeats
        while true {
            let (connection, wasIdle) = try take()
            do {
                let result = try body(connection)
                giveBack(connection)
                return result
            } catch {
                giveBack(connection)
                guard let error = error as? WireError, error.isConnectionLost else { throw error }
                // Whatever ended it is likely to have ended the others too: whoever tries again is not to meet one after another.
                dropIdle()
                // Who has waited for a silent server has no time left.
                guard mayRepeat, wasIdle, !error.isSilence else { throw error }
                mayRepeat = false
            }
        }
    }

    private func take() throws -> (PostgreSQLConnection, wasIdle: Bool) {
        let deadline = Date(timeIntervalSinceNow: configuration.timeout)
        condition.lock()
        while true {
            if isClosed {
                condition.unlock()
                throw CoreDataErrors.make(
                    .persistentStoreOperation, "The store \(StoreName.path(url)) was closed.",
                    recovery: "Add it to a coordinator again.",
                    userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
            }
            if let connection = idle.popLast() {
                condition.unlock()
                if connection.wire.isUsable { return (connection, true) }
                connection.wire.close()
                condition.lock()
                count -= 1
                continue
            }
            if count < configuration.maximumConnections {
                count += 1
                condition.unlock()
                do { return (try connect(until: deadline), false) } catch {
                    condition.lock()
                    count -= 1
                    condition.signal()
                    condition.unlock()
                    throw error
                }
            }
            guard condition.wait(until: deadline) else {
                condition.unlock()
                throw CoreDataErrors.make(
                    .persistentStoreTimeout,
                    "The store \(StoreName.path(url)) has \(configuration.maximumConnections) connections, all of them busy for "
                        + "\(configuration.timeout) seconds.",
                    recovery: "Raise NSPersistentStoreConnectionPoolMaxSizeKey, or NSPersistentStoreTimeoutOption.",
                    userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
            }
        }
    }

    private func giveBack(_ connection: PostgreSQLConnection) {
        if connection.isInTransaction { connection.rollBack() }
        condition.lock()
        defer { condition.unlock() }
        if isClosed || !connection.wire.isUsable {
            connection.wire.close()
            count -= 1
        } else {
            idle.append(connection)
        }
        condition.signal()
    }

    private func dropIdle() {
        condition.lock()
        defer { condition.unlock() }
        for connection in idle { connection.wire.close() }
        count -= idle.count
        idle.removeAll()
    }

    /// How many connections there are.
    var openConnections: Int { condition.withLock { count } }

    /// Closes the connections that lie idle, and those in use when they are given back.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
        dropIdle()
    }

    // MARK: Connecting

    /// Opens a connection that is set to the store's schema. Waits for a server that was there before and is not.
    private func connect(until deadline: Date) throws -> PostgreSQLConnection {
        var pause = 0.05
        while true {
            do {
                let connection = try PostgreSQLConnection(connectWire(), settings)
                if !configuration.hasExternalTables { connection.watch = watch }
                condition.withLock { wasConnected = true }
                return connection
            } catch let error as WireError {
                let isWorthWaiting = condition.withLock { wasConnected && !isClosed }
                guard isWorthWaiting, error.isUnreachable, Date(timeIntervalSinceNow: pause) < deadline else { throw error }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// Seconds between attempts to connect.
    private static let longestPause = 1.0

    var settings: PostgreSQLSettings {
        PostgreSQLSettings(
            schema: configuration.address.schema, isExternal: configuration.hasExternalTables,
            statementTimeout: max(configuration.timeout, 1),
            lockTimeout: configuration.timeout)
    }

    /// Opens a connection for who listens, past a pooler if there is a way.
    ///
    /// - Returns: the connection, and whether it hears what the server says: a pooler drops it.
    func connectListener() throws -> (PostgreSQLConnection, hears: Bool) {
        let connection = try PostgreSQLConnection(connectWire(configuration.address.directConnection), settings)
        return (connection, !connection.isPooled)
    }

    /// The parameters of connections about which nobody else says anything. Those of networks mean nothing on sockets of the machine.
    var standardParameters: [String: String] {
        var parameters = [
            "connect_timeout": String(Int(min(max(configuration.timeout, 2), 10))), "application_name": "OpenCoreData",
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            // What was sent and not confirmed for so many milliseconds is lost, with the connection.
            "tcp_user_timeout": String(Int((settings.longestSilence * 1000).rounded(.up))),
        ]
        if !configuration.isReadOnly { parameters["target_session_attrs"] = "read-write" }
        return parameters
    }

    /// - Parameter address: another one than that of the store.
    private func connectWire(_ address: String? = nil) throws -> any DatabaseWire {
        var target = WireTarget(connection: address ?? configuration.address.connection)
        target.password = configuration.password
        target.standard = standardParameters
        target.isEncryptedOffMachine = true
        return try LibPQDriver.connect(target)
    }
}
