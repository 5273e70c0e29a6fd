import CPostgreSQL
import Foundation

/// PgBouncer in transaction mode in front of a server of the tests: each transaction may go to
/// another process of the server. It goes with the object, and with this process.
public final class Pooler: Sendable {
    /// The one that stores of a run go through which is to be behind a pooler, started by the first
    /// that asks; nil where it cannot be had.
    public static var shared: Pooler? { try? attempt.get() }

    /// Whether the stores of this run are to be reached through a pooler: `OPENCOREDATA_POOLER=1`
    /// in the environment.
    public static let isWanted = ProcessInfo.processInfo.environment["OPENCOREDATA_POOLER"] == "1"

    /// Why there is no pooler for the run; nil where there is one.
    public static var absence: String? {
        if case .failure(let error) = attempt {
            "there is no PgBouncer, behind which the run is to be: \(error)"
        } else {
            nil
        }
    }

    private static let attempt: Result<Pooler, any Error> = Result {
        guard let server = PostgreSQLServer.shared else {
            throw PostgreSQLServer.Reason(description: "there is no server")
        }
        // So many that tests which hold transactions open keep no others waiting.
        return try Pooler(server, connections: 60)
    }

    /// Nil where PgBouncer is not installed.
    public static let program: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // Debian puts it where only root's path leads.
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        return folders.map { "\($0)/pgbouncer" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private let server: PostgreSQLServer
    private let folder: String
    /// Keeps the other end of what the watchdog reads.
    private let lifeline: Pipe
    private static let port = 6543

    /// - Parameter connections: how many transactions go on at one time; others wait.
    public init(_ server: PostgreSQLServer, connections: Int = 3) throws {
        guard let program = Self.program else {
            throw PostgreSQLServer.Reason(description: "PgBouncer is not installed")
        }
        self.server = server
        folder = try PostgreSQLServer.makeFolder()
        // Its connections to the server are used in turn: what a transaction leaves behind is not
        // there for the next.
        let settings = """
            [databases]
            \(server.database) = host=\(server.socketFolder) dbname=\(server.database) user=\(server.user)
            [pgbouncer]
            listen_addr =
            listen_port = \(Self.port)
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = transaction
            server_round_robin = 1
            min_pool_size = \(min(connections, 3))
            default_pool_size = \(connections)
            max_client_conn = 500
            log_connections = 0
            log_disconnections = 0
            """
        try settings.write(toFile: "\(folder)/pgbouncer.ini", atomically: false, encoding: .utf8)
        lifeline = try PostgreSQLServer.startWatchdog(Self.watch, program, folder)
        // The socket is there before anybody listens on it.
        let place = "host=\(folder) port=\(Self.port) dbname=\(server.database) user=\(server.user)"
        guard !wait(upTo: 10, { Self.opens(place) }) else { return }
        let messages = (try? String(contentsOfFile: "\(folder)/messages", encoding: .utf8)) ?? ""
        throw PostgreSQLServer.Reason(description: "PgBouncer takes no connections: \(messages)")
    }

    deinit { try? lifeline.fileHandleForWriting.close() }

    /// Runs the program until the reading of its input ends. The arguments are the program and the
    /// folder. Some versions wait for their clients when they are asked to end.
    private static let watch = #"""
        "$1" "$2/pgbouncer.ini" >"$2/messages" 2>&1 &
        trap '' HUP INT TERM
        read -r nothing
        kill -KILL $!
        wait
        cd /
        rm -rf "$2"
        """#

    /// A URL of the server's database by way of the pooler.
    ///
    /// - Parameter direct: whether it says how to listen past the pooler, in which nobody is heard.
    public func url(schema: String, direct: Bool = false) -> URL {
        var components = URLComponents()
        components.scheme = "postgresql"
        components.host = ""
        components.path = "/\(server.database)"
        components.queryItems = [
            URLQueryItem(name: "host", value: folder), URLQueryItem(name: "port", value: "\(Self.port)"),
            URLQueryItem(name: "user", value: server.user), URLQueryItem(name: "ocd.schema", value: schema),
        ]
        if direct { components.queryItems?.append(URLQueryItem(name: "ocd.direct", value: server.connectionString())) }
        return components.url ?? URL(fileURLWithPath: folder)
    }

    // MARK: The second path

    private static func opens(_ place: String) -> Bool {
        let connection = PQconnectdb(place)
        defer { PQfinish(connection) }
        return PQstatus(connection) == CONNECTION_OK
    }

    /// Whether a pooler answers at the URL of a store: the process that it names is not the one
    /// that does the work.
    public static func answers(at url: URL) -> Bool {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.queryItems?.removeAll { $0.name.hasPrefix("ocd.") }
        let connection = PQconnectdb(components?.url?.absoluteString ?? "")
        defer { PQfinish(connection) }
        let result = PQexec(connection, "SELECT pg_backend_pid()")
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK, let value = PQgetvalue(result, 0, 0) else { return false }
        return String(cString: value) != String(PQbackendPID(connection))
    }
}
