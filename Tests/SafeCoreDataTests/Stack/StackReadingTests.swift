import SafeCoreData
import TestSupport
import Testing

@testable import SafeCoreData

/// Reading from a stack.
struct StackReadingTests {
    let stack = DataStack(model: Shop.model())
    private let items = NSFetchRequest<ShopItem>(entityName: "Item")

    @MainActor @Test func aReadGivesViewsToTheMainActor() async throws {
        try await stack.insertItem("Bolt")
        let views: [ReadOnly<ShopItem>] = try await stack.read {
            try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item"))
        }
        #expect(views.map(\.name) == ["Bolt"])
    }

    @MainActor @Test func aReadFetchesByTheNameThatContextsHaveForIt() async throws {
        try await stack.insertItem("Bolt")
        let views = try await stack.read { try $0.fetch(readOnly: items) }
        #expect(views.map(\.name) == ["Bolt"])
    }

    @MainActor @Test func aReadElsewhereGivesValues() async throws {
        try await stack.insertItem("Bolt")
        let stack = stack
        let names = try await Task.detached {
            try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.name) }
        }.value
        #expect(names == ["Bolt"])
    }

    @MainActor @Test func aReadFindsAnObjectByItsID() async throws {
        let id = try await stack.insertItem("Bolt")
        let name = try await stack.read { try $0.object(with: id, as: ShopItem.self).name }
        #expect(name == "Bolt")
        let error = await #expect(throws: (any Error).self) {
            try await stack.read { _ = try $0.object(with: id, as: ShopLabel.self) }
        }
        #expect((error as NSError?)?.code == NSCoreDataError)
    }

    @MainActor @Test func readsSeeOneMainContext() async throws {
        try await stack.insertItem("Bolt")
        let first = try await stack.read { try $0.fetch(items) }
        let second = try await stack.read { try $0.fetch(items) }
        #expect(first == second)
    }

    @MainActor @Test func aGetterThatWritesIsReportedAndRolledBack() async throws {
        let id = try await stack.insertItem("Bolt")
        let error = await #expect(throws: DataStackError.self) {
            try await stack.read { context in
                for item in try context.fetch(items) { _ = item.soldOnceMore }
            }
        }
        #expect(error == .changedWhileReading(["Item \(id) (sold)"]))
        #expect(try await stack.read { try $0.fetch(items).map(\.sold) } == [0])
    }

    @MainActor @Test func aChangeOutsideOfAReadIsReportedByTheNext() async throws {
        try await stack.insertItem("Bolt")
        let view = try #require(try await stack.read { try $0.fetch(items) }.first)
        #expect(view.soldOnceMore == 1)
        await #expect(throws: DataStackError.self) { try await stack.read { _ in } }
        #expect(view.sold == 0)
        try await stack.read { _ in }
    }

    @MainActor @Test func aChangeDoesNotHideTheErrorOfTheBlock() async throws {
        struct Stop: Error {}
        try await stack.insertItem("Bolt")
        await #expect(throws: Stop.self) {
            try await stack.read { context in
                for item in try context.fetch(items) { _ = item.soldOnceMore }
                throw Stop()
            }
        }
        #expect(try await stack.read { try $0.fetch(items).map(\.sold) } == [0])
    }

    @MainActor @Test func theMainContextCannotBeSaved() async throws {
        try await stack.insertItem("Bolt")
        let view = try #require(try await stack.read { try $0.fetch(items) }.first)
        // What an extension of the class in a careless program can do.
        let context = try #require(view.object.managedObjectContext)
        view.object.sold = 5
        #expect(throws: DataStackError.savedWhileReading) { try context.save() }
        await #expect(throws: DataStackError.self) { try await stack.read { _ in } }
        let sold = try await stack.write { context in
            try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.sold)
        }
        #expect(sold == [0])
    }

    @MainActor @Test func aReadInsideOfAReadWorks() async throws {
        try await stack.insertItem("Bolt")
        let count = try await stack.read { _ in try stack.readNow { try $0.count(for: items) } }
        #expect(count == 1)
    }
}
