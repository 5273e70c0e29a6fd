import SafeCoreData
import TestSupport
import Testing

/// Writing to a stack.
struct StackWritingTests {
    let folder: TemporaryFolder
    let url: URL
    let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("shop.sqlite")
        stack = DataStack(model: Shop.model(), store: .file(url))
    }

    @Test func aWriteIsSavedWhenItReturns() async throws {
        let id = try await stack.insertItem("Bolt")
        #expect(!id.isTemporaryID)
        #expect(try itemNames(in: url) == ["Bolt"])
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZITEM") == ["Bolt"])
    }

    @MainActor @Test func idsAndSnapshotsOfNewObjectsFindThemLater() async throws {
        let stack = DataStack(
            entities: Article.self, Vendor.self, Shelf.self, store: .file(folder.file("stock.sqlite")))
        let made = try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            let articles = ["Bolt", "Nut"].map { Article(context: context, name: $0, unitPrice: 1, vendor: vendor) }
            let ids = articles.map(\.objectID)
            // One that is made after the others have their IDs, and one that is gone again.
            let screw = Article(context: context, name: "Screw", unitPrice: 1)
            let nail = Article(context: context, name: "Nail", unitPrice: 1)
            let lost = nail.objectID
            context.delete(nail)
            return (ids: ids + [screw.objectID], lost: lost, vendor: vendor.snapshot(), article: articles[0].snapshot())
        }
        #expect(!made.ids.contains { $0.isTemporaryID })
        let names = try await stack.read { context in
            try made.ids.map { try context.object(with: $0, as: Article.self).name }
        }
        #expect(names == ["Bolt", "Nut", "Screw"])
        await #expect(throws: (any Error).self) {
            try await stack.read { try $0.object(with: made.lost, as: Article.self).name }
        }
        #expect(made.article.vendor == made.vendor.objectID)
        var changed = made.article
        changed.name = "Hex bolt"
        try await stack.write { [changed] context in _ = try context.apply(changed) }
        #expect(try await stack.read { try $0.object(with: made.ids[0], as: Article.self).name } == "Hex bolt")
        #expect(try await stack.read { try $0.count(Article.self) } == 3)
        #expect(SQLiteFile(folder.file("stock.sqlite")).column("SELECT COUNT(*) FROM ZARTICLE") == ["3"])
    }

    @Test func aStackGoesOnRecordingWhereAHistoryIs() async throws {
        func transactions() -> String? { SQLiteFile(url).value("SELECT count(*) FROM ATRANSACTION") }
        try await stack.insertItem("Bolt")
        #expect(SQLiteFile(url).value("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTION'") == "0")
        try await stack.close()
        var tracking = DataStackOptions()
        tracking.tracksHistory = true
        let tracked = DataStack(model: Shop.model(), store: .file(url), options: tracking)
        try await tracked.insertItem("Nut")
        try await tracked.close()
        #expect(transactions() == "1")
        let again = DataStack(model: Shop.model(), store: .file(url))
        try await again.insertItem("Screw")
        try await again.close()
        #expect(transactions() == "2")
    }

    @Test func aWriteGivesItsResult() async throws {
        #expect(try await stack.write { _ in 42 } == 42)
    }

    @MainActor @Test func aWriteIsMergedIntoTheMainContextWhenItReturns() async throws {
        try await stack.insertItem("Bolt")
        let view = try #require(
            try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) }.first)
        #expect(view.stockCount == 0)
        for count in Int16(1)...20 {
            try await stack.write(to: view) { _, item in item.stockCount = count }
            #expect(view.stockCount == count)
        }
    }

    @MainActor @Test func aDeletionIsMergedIntoTheMainContext() async throws {
        let id = try await stack.insertItem("Bolt")
        let view = try #require(
            try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) }.first)
        try await stack.write { context in try context.delete(context.object(with: id, as: ShopItem.self)) }
        #expect(view.managedObjectContext == nil)
        #expect(try await stack.itemNames() == [])
    }

    @Test func writesRunOneAfterTheOtherInTheOrderOfTheCalls() async throws {
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...50 {
                stack.write { context in
                    log.add("start \(number)")
                    let item = ShopItem(context: context)
                    item.name = "\(number)"
                    item.stockCount = Int16(try context.count(for: NSFetchRequest<ShopItem>(entityName: "Item")))
                    log.add("end \(number)")
                } completion: { _ in
                    if number == 50 { continuation.resume() }
                }
            }
        }
        #expect(log.all == (1...50).flatMap { ["start \($0)", "end \($0)"] })
        #expect(SQLiteFile(url).integer("SELECT COUNT(*) FROM ZITEM WHERE ZSTOCKCOUNT = CAST(ZNAME AS INTEGER)") == 50)
    }

    @MainActor @Test func asyncWritesRunInTheOrderOfTheCalls() async throws {
        for _ in 1...10 {
            let log = Log()
            var tasks: [Task<Void, any Error>] = []
            for number in 1...200 { tasks.append(Task { try await stack.write { _ in log.add("\(number)") } }) }
            for task in tasks { try await task.value }
            #expect(log.all == (1...200).map { "\($0)" })
        }
    }

    @Test func concurrentWritesLoseNothing() async throws {
        let id = try await stack.insertItem("Bolt")
        let stack = stack
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await stack.write { context in try context.object(with: id, as: ShopItem.self).sold += 1 }
                }
            }
            try await group.waitForAll()
        }
        #expect(SQLiteFile(url).integer("SELECT ZSOLD FROM ZITEM") == 100)
    }

    // MARK: Failing

    private struct Stop: Error {}

    @Test func aBlockThatThrowsLeavesNothing() async throws {
        let id = try await stack.insertItem("Bolt")
        await #expect(throws: Stop.self) {
            try await stack.write { context in
                try context.object(with: id, as: ShopItem.self).name = "Nut"
                let item = ShopItem(context: context)
                item.name = "Washer"
                throw Stop()
            }
        }
        #expect(try itemNames(in: url) == ["Bolt"])
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.insertItem("Screw")
        #expect(try itemNames(in: url) == ["Bolt", "Screw"])
    }

    @Test func aSaveThatFailsLeavesNothing() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await stack.write { context in
                let item = ShopItem(context: context)
                item.name = "Bolt"
                _ = ShopItem(context: context)
            }
        }
        #expect((error as NSError?)?.code == NSValidationMissingMandatoryPropertyError)
        #expect(try itemNames(in: url) == [])
        try await stack.insertItem("Screw")
        #expect(try itemNames(in: url) == ["Screw"])
    }

    @Test func aWriteCancelledBeforeItsTurnDoesNotRun() async throws {
        let stack = stack
        let gate = DispatchSemaphore(value: 0)
        stack.write { _ in
            gate.wait()
        } completion: { _ in
        }
        let task = Task { try await stack.insertItem("Bolt") }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stack.itemNames() == [])
    }

    @Test func aWriteCancelledWhileItRunsLeavesNothing() async throws {
        let stack = stack
        let running = DispatchSemaphore(value: 0)
        let task = Task {
            try await stack.write { context in
                let item = ShopItem(context: context)
                item.name = "Bolt"
                running.signal()
                #expect(wait { context.isCancelled })
            }
        }
        await running.arrive()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stack.itemNames() == [])
    }

    @Test func aConflictWithAnotherProgramIsResolvedByTheStacksPolicy() async throws {
        let id = try await stack.insertItem("Bolt")
        let url = url
        let file = SQLiteFile(url)
        func write(_ stack: DataStack, _ id: NSManagedObjectID) async throws {
            try await stack.write { context in
                let item = try context.object(with: id, as: ShopItem.self)
                item.name = "Nut"
                #expect(SQLiteFile(url).execute("UPDATE ZITEM SET ZNOTE = 'other', Z_OPT = Z_OPT + 1"))
            }
        }
        let error = await #expect(throws: (any Error).self) { try await write(stack, id) }
        #expect((error as NSError?)?.code == NSManagedObjectMergeError)
        #expect(file.value("SELECT ZNAME FROM ZITEM") == "Bolt")
        var options = DataStackOptions()
        options.mergePolicy = .mergeByPropertyObjectTrump
        let other = DataStack(model: Shop.model(), store: .file(url), options: options)
        let ids = try await other.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.objectID) }
        try await write(other, #require(ids.first))
        #expect(file.rows("SELECT ZNAME, ZNOTE FROM ZITEM") == [["Nut", "other"]])
    }

    // MARK: From views to objects

    @Test func theObjectBehindAViewCanBeWrittenInAWriteBlock() async throws {
        try await stack.insertItem("Bolt")
        try await stack.write { context in
            let views = try context.fetch(readOnly: NSFetchRequest<ShopItem>(entityName: "Item"))
            for view in views { try context.object(for: view).name += "s" }
        }
        #expect(try itemNames(in: url) == ["Bolts"])
    }

    @Test func anIDOfAnotherStackNamesTheSameRowIfItsStoreIsTheSame() async throws {
        let id = try await stack.insertItem("Bolt")
        let twin = DataStack(model: Shop.model(), store: .file(url))
        try await twin.write { context in try context.object(with: id, as: ShopItem.self).name = "Nut" }
        #expect(try itemNames(in: url) == ["Nut"])
        let other = DataStack(model: Shop.model(), store: .file(folder.file("other.sqlite")))
        try await other.insertItem("Screw")
        let error = await #expect(throws: (any Error).self) {
            try await other.write { context in try context.object(with: id, as: ShopItem.self).name = "Nut" }
        }
        #expect((error as NSError?)?.code == NSManagedObjectReferentialIntegrityError)
        #expect(try itemNames(in: folder.file("other.sqlite")) == ["Screw"])
    }

    @Test func anIDOfAnotherClassIsRefused() async throws {
        let id = try await stack.insertItem("Bolt")
        let error = await #expect(throws: (any Error).self) {
            try await stack.write { context in _ = try context.object(with: id, as: ShopLabel.self) }
        }
        #expect((error as NSError?)?.code == NSCoreDataError)
        #expect((error as NSError?)?.localizedDescription.contains("ShopLabel") == true)
    }

    @MainActor @Test func aViewWhoseObjectIsGoneCannotBeWritten() async throws {
        try await stack.insertItem("Bolt")
        let view = try #require(
            try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) }.first)
        try await stack.write(to: view) { context, item in context.delete(item) }
        let error = await #expect(throws: (any Error).self) {
            try await stack.write(to: view) { _, item in item.name = "Nut" }
        }
        #expect((error as NSError?)?.code == NSManagedObjectReferentialIntegrityError)
    }
}
