import CPostgreSQL
import CoreData
import Foundation

extension LibPQConnection {
    /// The largest number of statements whose time limits are added up. With more statements, some
    /// answers come before others.
    private static let mostStatements = 10

    /// Waits until a result can be taken without waiting, or the connection is lost. The library by
    /// itself waits forever.
    ///
    /// - Parameter statements: the number of statements without an answer: the server may hold all
    ///   answers back until it has the last statement.
    func awaitResult(of statements: Int = 1, on connection: OpaquePointer) {
        guard longestSilence != nil else { return }
        while PQisBusy(connection) != 0 {
            guard socketEvents(Int16(POLLIN), of: statements, on: connection) != 0, PQconsumeInput(connection) == 1
            else { return }
        }
    }

    /// Waits for the connection's socket, and cuts a connection that is silent for too long. The
    /// library then fails at once in every call.
    ///
    /// - Returns: the events that the socket is ready for; 0 where the connection was cut.
    func socketEvents(_ events: Int16, of statements: Int, on connection: OpaquePointer) -> Int16 {
        if TLSLibrary.hasReadAhead(of: connection) { return Int16(POLLIN) }
        let limit = longestSilence.map { $0 * Double(min(max(statements, 1), Self.mostStatements)) }
        let deadline = limit.map { ContinuousClock.now + .seconds($0) }
        var file = pollfd(fd: PQsocket(connection), events: events, revents: 0)
        while true {
            let remaining = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let remaining, remaining <= .zero { break }
            // The system counts milliseconds. One is added, so that the last of them is not spent
            // in repeated calls.
            let milliseconds = remaining.map { Int32(clamping: Int64($0 / .milliseconds(1)) + 1) } ?? -1
            // A signal ends the wait too.
            if poll(&file, 1, milliseconds) > 0 { return file.revents }
        }
        silence = limit
        shutdown(file.fd, Int32(SHUT_RDWR))
        return 0
    }
}

/// OpenSSL, which comes with the client library where that supports TLS.
private enum TLSLibrary {
    /// `SSL_pending`; nil where it does not exist.
    private static let pending: (@Sendable @convention(c) (UnsafeMutableRawPointer) -> Int32)? = {
        guard let address = dlsym(dlopen(nil, RTLD_LAZY), "SSL_pending") else { return nil }
        // The type is that of OpenSSL's header: int SSL_pending(const SSL *).
        return unsafeBitCast(address, to: (@Sendable @convention(c) (UnsafeMutableRawPointer) -> Int32).self)
    }()

    /// Whether OpenSSL has read bytes that the client library has not taken. The system does not
    /// know of such bytes.
    ///
    /// OpenSSL decrypts whole records. The client library takes as much of a record as its buffer
    /// has room for, at least 8 KiB. PostgreSQL up to 16 sends no larger records; other servers do.
    static func hasReadAhead(of connection: OpaquePointer) -> Bool {
        guard let pending, let connection = PQsslStruct(connection, "OpenSSL") else { return false }
        return pending(connection) > 0
    }
}
