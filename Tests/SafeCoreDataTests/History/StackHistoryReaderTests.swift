import SafeCoreData
import TestSupport
import Testing

/// Loops over a history that keep their place.
struct StackHistoryReaderTests {
    private static func titles(_ stack: DataStack, _ transaction: NSPersistentHistoryTransaction?) async throws
        -> [String]
    {
        var titles: [String] = []
        for case .inserted(let objectID) in transaction?.changes(of: Asset.self) ?? [] {
            titles.append(try await stack.query { try $0.object(with: objectID, as: Asset.self).title })
        }
        return titles
    }

    @Test(arguments: StoreKind.allCases) func aLoopGetsWhatIsThereAndWhatComes(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        for title in ["a", "b"] { try await shop.stack.insertAsset(title) }
        let stack = shop.stack
        let reading = Task {
            var read: [String] = []
            for try await transaction in stack.history(reader: "loop") {
                read += try await Self.titles(stack, transaction)
                if read.count == 2 { try await stack.insertAsset("c") }
                if read.count == 4 { return read }
            }
            return read
        }
        // The loop waits for this one, or finds it.
        try await shop.stack.insertAsset("d")
        #expect(Set(try await reading.value) == ["a", "b", "c", "d"])
    }

    @Test(arguments: StoreKind.persistent) func aReaderGoesOnWhereItWas(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        for title in ["a", "b", "c"] { try await shop.stack.insertAsset(title) }
        var first = shop.stack.history(reader: "uploader").makeAsyncIterator()
        #expect(try await first.next()?.transactionNumber == 1)
        #expect(try await first.next()?.transactionNumber == 2)
        try await shop.stack.close()
        try await shop.stack.reopen()
        // The second was not finished: it comes again.
        var second = shop.stack.history(reader: "uploader").makeAsyncIterator()
        #expect(try await second.next()?.transactionNumber == 2)
        #expect(try await second.next()?.transactionNumber == 3)
        var other = shop.stack.history(reader: "indexer").makeAsyncIterator()
        #expect(try await other.next()?.transactionNumber == 1)
    }

    @Test(arguments: StoreKind.persistent) func aReaderHearsOfOtherStacks(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let other = shop.other()
        try await other.opened()
        var transactions = shop.stack.history(reader: "loop").makeAsyncIterator()
        try await other.insertAsset("a")
        #expect(try await Self.titles(shop.stack, transactions.next()) == ["a"])
        try await other.insertAsset("b")
        #expect(try await Self.titles(shop.stack, transactions.next()) == ["b"])
    }

    @Test(arguments: StoreKind.allCases) func closingEndsALoop(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let stack = shop.stack
        try await stack.insertAsset("a")
        let began = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            var count = 0
            for try await _ in stack.history(reader: "loop") {
                count += 1
                began.continuation.yield()
            }
            return count
        }
        var beginning = began.stream.makeAsyncIterator()
        await beginning.next()
        try await stack.close()
        #expect(try await reading.value == 1)
    }

    @Test(arguments: StoreKind.persistent) func cancellingEndsALoop(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let stack = shop.stack
        let reading = Task {
            for try await _ in stack.history(reader: "loop") {}
        }
        try await stack.opened()
        reading.cancel()
        let outcome = await reading.result
        if case .failure(let error) = outcome { #expect(error is CancellationError) }
    }

    @Test func aReleasedStackEndsALoop() async throws {
        var shop: RecordedShop? = try RecordedShop(.inMemory)
        var transactions = try #require(shop?.stack.history(reader: "loop").makeAsyncIterator())
        try await shop?.stack.insertAsset("a")
        #expect(try await transactions.next() != nil)
        shop = nil
        #expect(try await transactions.next() == nil)
    }

    @Test(arguments: StoreKind.allCases) func releasingAStackEndsALoopThatWaits(kind: StoreKind) async throws {
        var shop: RecordedShop? = try RecordedShop(kind)
        try await shop?.stack.insertAsset("a")
        let read = AsyncStream.makeStream(of: Void.self)
        let waiting = Task { [weak stack = shop?.stack] in
            guard var iterator = stack?.history(reader: "loop").makeAsyncIterator() else { return }
            while try await iterator.next() != nil { read.continuation.yield() }
        }
        var reads = read.stream.makeAsyncIterator()
        await reads.next()
        // Until the loop has asked for the next one, and waits.
        try await Task.sleep(for: .milliseconds(50))
        shop = nil
        try await waiting.value
    }

    @Test(arguments: StoreKind.allCases) func aRemovedReaderIsNotMadeAgainByItsLoop(kind: StoreKind)
        async throws
    {
        let shop = try RecordedShop(kind)
        for title in ["a", "b", "c"] { try await shop.stack.insertAsset(title) }
        var loop = shop.stack.history(reader: "loop").makeAsyncIterator()
        #expect(try await loop.next()?.transactionNumber == 1)
        #expect(try await loop.next()?.transactionNumber == 2)
        try await shop.stack.removeHistoryReader("loop")
        #expect(try await loop.next()?.transactionNumber == 3)
        var again = shop.stack.history(reader: "loop").makeAsyncIterator()
        #expect(try await again.next()?.transactionNumber == 1)
    }

    @Test(arguments: StoreKind.persistent) func aSlowLoopDoesNotMoveAReaderBack(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        for title in ["a", "b", "c"] { try await shop.stack.insertAsset(title) }
        var slow = shop.stack.history(reader: "loop").makeAsyncIterator()
        var fast = shop.stack.history(reader: "loop").makeAsyncIterator()
        #expect(try await slow.next()?.transactionNumber == 1)
        for number in 1...3 { #expect(try await fast.next()?.transactionNumber == Int64(number)) }
        #expect(try await slow.next()?.transactionNumber == 2)
        var next = shop.stack.history(reader: "loop").makeAsyncIterator()
        #expect(try await next.next()?.transactionNumber == 3)
    }

    @Test(arguments: StoreKind.persistent) func aReaderHoldsTheHistory(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind) { $0.historyRetention = HistoryRetention(maximumCount: 1) }
        var transactions = shop.stack.history(reader: "slow").makeAsyncIterator()
        try await shop.stack.insertAsset("first")
        #expect(try await transactions.next()?.transactionNumber == 1)
        for _ in 1...50 { try await shop.stack.insertAsset("a") }
        for number in 2...51 { #expect(try await transactions.next()?.transactionNumber == Int64(number)) }
        try await shop.stack.removeHistoryReader("slow")
        for _ in 1...20 { try await shop.stack.insertAsset("a") }
        #expect(try await shop.stack.history(after: nil).count < 20)
    }
}
