import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Servers that refuse a connection in another language than English.
struct LocalizedRefusalTests {
    @Test(arguments: [
        "FATAL:  28P01: password authentication failed for user \"app\"",
        "ВАЖНО:  28P01: пользователь \"app\" не прошёл проверку",
        "KATASTROFALNY:  28P01: uwierzytelnienie hasłem", "FATALE:  28P01: autenticazione fallita",
        "致命错误:  28P01: 用户 \"app\"",
        "connection to server at \"x:  y\", port 5432 failed: FATALT:  28P01: fel\nconnection failed: ÖLÜMCÜL "
            + "(FATAL):  28P01: x\n",
    ])
    func theCodeIsRead(message: String) { #expect(LibPQDriver.sqlState(in: message) == "28P01") }

    @Test(arguments: [
        "connection to server on socket \"/x/.s.PGSQL.5432\" failed: No such file or directory",
        "FATAL:  password authentication failed",
        "FATAL: 28P01: one blank", "FATAL:  28p01: small letters", "FATAL:  28P012: too long", "",
    ])
    func whatHasNoCodeGivesNone(message: String) { #expect(LibPQDriver.sqlState(in: message) == nil) }

    /// A server that says no to everyone, in its own words.
    @Test(arguments: ["FATAL", "ВАЖНО", "FATALE", "エラー"]) func aRefusalIsUnderstood(severity: String) throws {
        let server = try RefusingServer(severity: severity, code: "28P01", message: "пароль")
        let error = try #require(throws: WireError.self) {
            let place = "host=\(server.folder) user=app dbname=app sslmode=disable connect_timeout=5"
            _ = try LibPQDriver.connect(WireTarget(connection: place))
        }
        #expect(error.sqlState == "28P01", "\(error)")
        #expect(error.isConnectionLost, "\(error)")
        #expect(error.message.contains("пароль"), "\(error)")
    }
}

/// Refuses each connection to its socket.
private final class RefusingServer: Sendable {
    let folder: String
    private let listener: Int32

    init(severity: String, code: String, message: String) throws {
        folder = "/tmp/ocd-refusal-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        listener = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = "\(folder)/.s.PGSQL.5432"
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(isBound == 0)
        try #require(listen(descriptor, 8) == 0)
        // Fields of an error: the severity in the server's language, its English name, the code and
        // the message.
        var fields: [UInt8] = []
        for field in ["S" + severity, "VFATAL", "C" + code, "M" + message] { fields += Array(field.utf8) + [0] }
        fields.append(0)
        let length = withUnsafeBytes(of: UInt32(fields.count + 4).bigEndian) { Array($0) }
        let answer: [UInt8] = [UInt8(ascii: "E")] + length + fields
        let thread = Thread {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 4096)
                _ = recv(client, &request, request.count, 0)
                _ = answer.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                close(client)
            }
        }
        thread.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
