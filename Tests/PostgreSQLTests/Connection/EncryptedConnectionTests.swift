import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Connections through TLS, to a server and a certificate of the tests' own.
@Suite(
    .enabled(if: PostgreSQLServer.hasTLS, "needs PostgreSQL's server with TLS"),
    .enabled(if: Certificates.isAvailable, "needs openssl"),
    .timeLimit(.minutes(5)))
struct EncryptedConnectionTests {
    /// A server that all tests of the suite share.
    private static let encrypted = Result { try PostgreSQLServer(network: .encrypted(#require(Certificates.shared))) }

    private let server: PostgreSQLServer
    private let certificates: Certificates

    init() throws {
        server = try Self.encrypted.get()
        certificates = try #require(Certificates.shared)
    }

    private func open() throws -> LibPQConnection {
        let connection = try WireConnection.open(server.url().absoluteString)
        connection.longestSilence = 30
        return connection
    }

    private func place(_ host: String, _ parameters: String) throws -> String {
        "host=\(host) port=\(try #require(server.port)) dbname=app user=app \(parameters)"
    }

    // MARK: Opening

    @Test func theServerIsSpokenToThroughTLS() throws {
        for parameters in ["sslmode=require", "sslmode=verify-full sslrootcert=\(certificates.authority.path)"] {
            let connection = try WireConnection.open(place("localhost", parameters))
            #expect(connection.facts.isEncrypted)
            #expect(try connection.texts("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == ["true"])
        }
    }

    private func refusal(_ host: String, _ parameters: String) throws -> String {
        let error = try #require(throws: WireError.self) { _ = try WireConnection.open(place(host, parameters)) }
        #expect(error.isConnectionLost)
        #expect(error.sqlState == nil)
        return error.message
    }

    @Test func aServerThatSomebodyElseVouchesForIsRefused() throws {
        let message = try refusal("localhost", "sslmode=verify-full sslrootcert=\(certificates.stranger.path)")
        #expect(message.contains("certificate verify failed"), "\(message)")
    }

    @Test func aServerWithAnotherNameIsRefused() throws {
        let message = try refusal("0.0.0.0", "sslmode=verify-full sslrootcert=\(certificates.authority.path)")
        #expect(message.contains("\"localhost\" does not match host name \"0.0.0.0\""), "\(message)")
    }

    @Test func whatAServerIsVerifiedWithHasToBeThere() throws {
        let message = try refusal("localhost", "sslmode=verify-full sslrootcert=/tmp/nothing.crt")
        #expect(message.contains("root certificate file \"/tmp/nothing.crt\" does not exist"), "\(message)")
    }

    // MARK: Statements

    @Test func manyMegabytesAreFetched() throws {
        let connection = try open()
        var bytes = 0
        try connection.execute(WireStatement("SELECT repeat(i::text, 2000) FROM generate_series(1000, 4999) i")) {
            row in
            bytes += Int(row.lengths[0])
        }
        #expect(bytes == 4000 * 8000)
        // One value of many.
        #expect(try connection.texts("SELECT repeat('x', 20000000)").first??.utf8.count == 20_000_000)
    }

    @Test func manyMegabytesAreCopied() throws {
        let connection = try open()
        try connection.run("CREATE TEMPORARY TABLE t (name text)")
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        let count = try connection.copy("COPY t FROM STDIN") { send in
            for _ in 0..<20_000 { try line.withUnsafeBytes(send) }
        }
        #expect(count == 20_000)
        #expect(try connection.integers("SELECT sum(length(name))::int8 FROM t") == [20_000 * 999])
    }

    @Test func aPipelineThatSendsAndTakesManyMegabytesEnds() throws {
        let connection = try open()
        let text = String(repeating: "y", count: 3_000)
        let statements = (0..<4_000).map { _ in WireStatement("SELECT $1", [.text(text)], isKept: true) }
        var given = 0
        #expect(
            try connection.executeAll(statements) { _, row in given += Int(row.lengths[0]) }
                == Array(repeating: 1, count: 4_000))
        #expect(given == 4_000 * 3_000)
    }

    @Test func aStatementIsEnded() throws {
        let connection = try open()
        let observer = try open()
        nonisolated(unsafe) let running = connection
        let thread = OtherThread { #expect(throws: WireError.self) { try running.execute("SELECT pg_sleep(3600)") } }
        #expect(try observer.sees(sleeping: connection))
        connection.cancel()
        #expect(try thread.value()?.sqlState == "57014")
        #expect(try connection.integers("SELECT 7") == [7])
    }

    @Test func notificationsArrive() throws {
        let connection = try open()
        try connection.run("LISTEN told")
        nonisolated(unsafe) let waiting = connection
        let thread = OtherThread { try waiting.notifications(within: 60).map(\.payload) }
        try open().run("NOTIFY told, 'now'")
        #expect(try thread.value() == ["now"])
    }

    // MARK: Stores

    @Test func aStoreSavesFetchesAndFollows() throws {
        let warehouse = try Warehouse(on: server)
        let follower = try warehouse.otherProgram(options: [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true
        ])
        let coordinator = try #require(follower.persistentStoreCoordinator)
        let told = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in
            told.signal()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let data = Data((0..<4_000).map { UInt8(truncatingIfNeeded: $0) })
        try warehouse.context.performAndWait {
            for number in 0..<2_000 { _ = warehouse.context.insert("Item", ["name": "\(number)", "data": data]) }
            try warehouse.context.save()
        }
        #expect(told.wait(timeout: .now() + 240) == .success)
        let found = try follower.performAndWait {
            try follower.all("Item").filter { $0.value(forKey: "data") as? Data == data }.count
        }
        #expect(found == 2_000)
        let encrypted =
            "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = "
            + "'OpenCoreData'"
        #expect(try warehouse.texts(encrypted) == ["true"])
    }

    private func open(_ url: String, _ schema: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let url = try #require(URL(string: "\(url)ocd.schema=\(schema)"))
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
    }

    /// For the library, 0.0.0.0 is another machine; for the system it is this one.
    @Test func aPlainServerOfAnotherMachineIsRefused() throws {
        let plain = try PostgreSQLServer(network: .plain)
        let url = "postgresql://app@0.0.0.0:\(try #require(plain.port))/app?"
        let error = try #require(throws: NSError.self) { try open(url, "refused") }
        #expect(error.code == CocoaError.Code.persistentStoreOpen.rawValue)
        #expect(error.localizedDescription.contains("server does not support SSL, but SSL was required"), "\(error)")
        #expect(error.localizedRecoverySuggestion?.contains("sslmode") == true, "\(error)")
        try open("\(url)sslmode=disable&", "taken")
    }

    @Test func anEncryptedServerOfAnotherMachineIsTaken() throws {
        try open("postgresql://app@0.0.0.0:\(try #require(server.port))/app?", "encrypted")
    }

    @Test func aCertificateThatDoesNotFitIsSaid() throws {
        let parameters = "sslmode=verify-full&sslrootcert=\(certificates.stranger.path)&"
        let url = "postgresql://app@localhost:\(try #require(server.port))/app?\(parameters)"
        let error = try #require(throws: NSError.self) { try open(url, "refused") }
        #expect(error.localizedDescription.contains("certificate verify failed"), "\(error)")
        #expect(error.localizedRecoverySuggestion?.contains("sslrootcert") == true, "\(error)")
    }

    // MARK: Large records

    /// The system does not report bytes as readable which the TLS library has read and the client
    /// library has not.
    @Test func recordsThatAreLargerThanPostgreSQLsAreReadToTheirEnd() throws {
        let proxy = try EncryptingProxy(server, certificates)
        let connection = try WireConnection.open(proxy.connectionString)
        #expect(connection.facts.isEncrypted)
        connection.longestSilence = 10
        // Answers of almost two records: a part of the second does not fit beside the row that the
        // first has begun.
        for size in stride(from: 1_000, to: 8_000, by: 500) {
            let rows = 32_600 / (size + 20)
            let statement = WireStatement("SELECT repeat('x', \(size)) FROM generate_series(1, \(rows))")
            var given = 0
            try connection.execute(statement) { given += Int($0.lengths[0]) }
            #expect(given == size * rows)
            given = 0
            try connection.executeAll([statement]) { given += Int($1.lengths[0]) }
            #expect(given == size * rows)
        }
    }
}
