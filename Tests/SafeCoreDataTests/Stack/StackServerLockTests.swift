import SafeCoreData
import TestSupport
import Testing

/// Stacks on a server where another program holds what they want.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct StackServerLockTests {
    private let shop: ServerShop
    private let stack: DataStack

    init() throws {
        shop = try ServerShop()
        stack = shop.stack()
    }

    /// Holds the whole table, so that nobody reads or writes it.
    private func holdTable() { #expect(shop.tables.execute("BEGIN; LOCK TABLE item IN ACCESS EXCLUSIVE MODE")) }

    /// Holds the rows, so that everybody reads and nobody writes them.
    private func holdRows() { #expect(shop.tables.execute("BEGIN; UPDATE item SET note = 'held'")) }

    private func letGo() { #expect(shop.tables.execute("ROLLBACK")) }

    /// A write that renames the item and waits for its row when it is saved.
    private func rename(_ id: NSManagedObjectID, to name: String) -> Task<Void, any Error> {
        let stack = stack
        return Task { try await stack.write { try $0.object(with: id, as: ShopItem.self).name = name } }
    }

    /// A write that makes an item and then waits for the table, because it fetches.
    private func insertAndFetch(_ name: String) -> Task<Void, any Error> {
        let stack = stack
        return Task {
            try await stack.write { context in
                let item = ShopItem(context: context)
                item.name = name
                _ = try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item"))
            }
        }
    }

    private func aStatementWaits() async -> Bool {
        await withCheckedContinuation { continuation in shop.whenAStatementWaits { continuation.resume(returning: $0) }
        }
    }

    // MARK: Cancelling

    @Test func aWriteWhoseFetchWaitsEndsWithItsTask() async throws {
        try await stack.insertItem("Bolt")
        holdTable()
        let task = insertAndFetch("Nut")
        shop.whenAStatementWaits { _ in task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        // It ended although the table is still held.
        letGo()
        #expect(shop.names == ["Bolt"])
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.insertItem("Screw")
        #expect(shop.names == ["Bolt", "Screw"])
        try await stack.close()
    }

    /// The one behind it has its turn when the first one ends.
    @Test func aWriteBehindOneThatIsCancelledIsServed() async throws {
        try await stack.insertItem("Bolt")
        holdTable()
        let task = insertAndFetch("Nut")
        #expect(await aStatementWaits())
        let stack = stack
        let next = Task { try await stack.insertItem("Screw") }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        letGo()
        _ = try await next.value
        #expect(shop.names == ["Bolt", "Screw"])
        try await stack.close()
    }

    /// Once the save has begun, cancelling has no effect.
    @Test func aWriteWhoseSaveWaitsIsSavedAlthoughItsTaskIsCancelled() async throws {
        let id = try await stack.insertItem("Bolt")
        holdRows()
        let task = rename(id, to: "Nut")
        #expect(await aStatementWaits())
        task.cancel()
        letGo()
        try await task.value
        #expect(shop.names == ["Nut"])
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.close()
    }

    // MARK: Reading

    @MainActor @Test func readsGoOnWhileAWriteWaits() async throws {
        let id = try await stack.insertItem("Bolt")
        let views = try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) }
        holdRows()
        let task = rename(id, to: "Nut")
        #expect(await aStatementWaits())
        #expect(try await stack.itemNames() == ["Bolt"])
        let names = try stack.readNow { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.name) }
        #expect(names == ["Bolt"])
        #expect(views.map(\.name) == ["Bolt"])
        // All that was read while the write waited.
        #expect(shop.waitingStatements == 1)
        letGo()
        try await task.value
        #expect(views.map(\.name) == ["Nut"])
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.close()
    }

    @MainActor @Test func writesOfOthersAreReadWhileAWriteWaits() async throws {
        let id = try await stack.insertItem("Bolt")
        let other = shop.stack()
        try await other.opened()
        holdRows()
        let task = rename(id, to: "Nut")
        #expect(await aStatementWaits())
        try await other.insertItem("Screw")
        #expect(try await stack.itemNames() == ["Bolt", "Screw"])
        #expect(shop.waitingStatements == 1)
        letGo()
        try await task.value
        #expect(try await other.itemNames() == ["Nut", "Screw"])
        try await stack.close()
        try await other.close()
    }

    // MARK: Tasks of others

    enum Request: CaseIterable {
        case read, write

        func run(on stack: DataStack) async throws {
            switch self {
            case .read: _ = try await stack.itemNames()
            case .write: try await stack.insertItem("Nut")
            }
        }
    }

    /// Whether something comes to pass so often, of which somebody signals each time. Who waits for
    /// ever would say nothing.
    private func happens(_ event: DispatchSemaphore, _ times: Int = 1) -> Bool {
        let deadline = DispatchTime.now() + .seconds(120)
        return (0..<times).allSatisfy { _ in event.wait(timeout: deadline) == .success }
    }

    /// However many there are, and tasks of their priority find a thread to run in.
    @Test(arguments: Request.allCases) func requestsThatWaitHoldNoThreadThatTasksShare(request: Request) async throws {
        try await stack.insertItem("Bolt")
        holdTable()
        let stack = stack
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        let begun = DispatchSemaphore(value: 0)
        let tasks = (0..<count).map { _ in
            Task.detached(priority: .utility) {
                begun.signal()
                try await request.run(on: stack)
            }
        }
        #expect(await aStatementWaits())
        #expect(happens(begun, count))
        let isServed = DispatchSemaphore(value: 0)
        Task.detached(priority: .utility) { isServed.signal() }
        #expect(happens(isServed))
        #expect(shop.waitingStatements == 1)
        letGo()
        for task in tasks { try await task.value }
        #expect(shop.names.count == (request == .write ? count + 1 : 1))
        try await stack.close()
    }

    // MARK: Closing

    /// Writes that were requested before the stack is closed are completed.
    @Test func closingWaitsForAWriteThatWaits() async throws {
        let id = try await stack.insertItem("Bolt")
        holdRows()
        let task = rename(id, to: "Nut")
        #expect(await aStatementWaits())
        let stack = stack
        let closing = Task { try await stack.close() }
        letGo()
        try await task.value
        try await closing.value
        #expect(shop.names == ["Nut"])
        await #expect(throws: DataStackError.closed) { try await stack.write { _ in } }
        try await stack.reopen()
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.close()
    }

    /// A cancelled write no longer waits for the lock of the other program.
    @Test func closingEndsWhenTheWriteThatWaitsIsCancelled() async throws {
        try await stack.insertItem("Bolt")
        holdTable()
        let task = insertAndFetch("Nut")
        #expect(await aStatementWaits())
        let stack = stack
        let closing = Task { try await stack.close() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await closing.value
        letGo()
        #expect(shop.names == ["Bolt"])
        try await stack.reopen()
        try await stack.insertItem("Screw")
        #expect(shop.names == ["Bolt", "Screw"])
        try await stack.close()
    }
}
