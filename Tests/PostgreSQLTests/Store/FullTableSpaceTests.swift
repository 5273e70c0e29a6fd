import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A server whose disk is full.
@Suite(
    .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"),
    .enabled(if: SmallFileSystem.reasonForNone == nil && geteuid() == 0, "needs a file system of its own"))
struct FullTableSpaceTests {
    @Test func aSaveThatFindsNoRoomSaysSoAndIsRepeatedLater() throws {
        let server = try PostgreSQLServer(smallSpace: 8_192)
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("CREATE TABLESPACE small LOCATION '\(server.smallSpace)'")
        try connection.run("ALTER DATABASE \(server.database) SET default_tablespace = small")
        let warehouse = try Warehouse(on: server)
        try warehouse.run("CREATE TABLE others AS SELECT repeat('x', 1000) FROM generate_series(1, 3000)")
        let context = warehouse.context
        var saved = 0
        try context.performAndWait {
            var refused: NSError?
            while refused == nil, saved < 100_000 {
                for number in 0..<500 {
                    _ = context.insert("Item", ["name": "\(number)", "data": Data(repeating: 1, count: 100)])
                }
                do {
                    try context.save()
                    saved += 500
                } catch { refused = error as NSError }
            }
            #expect(refused?.code == CocoaError.Code.fileWriteOutOfSpace.rawValue, "\(String(describing: refused))")
            #expect(refused?.localizedRecoverySuggestion?.contains("full") == true)
            #expect(refused?.userInfo["SQLSTATE"] as? String == "53100")
            #expect(context.insertedObjects.count == 500)
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["\(saved)"])
            // Room is made, and nothing of what was to be saved is lost.
            try warehouse.run("DROP TABLE others")
            try context.save()
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["\(saved + 500)"])
        }
        #expect(saved > 0)
    }
}
