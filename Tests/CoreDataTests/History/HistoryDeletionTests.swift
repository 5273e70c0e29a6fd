import CoreData
import TestSupport
import Testing

/// Deleting history, and tokens of what was deleted (behaviours 252 and 253).
@Suite(.stores(StoreKind.complete)) struct HistoryDeletionTests {
    let stack: RecordedStack
    let transactions: [NSPersistentHistoryTransaction]

    init() throws {
        let stack = try RecordedStack()
        for _ in 1...4 { try stack.save { stack.insert("Person", ["name": "p"]) } }
        transactions = try stack.transactions()
        self.stack = stack
    }

    private func numbers() throws -> [Int64] { try stack.transactions().map(\.transactionNumber) }

    @Test("252: the transaction itself is kept") func theTransactionItselfIsKept() throws {
        #expect(try stack.result(.deleteHistory(before: transactions[2])) as Bool)
        #expect(try stack.transactions() == Array(transactions[2...]))
        let changes: [NSPersistentHistoryChange] = try stack.result(.fetchHistory(after: .distantPast), .changesOnly)
        #expect(changes.map(\.words) == ["3 insert Person/p3", "4 insert Person/p4"])
    }

    @Test("252: history is deleted before a token, a date, or as a whole") func historyIsDeletedBeforeAPlace() throws {
        #expect(try stack.result(.deleteHistory(before: transactions[1].token), .count) as Int == 1)
        #expect(try numbers() == [2, 3, 4])
        let isDone: Bool = try stack.result(.deleteHistory(before: transactions[2].timestamp))
        #expect(isDone)
        #expect(try numbers() == [3, 4])
        let none: Bool = try stack.result(.deleteHistory(before: .distantPast))
        #expect(none)
        #expect(try numbers() == [3, 4])
        let all: Bool = try stack.result(.deleteHistory(before: .distantFuture))
        #expect(all)
        #expect(try numbers() == [])
        try stack.save { stack.insert("Thing") }
        #expect(try numbers() == [5])
        let token: NSPersistentHistoryToken? = nil
        let rest: Bool = try stack.result(.deleteHistory(before: token))
        #expect(rest)
        #expect(try numbers() == [])
    }

    @Test func rowsStayAsTheyAre() throws {
        _ = try stack.result(.deleteHistory(before: .distantFuture)) as Bool
        let count = try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        #expect(count == 4)
    }

    private func expectExpired(_ token: NSPersistentHistoryToken?, _ words: String) {
        let error = #expect(throws: CocoaError.self) { try stack.transactions(after: token) }
        #expect(error?.code.rawValue == NSPersistentHistoryTokenExpiredError)
        #expect(error?.localizedDescription.contains(words) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test("253: a token of deleted history is refused") func aTokenOfDeletedHistoryIsRefused() throws {
        _ = try stack.result(.deleteHistory(before: transactions[2])) as Bool
        expectExpired(transactions[0].token, "the first one that is kept is 3")
        // Nothing after these tokens is missing.
        #expect(try stack.transactions(after: transactions[1].token) == Array(transactions[2...]))
        #expect(try stack.transactions(after: transactions[2].token) == [transactions[3]])
        _ = try stack.result(.deleteHistory(before: .distantFuture)) as Bool
        expectExpired(transactions[2].token, "none is kept")
        #expect(try stack.transactions(after: transactions[3].token) == [])
        #expect(stack.token == transactions[3].token)
    }

    @Test("253: a token of what the store has not come to is refused") func aTokenOfTheFutureIsRefused() throws {
        let token = transactions[3].token
        let data = try JSONEncoder().encode(token)
        let text = try #require(String(data: data, encoding: .utf8)).replacingOccurrences(of: ":4", with: ":9")
        let later = try JSONDecoder().decode(NSPersistentHistoryToken.self, from: Data(text.utf8))
        expectExpired(later, "the last transaction of the store is 4")
    }

    @Test func aTokenOfAnotherStoreSaysNothing() throws {
        let other = try RecordedStack()
        try other.save { other.insert("Thing") }
        #expect(try stack.transactions(after: other.token) == transactions)
        #expect(try stack.result(.deleteHistory(before: other.token)) as Bool)
        #expect(try stack.transactions() == transactions)
    }

    @Test func onlyTheFirstTransactionsCanBeDeleted() throws {
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        let error = #expect(throws: CocoaError.self) { try stack.context.execute(request) }
        #expect(error?.localizedDescription.contains("only the first transactions can be deleted") == true)
        #expect(try stack.transactions() == transactions)
    }
}
