import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A transaction that reads for long, as a dump does, beside saves.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LongReaderTests {
    /// The server keeps every version of a row that such a reader might see, and whoever looks for
    /// the row passes all of them.
    @Test func savesLeaveNoVersionsOfTheStoresRow() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Item", ["name": "first"])
            try context.save()
            let reader = try WireConnection.open()
            defer { reader.close() }
            try reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            _ = try reader.texts("SELECT count(*)::text FROM \(warehouse.schema).item")
            let place = "SELECT xmin::text || ctid FROM ocd_store"
            let before = try warehouse.texts(place)
            for number in 0..<200 {
                _ = context.insert("Item", ["name": "\(number)"])
                try context.save()
            }
            #expect(try warehouse.texts(place) == before)
            #expect(try reader.texts("SELECT count(*)::text FROM \(warehouse.schema).item") == ["1"])
        }
        #expect(
            try warehouse.texts("SELECT count(*) || ' ' || min(number) || ' ' || max(number) FROM ocd_transaction") == [
                "201 1 201"
            ])
    }

    /// A store of an earlier program, whose numbers were kept in its row.
    @Test func numbersGoOnFromThoseInTheStoresRow() throws {
        let warehouse = try Warehouse()
        try warehouse.run("UPDATE ocd_store SET last_transaction = 41")
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            for name in ["a", "b"] {
                _ = context.insert("Item", ["name": name])
                try context.save()
            }
        }
        #expect(try warehouse.texts("SELECT number FROM ocd_transaction ORDER BY 1") == ["42", "43"])
    }
}
