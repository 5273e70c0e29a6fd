import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// The tests' own server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct PostgreSQLServerTests {
    @Test func itsURLsAreURLs() throws {
        let server = try WireConnection.server()
        let name = server.newSchemaName()
        let url = server.url(schema: name)
        #expect(url.absoluteString == "postgresql:///app?host=\(server.socketFolder)&user=app&ocd.schema=\(name)")
        #expect(URL(string: url.absoluteString) == url)
        #expect(server.newSchemaName() != name)
    }

    @Test(.needsICU) func itHasCollationsOfICU() throws {
        #expect(try WireConnection.open().texts("SELECT 'ÄSOP' COLLATE \"und-x-icu\" < 'B'").count == 1)
    }

    /// A child of this process that nobody waits for would keep Swift Testing from seeing others
    /// end.
    @Test(.enabled(if: Pooler.program != nil, "needs PgBouncer")) func aPoolerIsNoChildAndGoesWithItsObject() throws {
        let folder: String
        do {
            let pooler = try Pooler(WireConnection.server())
            let url = URLComponents(url: pooler.url(schema: "any"), resolvingAgainstBaseURL: false)
            folder = try #require(url?.queryItems?.first?.value)
            let parents = try parents(ofProcessesThatName: folder)
            #expect(!parents.isEmpty)
            #expect(!parents.contains(getpid()))
        }
        #expect(wait(upTo: 20) { !FileManager.default.fileExists(atPath: folder) })
    }

    private func parents(ofProcessesThatName argument: String) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(pid_t.init).compactMap { process in
            // A process may end meanwhile.
            guard let words = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8),
                words.contains(argument),
                let facts = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
                let line = facts.split(separator: "\n").first(where: { $0.hasPrefix("PPid:") })
            else { return nil }
            return pid_t(line.dropFirst(5).trimmingCharacters(in: .whitespaces))
        }
    }

    @Test func anotherProcessHasAnotherServerWhichGoesWithIt() throws {
        let server = try WireConnection.server()
        let run = try ProgramRun(OtherProgram.url, ["postgresql"])
        let folder = run.output
        #expect(folder.hasPrefix("/tmp/"))
        #expect(folder != server.socketFolder)
        // The program was killed, so somebody else has to remove it, who needs a moment.
        #expect(wait { !FileManager.default.fileExists(atPath: folder) })
        #expect(try WireConnection.open().isUsable)
    }
}
