import CoreData
import Foundation
import Synchronization

/// The connections of one store. Any of them reads or writes.
final class PostgreSQLPool: @unchecked Sendable {
    // Sendable: constants, and a state that the condition guards. A connection is with one thread,
    // or in `idle`.

    struct Configuration: Sendable {
        var address: PostgreSQLAddress
        var isReadOnly: Bool
        /// Whether the schema's tables are external.
        var hasExternalTables = false
        var maximumConnections = 8
        /// Seconds to wait for a free connection, and for locks of other transactions.
        var timeout: Double
        var password: (@Sendable () throws -> String)?
    }

    let configuration: Configuration
    /// A name of the open store, unique among all programs. It tells this store's commits apart
    /// from all others.
    let sender = UUID().uuidString.lowercased()
    /// Checks whether another program has migrated the store, once the store is ready for requests.
    let watch: PostgreSQLSchemaWatch
    private let condition = NSCondition()
    private var idle: [PostgreSQLConnection] = []
    private var count = 0
    private var isClosed = false
    /// Whether a connection was ever made: only then is the address known to be right, and the
    /// server may come back.
    private var wasConnected = false

    init(_ configuration: Configuration) throws {
        self.configuration = configuration
        watch = PostgreSQLSchemaWatch(schema: configuration.address.schema, url: configuration.address.publicURL)
    }

    deinit { for connection in idle { connection.wire.close() } }

    /// The store's URL, as errors show it.
    var url: URL { configuration.address.publicURL }

    // MARK: Using

    /// Runs a block with a connection. Errors of the server become errors of the program.
    ///
    /// - Parameter repeats: whether the block may be run once more, with another connection, when
    ///   an idle connection turns out to be lost. The block must not have changed anything.
    func withConnection<Result>(repeats: Bool = false, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result
    {
        do {
            return try withWire(repeats: repeats, body)
        } catch let error as WireError {
            throw error.cocoaError(store: url)
        }
    }

    /// Runs a block with a connection, and throws errors as the server gave them.
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
                // The cause has probably ended the other connections too: a caller that tries again
                // must not run into one after another.
                dropIdle()
                // A caller that has waited for a silent server has no time left.
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
                    "The store \(StoreName.path(url)) has \(configuration.maximumConnections) connections, all of "
                        + "them busy for "
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

    var openConnections: Int { condition.withLock { count } }

    /// Closes the idle connections at once, and those in use when they are given back.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
        dropIdle()
    }

    // MARK: Connecting

    /// Opens a connection that is set to the store's schema. Waits for a server that was reachable
    /// before and is not now.
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
                guard isWorthWaiting, error.isUnreachable, Date(timeIntervalSinceNow: pause) < deadline else {
                    throw error
                }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// The longest pause between attempts to connect, in seconds.
    private static let longestPause = 1.0

    var settings: PostgreSQLSettings {
        PostgreSQLSettings(
            schema: configuration.address.schema, isExternal: configuration.hasExternalTables,
            statementTimeout: max(configuration.timeout, 1),
            lockTimeout: configuration.timeout)
    }

    /// Opens a connection for a listener, past a pooler if the address allows it.
    ///
    /// - Returns: the connection, and whether it receives notifications: a pooler drops them.
    func connectListener() throws -> (PostgreSQLConnection, hears: Bool) {
        let connection = try PostgreSQLConnection(connectWire(configuration.address.directConnection), settings)
        return (connection, !connection.isPooled)
    }

    /// The connection parameters that apply where nothing else sets them. The network parameters
    /// have no effect on local sockets.
    var standardParameters: [String: String] {
        var parameters = [
            "connect_timeout": String(Int(min(max(configuration.timeout, 2), 10))), "application_name": "OpenCoreData",
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            // Data that was sent and not confirmed within these milliseconds is lost, with the
            // connection.
            "tcp_user_timeout": String(Int((settings.longestSilence * 1000).rounded(.up))),
        ]
        if !configuration.isReadOnly { parameters["target_session_attrs"] = "read-write" }
        return parameters
    }

    /// - Parameter address: an address other than the store's.
    private func connectWire(_ address: String? = nil) throws -> any DatabaseWire {
        var target = WireTarget(connection: address ?? configuration.address.connection)
        target.password = configuration.password
        target.standard = standardParameters
        target.isEncryptedOffMachine = true
        let wire = try LibPQDriver.connect(target)
        return Instruments.wantsStatements
            ? TracingWire(wire, store: StoreName.path(configuration.address.publicURL)) : wire
    }
}
