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
