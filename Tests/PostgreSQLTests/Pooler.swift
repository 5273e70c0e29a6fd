import Foundation
import TestSupport

/// PgBouncer in transaction mode in front of the tests' server: each transaction may go to another process of the server.
final class Pooler {
    private let folder: URL
    private let process = Process()
    private static let port = 6543

    /// Nil where PgBouncer is not installed.
    static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first { FileManager.default.isExecutableFile(atPath: $0) }

    init(_ server: PostgreSQLServer) throws {
        guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
        // The path of a socket is short.
        folder = URL(fileURLWithPath: "/tmp/ocd-pool-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let settings = """
            [databases]
            \(server.database) = host=\(server.socketFolder) dbname=\(server.database) user=\(server.user)
            [pgbouncer]
            listen_addr =
            listen_port = \(Self.port)
            unix_socket_dir = \(folder.path)
            auth_type = any
            pool_mode = transaction
            default_pool_size = 3
            max_client_conn = 100
            """
        try settings.write(to: folder.appendingPathComponent("pgbouncer.ini"), atomically: false, encoding: .utf8)
        var command = [program, "-q", folder.appendingPathComponent("pgbouncer.ini").path]
        if geteuid() == 0 {
            // PgBouncer refuses to run as root.
            if let account = getpwnam("postgres") { chown(folder.path, account.pointee.pw_uid, account.pointee.pw_gid) }
            command = ["/usr/sbin/runuser", "-u", "postgres", "--"] + command
        }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let socket = folder.appendingPathComponent(".s.PGSQL.\(Self.port)").path
        // The socket is there before anybody listens on it.
        let place = "host=\(folder.path) port=\(Self.port) dbname=\(server.database) user=\(server.user)"
        for _ in 0..<1000 {
            if FileManager.default.fileExists(atPath: socket), let connection = try? WireConnection.open(place) {
                connection.close()
                break
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    func url(schema: String, _ server: PostgreSQLServer, direct: Bool = false) -> URL {
        var components = URLComponents()
        components.scheme = "postgresql"
        components.host = ""
        components.path = "/\(server.database)"
        components.queryItems = [
            URLQueryItem(name: "host", value: folder.path), URLQueryItem(name: "port", value: "\(Self.port)"),
            URLQueryItem(name: "user", value: server.user), URLQueryItem(name: "ocd.schema", value: schema),
        ]
        if direct { components.queryItems?.append(URLQueryItem(name: "ocd.direct", value: server.connectionString())) }
        return components.url ?? folder
    }
}
