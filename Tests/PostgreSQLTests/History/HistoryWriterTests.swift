import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Several writers and readers of one history.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct HistoryWriterTests {
    private static let writers = 8
    private static let saves = LongTests.areEnabled ? 200 : 25

    /// Has eight programs save tags of their own and one item of all, and calls a block meanwhile.
    ///
    /// - Returns: the number of saves.
    private func write(_ warehouse: Warehouse, meanwhile body: (_ isDone: () -> Bool) throws -> Void) throws -> Int {
        _ = warehouse.context.insert("Item", ["name": "of all"])
        try warehouse.context.save()
        let saved = Mutex(1)
        let done = Counter()
        let threads = try (0..<Self.writers).map { number in
            let context = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
            return OtherThread {
                defer { done.increase() }
                try context.performAndWait {
                    for round in 0..<Self.saves {
                        _ = context.insert("Tag", ["label": "\(number) \(round)"])
                        try context.save()
                        saved.withLock { $0 += 1 }
                    }
                    context.countItems(times: Self.saves / 5)
                    saved.withLock { $0 += Self.saves / 5 }
                }
            }
        }
        try body { done.value == Self.writers }
        for thread in threads { try thread.value() }
        return saved.withLock { $0 }
    }

    /// A transaction with a smaller number that is committed later would be missed.
    @Test func aReaderSeesEachTransactionOnce() throws {
        let warehouse = try RecordedWarehouse.make()
        let reader = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        var seen: [Int64] = []
        var changes: [Int64] = []
        var token: NSPersistentHistoryToken?
        func read() throws {
            for transaction in try reader.transactions(after: token) {
                seen.append(transaction.transactionNumber)
                changes += transaction.changes?.map(\.changeID) ?? []
                #expect(transaction.changes?.count == 1)
                token = transaction.token
            }
        }
        let count = try write(warehouse) { isDone in
            while !isDone() { try reader.performAndWait { try read() } }
        }
        try reader.performAndWait { try read() }
        #expect(seen == Array(1...Int64(count)))
        #expect(changes == Array(1...Int64(count)))
        let dates = try reader.performAndWait { try reader.transactions().map(\.timestamp) }
        #expect(dates == dates.sorted())
    }

    /// What a named reader has read is deleted behind it, by the writers.
    @Test func aNamedReaderMissesNothingThatIsDeletedBehindIt() throws {
        let description = NSPersistentStoreDescription()
        description.historyRetention = HistoryRetention(deletesReadTransactions: true)
        let warehouse = try RecordedWarehouse.make(options: description.options)
        let coordinator = warehouse.coordinator
        let reader = warehouse.context
        var token = try #require(try coordinator.historyToken(beginning: "reader"))
        var seen: [Int64] = []
        func read() throws {
            for transaction in try reader.transactions(after: token) {
                seen.append(transaction.transactionNumber)
                token = transaction.token
            }
            try coordinator.advanceHistoryReader("reader", to: token)
            try warehouse.saveTags(1)
        }
        let count = try write(warehouse) { isDone in while !isDone() { try read() } }
        try read()
        let rest = try reader.transactions(after: token).map(\.transactionNumber)
        #expect(count > 0)
        #expect(seen + rest == Array(1...Int64(seen.count + rest.count)))
        #expect(try reader.transactions().count < seen.count)
    }

    // MARK: Deleting

    /// Who holds the lock of those that delete.
    private func withLock(_ warehouse: Warehouse, _ body: () throws -> Void) throws {
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("SET search_path TO \(warehouse.schema); BEGIN")
        try connection.execute(PostgreSQLHistory.lock) { _ in }
        try body()
        try connection.run("ROLLBACK")
    }

    @Test func aStepOfARetentionWaitsForNobody() throws {
        let description = NSPersistentStoreDescription()
        description.historyRetention = HistoryRetention(maximumCount: 1)
        let warehouse = try RecordedWarehouse.make(options: description.options)
        try withLock(warehouse) {
            try warehouse.saveTags(40)
            #expect(try warehouse.context.transactions().count == 40)
        }
        try warehouse.saveTags(16)
        #expect(try warehouse.context.transactions().count < 20)
    }

    @Test func aSaveDoesNotWaitForThoseThatDelete() throws {
        let warehouse = try RecordedWarehouse.make(options: [NSPersistentStoreTimeoutOption: 2])
        try warehouse.saveTags(1)
        try withLock(warehouse) {
            try warehouse.saveTags(1)
            // Another deletion waits, and gives up.
            let error = try #require(throws: NSError.self) { try warehouse.context.deleteHistory(before: nil) }
            #expect(error.code == CocoaError.persistentStoreTimeout.rawValue, "\(error)")
        }
        try warehouse.context.deleteHistory(before: nil)
        #expect(try warehouse.context.transactions() == [])
    }

    // MARK: Following

    @Test func aRemoteChangeHasAToken() throws {
        let warehouse = try RecordedWarehouse.make(options: [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true
        ])
        let tokens = Mutex<[NSPersistentHistoryToken?]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: warehouse.coordinator, queue: nil
        ) { change in
            let token = change.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            tokens.withLock { $0.append(token) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let other = try warehouse.otherProgram(options: RecordedWarehouse.tracking)
        // The listener may not have begun yet.
        let isTold = try wait(upTo: 20) {
            _ = other.insert("Tag", ["label": "new"])
            try other.save()
            let last = try other.transactions().last?.token
            return wait(upTo: 1) { tokens.withLock { $0.contains(last) } }
        }
        #expect(isTold)
        #expect(!tokens.withLock { $0.contains(nil) })
    }

    /// Programs that write SQL are told of, and are no part of the history.
    @Test func writersOfSQLAreNotRecorded() throws {
        let warehouse = try RecordedWarehouse.make(options: [NSPostgreSQLTellsOfAllWritersOption: true])
        try warehouse.saveTags(1)
        try warehouse.run("INSERT INTO tag (label) VALUES ('by hand')")
        try warehouse.saveTags(1)
        #expect(try warehouse.texts("SELECT count(*) FROM ocd_transaction") == ["3"])
        #expect(try warehouse.context.transactions().map(\.transactionNumber) == [1, 2])
    }

    @Test func anAnnouncementIsReadWithAndWithoutANumberOfTheHistory() {
        let plain = PostgreSQLTransactions.Announcement("12 sender")
        #expect(plain?.number == 12)
        #expect(plain?.sender == "sender")
        #expect(plain?.history == nil)
        let recorded = PostgreSQLTransactions.Announcement("12 sender/7")
        #expect(recorded?.sender == "sender")
        #expect(recorded?.history == 7)
        #expect(PostgreSQLTransactions.Announcement("12 /")?.sender == "")
        #expect(PostgreSQLTransactions.Announcement("12") == nil)
    }
}
