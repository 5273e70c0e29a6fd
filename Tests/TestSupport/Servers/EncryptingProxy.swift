import Foundation
import Synchronization

/// Stands between clients and a PostgreSQL server, on a port of 127.0.0.1: speaks TLS, in records
/// as large as there are, as servers do that gather more than PostgreSQL's 8 KiB.
public final class EncryptingProxy: Sendable {
    public let port: Int
    private let listener: Int32
    private let certificates: Certificates
    private let server: PostgreSQLServer

    private struct Reason: Error, CustomStringConvertible {
        let description: String
    }

    public init(_ server: PostgreSQLServer, _ certificates: Certificates) throws {
        guard let library = OpenSSL.shared, let context = library.newContext(library.serverMethod()) else {
            throw Reason(description: "the client library has not loaded OpenSSL")
        }
        guard library.useCertificate(context, certificates.certificate.path) == 1,
            library.useKey(context, certificates.key.path, OpenSSL.pemFile) == 1
        else { throw Reason(description: "OpenSSL does not take the certificate") }
        self.server = server
        self.certificates = certificates
        (listener, port) = try TCPSocket.listener()
        let socket = "\(server.socketFolder)/\(PostgreSQLProxy.socketName)"
        // The address of what is made once, and never freed: threads may share it, says OpenSSL.
        let address = UInt(bitPattern: context)
        PostgreSQLProxy.onThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                // The proxy has ended.
                guard client >= 0 else { return }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard let server = try? PostgreSQLProxy.socket(socket, connect) else {
                    close(client)
                    continue
                }
                PostgreSQLProxy.onThread {
                    EncryptedConnection(client: client, server: server, library, context: address).run()
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The database as a list of `keyword=value`.
    public var connectionString: String {
        "host=localhost port=\(port) dbname=\(server.database) user=\(server.user) sslmode=verify-full "
            + "sslrootcert=\(certificates.authority.path)"
    }
}

/// One connection of a client, and the one to the server. Used by one thread.
private final class EncryptedConnection {
    private let client: Int32
    private let server: Int32
    private let library: OpenSSL
    private let context: OpaquePointer?
    private var bytes = [UInt8](repeating: 0, count: 1 << 20)

    /// Milliseconds that the server may be silent before what it has said is passed on.
    private static let pause: Int32 = 20

    init(client: Int32, server: Int32, _ library: OpenSSL, context: UInt) {
        (self.client, self.server, self.library) = (client, server, library)
        self.context = OpaquePointer(bitPattern: context)
    }

    func run() {
        defer {
            close(client)
            close(server)
        }
        // The one question that comes before encryption.
        guard recv(client, &bytes, 8, Int32(MSG_WAITALL)) == 8, send(client, "S", 1, Int32(MSG_NOSIGNAL)) == 1,
            let context, let ssl = library.newConnection(context)
        else { return }
        defer { library.free(ssl) }
        guard library.setSocket(ssl, client) == 1, library.accept(ssl) == 1 else { return }
        while step(ssl) {}
    }

    /// - Returns: whether both sides are still there.
    private func step(_ ssl: OpaquePointer) -> Bool {
        var files = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: server, events: Int16(POLLIN), revents: 0),
        ]
        if library.pending(ssl) == 0 { _ = poll(&files, 2, -1) }
        if files[0].revents != 0 || library.pending(ssl) > 0 {
            let count = library.read(ssl, &bytes, Int32(bytes.count))
            guard count > 0, pass(Int(count)) else { return false }
        }
        if files[1].revents == 0 { return true }
        let count = gather()
        return count > 0 && library.write(ssl, &bytes, Int32(count)) == count
    }

    private func pass(_ count: Int) -> Bool {
        var sent = 0
        while sent < count {
            let more = bytes[sent..<count].withUnsafeBytes {
                send(server, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }

    /// Reads what the server says until it says no more, or that is as much as is passed on at
    /// once.
    private func gather() -> Int {
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                recv(server, $0.baseAddress.map { $0 + count }, $0.count - count, 0)
            }
            guard more > 0 else { break }
            count += more
            var file = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
            guard poll(&file, 1, Self.pause) > 0 else { break }
        }
        return count
    }
}

/// The functions of OpenSSL that a server needs; PostgreSQL's client library has loaded them with
/// itself.
private struct OpenSSL: Sendable {
    typealias Bytes = UnsafeMutableRawPointer
    let serverMethod: @Sendable @convention(c) () -> OpaquePointer?
    let newContext: @Sendable @convention(c) (OpaquePointer?) -> OpaquePointer?
    let useCertificate: @Sendable @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Int32
    let useKey: @Sendable @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32
    let newConnection: @Sendable @convention(c) (OpaquePointer) -> OpaquePointer?
    let setSocket: @Sendable @convention(c) (OpaquePointer, Int32) -> Int32
    let accept: @Sendable @convention(c) (OpaquePointer) -> Int32
    let read: @Sendable @convention(c) (OpaquePointer, Bytes, Int32) -> Int32
    let write: @Sendable @convention(c) (OpaquePointer, UnsafeRawPointer, Int32) -> Int32
    let pending: @Sendable @convention(c) (OpaquePointer) -> Int32
    let free: @Sendable @convention(c) (OpaquePointer) -> Void

    static let pemFile: Int32 = 1

    /// Nil where it is not loaded.
    static let shared = OpenSSL()

    private init?() {
        guard let serverMethod = dlsym(nil, "TLS_server_method"), let newContext = dlsym(nil, "SSL_CTX_new"),
            let useCertificate = dlsym(nil, "SSL_CTX_use_certificate_chain_file"),
            let useKey = dlsym(nil, "SSL_CTX_use_PrivateKey_file"), let newConnection = dlsym(nil, "SSL_new"),
            let setSocket = dlsym(nil, "SSL_set_fd"), let accept = dlsym(nil, "SSL_accept"),
            let read = dlsym(nil, "SSL_read"),
            let write = dlsym(nil, "SSL_write"), let pending = dlsym(nil, "SSL_pending"),
            let free = dlsym(nil, "SSL_free")
        else { return nil }
        // The types are those of OpenSSL's headers.
        func function<Function>(_ address: UnsafeMutableRawPointer) -> Function {
            unsafeBitCast(address, to: Function.self)
        }
        self.serverMethod = function(serverMethod)
        self.newContext = function(newContext)
        self.useCertificate = function(useCertificate)
        self.useKey = function(useKey)
        self.newConnection = function(newConnection)
        self.setSocket = function(setSocket)
        self.accept = function(accept)
        self.read = function(read)
        self.write = function(write)
        self.pending = function(pending)
        self.free = function(free)
    }
}
