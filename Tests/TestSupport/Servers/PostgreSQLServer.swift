import CPostgreSQL
import Foundation
import Synchronization

/// A PostgreSQL server of this process's own: in a folder in `/tmp`, without network unless it is
/// asked for, empty at first, gone with the process.
///
/// Tests that need it say so, and are skipped where it cannot be had:
///
/// ```swift
/// @Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
/// ```
public final class PostgreSQLServer: Sendable {
    /// The folder of the server's socket.
    public let socketFolder: String
    /// The role that owns the database, for which no password is asked.
    public let user = "app"
    public let database = "app"
    /// Roles that are asked for a password, by the method of the same name.
    public let scramUser = "scram_user"
    public let md5User = "md5_user"
    public let password = "a secret pass/word"

    /// Keeps the other end of what the watchdog reads: the system closes it when this process ends,
    /// in whatever way.
    private let lifeline: Pipe
    private let schemas = Atomic<Int>(0)
    /// The database of each schema that a test's file stands for.
    private let homes = Mutex<[String: String]>([:])
    /// The number of such schemas in one database. A catalog of thousands takes longer to read than
    /// most tests take.
    private static let schemasOfDatabase = 50

    /// The server, started by the first that asks; nil where it cannot be had.
    public static var shared: PostgreSQLServer? { try? attempt.get() }

    public static var isAvailable: Bool { shared != nil }

    /// Why there is no server; nil where there is one.
    public static var absence: String? {
        if case .failure(let error) = attempt { "there is no PostgreSQL server: \(error)" } else { nil }
    }

    private static let attempt: Result<PostgreSQLServer, any Error> = {
        let result = Result<PostgreSQLServer, any Error> {
            try PostgreSQLServer()
        }
        if case .failure(let error) = result {
            FileHandle.standardError.write(Data("tests with PostgreSQL are skipped: \(error)\n".utf8))
        }
        return result
    }()

    /// Where the programs are that this server was started with.
    public let programs: String

    /// The URL of a schema in a database that has few others; the same for the same name.
    public func url(ownSchema schema: String) -> URL { url(schema: schema, database: home(of: schema)) }

    /// The database of a schema, made with the first of its schemas.
    private func home(of schema: String) -> String {
        homes.withLock { homes in
            if let home = homes[schema] { return home }
            let home = "\(database)_\(homes.count / Self.schemasOfDatabase)"
            if homes.count.isMultiple(of: Self.schemasOfDatabase) {
                let connection = PQconnectdb(connectionString())
                PQclear(PQexec(connection, "CREATE DATABASE \(home)"))
                PQfinish(connection)
            }
            homes[schema] = home
            return home
        }
    }

    /// A URL of the database, with a schema where a store wants one; by TCP where the server has a
    /// port.
    public func url(schema: String? = nil, database: String? = nil) -> URL {
        var components = URLComponents()
        components.scheme = "postgresql"
        components.host = ""
        components.path = "/\(database ?? self.database)"
        components.queryItems = [
            URLQueryItem(name: "host", value: socketFolder), URLQueryItem(name: "user", value: user),
        ]
        if let port, let network {
            components.queryItems?[0].value = "localhost"
            components.queryItems?.append(URLQueryItem(name: "port", value: "\(port)"))
            if case .encrypted(let certificates) = network {
                components.queryItems?.append(URLQueryItem(name: "sslmode", value: "verify-full"))
                components.queryItems?.append(URLQueryItem(name: "sslrootcert", value: certificates.authority.path))
            }
        }
        if let schema { components.queryItems?.append(URLQueryItem(name: "ocd.schema", value: schema)) }
        // Made of plain words only.
        return components.url ?? URL(fileURLWithPath: socketFolder)
    }

    /// The database as a list of `keyword=value`; never by TCP.
    public func connectionString(user: String? = nil, database: String? = nil) -> String {
        "host=\(socketFolder) dbname=\(database ?? self.database) user=\(user ?? self.user)"
    }

    /// A name that no other schema of the server was given.
    public func newSchemaName() -> String { "schema_\(schemas.add(1, ordering: .relaxed).newValue)" }

    // MARK: Starting

    struct Reason: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder for a table space that is soon full, where the server was made with one.
    public var smallSpace: String { "\(socketFolder)/\(Self.smallFolder)/space" }
    private static let smallFolder = "small"

    /// How a server is reached by TCP, from this machine.
    public enum Network: Sendable {
        case plain
        /// With a certificate for the name `localhost`.
        case encrypted(Certificates)
    }

    /// The port on 127.0.0.1, where there is one.
    public let port: Int?
    private let network: Network?

    /// A server beside the shared one, for tests that stop or fill it, or reach it by TCP.
    ///
    /// - Parameter smallSpace: the size of a file system for a table space, in KiB; nil for none.
    public init(smallSpace: Int? = nil, network: Network? = nil) throws {
        programs = try Self.findPrograms()
        (socketFolder, lifeline) = try Self.makeFolder(programs)
        port = try network == nil ? nil : TCPSocket.freePort()
        self.network = network
        var command =
            Self.account + ["sh", "-c", Self.start, "start", programs, socketFolder, scramUser, md5User, password]
        command.append(port.map(String.init) ?? "")
        if case .encrypted(let certificates) = network {
            let key = try Data(contentsOf: certificates.key)
            // Of whom starts the server, and nobody else's to read.
            command += [certificates.certificate.path, String(decoding: key, as: UTF8.self)]
        }
        if let smallSpace {
            let folder = URL(fileURLWithPath: socketFolder).appendingPathComponent(Self.smallFolder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            command = SmallFileSystem.command(
                kibibytes: smallSpace, over: folder, URL(fileURLWithPath: "/usr/bin/env"), command)
        }
        let output = try Self.output(of: command)
        if output != Self.started { throw Reason(description: "its start failed: \(output)") }
    }

    /// A hot standby, which follows another server and takes no changes.
    public init(standbyOf primary: PostgreSQLServer) throws {
        programs = primary.programs
        port = nil
        network = nil
        (socketFolder, lifeline) = try Self.makeFolder(programs)
        let output = try Self.output(
            of: Self.account + ["sh", "-c", Self.follow, "follow", programs, socketFolder, primary.socketFolder])
        if output != Self.started { throw Reason(description: "its start as a standby failed: \(output)") }
    }

    /// Stops the server as a crash would, or starts it again.
    public func control(_ command: Command) throws {
        let arguments = [
            "\(programs)/pg_ctl", command.rawValue, "-D", "\(socketFolder)/data", "-w", "-s", "-l",
            "\(socketFolder)/messages",
        ]
        let output = try Self.output(of: Self.account + arguments + (command == .stop ? ["-m", "immediate"] : []))
        if !output.isEmpty { throw Reason(description: "it cannot \(command.rawValue): \(output)") }
    }

    /// The prefix of a command that must not run as root.
    private static var account: [String] { geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : [] }

    /// Makes the folder of a server, which goes with this process.
    private static func makeFolder(_ programs: String) throws -> (path: String, lifeline: Pipe) {
        let path = try makeFolder()
        return (path, try startWatchdog(watch, programs, path))
    }

    /// Makes a folder of the account that runs the server; its path is short, as those of sockets
    /// are.
    static func makeFolder() throws -> String {
        var template = Array("/tmp/ocd-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Reason(description: "no folder can be made in /tmp") }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if geteuid() == 0 {
            // The server refuses to run as root.
            guard let user = getpwnam("postgres"), chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                rmdir(path)
                throw Reason(description: "root needs a user \"postgres\" to run the server as")
            }
        }
        return path
    }

    public enum Command: String, Sendable {
        case start
        case stop
    }

    /// The output of a command that leaves a server behind.
    private static func output(of command: [String]) throws -> String {
        try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), command).output
    }

    /// The last line that `start` prints.
    private static let started = "started\n"

    /// The arguments are the folders of programs and server, two roles and their password, a port
    /// or nothing, and the file of a certificate and its key.
    private static let start = #"""
        set -e
        cd "$2"
        "$1/initdb" -A trust --no-sync --no-instructions -U app -E UTF8 --locale=C.UTF-8 -D data >messages 2>&1 || { \#
        cat messages; exit 1; }
        # Below the first line that fits nothing else is looked at.
        { echo "local all $3 scram-sha-256"; echo "local all $4 md5"; cat data/pg_hba.conf; } >hba
        mv hba data/pg_hba.conf
        cat >>data/postgresql.conf <<END
        unix_socket_directories = '$2'
        listen_addresses = ''
        fsync = off
        full_page_writes = off
        synchronous_commit = off
        autovacuum_naptime = 1h
        max_connections = 200
        max_prepared_transactions = 10
        shared_buffers = 128MB
        END
        if [ -n "$6" ]; then
            printf "listen_addresses = '127.0.0.1'\nport = $6\n" >>data/postgresql.conf
            # Without a port it is found all the same.
            ln -s ".s.PGSQL.$6" .s.PGSQL.5432
        fi
        if [ -n "$7" ]; then
            cp "$7" data/server.crt
            (umask 077; printf %s "$8" >data/server.key)
            echo "ssl = on" >>data/postgresql.conf
        fi
        # Each command is a line. This needs no client.
        "$1/postgres" --single -D data template1 >>messages 2>&1 <<END
        ALTER DATABASE postgres RENAME TO app
        CREATE ROLE $3 LOGIN PASSWORD '$5'
        SET password_encryption = md5
        CREATE ROLE $4 LOGIN PASSWORD '$5'
        END
        if [ -d small ]; then mkdir small/space; fi
        "$1/pg_ctl" start -D data -w -t 60 -s -l messages || { cat messages; exit 1; }
        echo started
        """#

    /// The arguments are the folders of programs, of the standby and of the server that it follows.
    private static let follow = #"""
        set -e
        cd "$2"
        "$1/pg_basebackup" -h "$3" -U app -D data -X stream -c fast --no-sync -R >messages 2>&1 || { cat messages; \#
        exit 1; }
        echo "unix_socket_directories = '$2'" >>data/postgresql.conf
        "$1/pg_ctl" start -D data -w -t 60 -s -l messages || { cat messages; exit 1; }
        echo started
        """#

    /// Ends the server and removes its folder when the reading of its input ends, which is when
    /// this process does.
    private static let watch = #"""
        trap '' HUP INT TERM
        read -r nothing
        cd /
        "$1/pg_ctl" stop -D "$2/data" -m immediate -s
        rm -rf "$2"
        """#

    /// Runs a shell's script that reads its input, which ends when this process does, and then ends
    /// what it watches.
    ///
    /// The script is no child of this process. Nobody would wait for it, and behind an ended child
    /// that nobody waits for Swift Testing sees no other process end: each later test of a
    /// program's exit would wait for ever.
    static func startWatchdog(_ script: String, _ arguments: String...) throws -> Pipe {
        let lifeline = Pipe()
        // A command in the background reads nothing, unless its input is named.
        let detached = "exec 3<&0; \"$@\" <&3 3<&- &"
        let starter = try ChildProcess(
            "/bin/sh",
            ["-c", detached, "start", "/usr/bin/env"] + account + ["sh", "-c", script, "watch"] + arguments,
            input: lifeline.fileHandleForReading, output: nil, error: nil)
        try lifeline.fileHandleForReading.close()
        let status = starter.waitForEnd()
        if status != 0 { throw Reason(description: "what would remove it at the end cannot be started: \(status)") }
        return lifeline
    }

    /// Names a folder of a server's programs that is used before all others.
    private static let variable = "OPENCOREDATA_POSTGRESQL"

    /// The folder of the newest server: where Debian has them, or on the path.
    private static func findPrograms() throws -> String {
        func isComplete(_ folder: String) -> Bool {
            ["initdb", "pg_ctl", "postgres"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
            }
        }
        let versions = "/usr/lib/postgresql"
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []).compactMap(Int.init)
            .sorted(by: >)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let wanted = ProcessInfo.processInfo.environment[variable]
        let folders =
            (wanted.map { [$0] } ?? []) + numbers.map { "\(versions)/\($0)/bin" }
            + path.split(separator: ":").map(String.init)
        guard let found = folders.first(where: isComplete) else {
            throw Reason(
                description: "its programs initdb, pg_ctl and postgres are neither in \(versions)/*/bin nor "
                    + "on the path")
        }
        return found
    }
}
