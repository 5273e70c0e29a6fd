import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Whether a save of tables of others was committed, as the server tells by the number of its
/// transaction and by one of its rows: a server that has crashed may have lost the transaction and
/// given the number to another one.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WitnessTests {
    private let shop: ExternalShop
    private let store: PostgreSQLStore
    private let backend: PostgreSQLBackend

    init() throws {
        shop = try ExternalShop()
        try shop.fill()
        store = try #require(shop.store as? PostgreSQLStore)
        backend = try store.backend()
    }

    /// A transaction that was committed, whoever has made it, as a save would know it.
    private func committed(_ key: Int64?, number: String?) throws -> PostgreSQLServerTransaction {
        let given = try #require(backend.external)
        let witness = key.map { PostgreSQLWitness(table: "tags", keyColumn: "id", key: $0) }
        return try backend.pool.withWire { connection in
            var transaction: PostgreSQLServerTransaction?
            try connection.execute(PostgreSQLTransactions.current(given, witness)) {
                transaction = PostgreSQLServerTransaction($0, witness)
            }
            let found = try #require(transaction)
            return PostgreSQLServerTransaction(
                number: found.number, server: found.server, witness: witness, witnessNumber: number)
        }
    }

    private func number(_ key: Int) throws -> String? { try shop.texts("SELECT xmin FROM tags WHERE id = \(key)")[0] }

    @Test func theRowThatWasWrittenShowsThatItIsSo() throws {
        #expect(try store.isCommitted(committed(1, number: number(1)), backend) == true)
        #expect(try store.isCommitted(committed(nil, number: nil), backend) == true)
    }

    @Test func aRowOfAnotherTransactionShowsNothing() throws {
        for (key, number) in [(Int64(1), "3"), (99, "3")] {
            let error = try #require(throws: PostgreSQLStore.UnknownOutcome.self) {
                try store.isCommitted(committed(key, number: number), backend)
            }
            #expect(error.reason.contains("the row \(key) of tags"), "\(error)")
        }
    }

    @Test func aRowThatIsStillThereDoesNotShowThatItWasDeleted() throws {
        #expect(throws: PostgreSQLStore.UnknownOutcome.self) {
            try store.isCommitted(committed(1, number: nil), backend)
        }
        #expect(try store.isCommitted(committed(99, number: nil), backend) == true)
    }

    /// Each kind of save names a row.
    @Test func aSaveNamesARowThatItHasWritten() throws {
        let layout = try #require(backend.mapping.layouts.layouts.first { $0.name == "Tag" })
        let change = RowChange(layout: layout, key: 2, base: nil, values: nil)
        for place in 0..<3 {
            var batch = SaveBatch()
            if place == 0 {
                batch.inserts = [change]
            } else if place == 1 {
                batch.updates = [change]
            } else {
                batch.deletes = [change]
            }
            let witness = try backend.pool.withWire { connection in
                try PostgreSQLSave(batch: batch, store: store, backend: backend, connection: connection).witness()
            }
            #expect(witness?.key == 2)
            #expect(witness?.table == "\"tags\"")
            #expect(witness?.keyColumn == "\"id\"")
        }
    }

    /// A save asks, beside its commit, for the values that the look-up compares: also where a
    /// savepoint gives its rows another number.
    @Test(arguments: ["insert", "update", "delete", "pairs"]) func savesWhoseAnswerIsLostAreKnown(change: String) throws
    {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let shop = try ExternalShop(through: proxy)
        try shop.fill()
        let context = shop.context
        try context.performAndWait {
            let products = try context.all("Product", by: "name")
            switch change {
            case "insert": _ = context.insert("Product", ["name": "new", "sku": "N1"])
            case "update": products[0].setValue("B9", forKey: "sku")
            case "delete": context.delete(products[2])
            default: products[0].setValue(Set(try context.all("Tag")), forKey: "tags")
            }
            try context.obtainPermanentIDs(for: Array(context.insertedObjects))
            for loses in [true, false] {
                let cuts = proxy.cuts
                if loses { proxy.conduct.losesCommit = true } else { proxy.conduct.dropsCommit = true }
                if !loses { products[1].setValue(Int.random(in: 100...999), forKey: "stock") }
                try context.save()
                #expect(proxy.cuts == cuts + 1)
                #expect(!context.hasChanges)
            }
        }
        let count = ["insert": "4", "delete": "2"][change] ?? "3"
        #expect(try shop.texts("SELECT count(*) FROM products") == [count])
    }
}
