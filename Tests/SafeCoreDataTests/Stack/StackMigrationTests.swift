import SafeCoreData
import Synchronization
import TestSupport
import Testing

@testable import SafeCoreData

/// The former version of ``StackProduct``.
@Entity("StackItem") final class StackFormerItem: NSManagedObject {
    var title: String
    var amount: Int = 0
    @Relationship(inverse: \StackShelf.items) var place: StackShelf?
}

@Entity("StackShelf") final class StackShelf: NSManagedObject {
    var name: String
    @Relationship var items: Set<StackFormerItem>
}

@Entity("StackProduct", renamingIdentifier: "StackItem") final class StackProduct: NSManagedObject {
    @Attribute(originalName: "title") var name: String
    @Attribute(originalName: "amount") var count: Int = 0
    var unit: String = "kg"
    @Relationship(inverse: \StackStorage.products, originalName: "place") var storage: StackStorage?
}

@Entity("StackStorage", renamingIdentifier: "StackShelf") final class StackStorage: NSManagedObject {
    var name: String
    @Relationship(originalName: "items") var products: Set<StackProduct>
}

/// Stacks that bring stores of other versions of the model up to date.
struct StackMigrationTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("shop.sqlite")
    }

    private func fill(_ count: Int = 3) async throws {
        let stack = DataStack(entities: StackFormerItem.self, store: .file(url))
        try await stack.write { context in
            let shelf = StackShelf(context: context, name: "Shelf")
            for number in 0..<count {
                let item = StackFormerItem(context: context, title: "Item \(number)", amount: number)
                item.place = shelf
            }
        }
        try await stack.close()
    }

    @Test func originalNamesLeadToTheFormerProperties() async throws {  // 280
        try await fill()
        let stack = DataStack(entities: StackProduct.self, store: .file(url))
        let products = try await stack.read { context in
            try context.fetch(StackProduct.self, sortBy: [.ascending(\.name)]).map {
                "\($0.name) \($0.count) \($0.unit) \($0.storage?.name ?? "none")"
            }
        }
        #expect(products == ["Item 0 0 kg Shelf", "Item 1 1 kg Shelf", "Item 2 2 kg Shelf"])
        try await stack.close()
        #expect(
            SQLiteFile(url).column("SELECT ZNAME FROM ZSTACKPRODUCT ORDER BY Z_PK") == ["Item 0", "Item 1", "Item 2"])
    }

    @Test func theStatesShowHowFarTheMigrationIs() async throws {
        try await fill(12_000)
        let gate = DispatchSemaphore(value: 0)
        let stack = DataStack(store: .file(url), options: DataStackOptions()) {
            gate.wait()
            return NSManagedObjectModel(entities: StackProduct.self)
        }
        let states = stack.states
        gate.signal()
        var seen: [String] = []
        var fractions: [Double] = []
        for await state in states {
            switch state {
            case .opening: seen.append("opening")
            case .migrating(let fraction):
                if seen.last != "migrating" { seen.append("migrating") }
                fractions.append(fraction)
            case .open: seen.append("open")
            case .failed: seen.append("failed")
            case .closed: seen.append("closed")
            }
            if state.isSettled { break }
        }
        #expect(seen == ["opening", "migrating", "open"])
        #expect(fractions.first == 0)
        #expect(fractions.last == 1)
        #expect(fractions.count > 5)
        #expect(fractions == fractions.sorted())
        #expect(Set(fractions).count == fractions.count)
        try await stack.close()
        let again = DataStack(entities: StackProduct.self, store: .file(url))
        try await again.opened()
        guard case .open = again.state else {
            Issue.record("the state is \(again.state)")
            return
        }
    }

    @Test func callersWaitForTheMigrationAndAreServedInOrder() async throws {
        try await fill()
        let stack = DataStack(entities: StackProduct.self, store: .file(url))
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...10 {
                stack.whenOpen { result in
                    if case .success = result { log.add("\(number)") }
                    if number == 10 { continuation.resume() }
                }
            }
        }
        #expect(log.all == (1...10).map { "\($0)" })
        let count = try await stack.read { try $0.count(for: NSFetchRequest<StackProduct>(entityName: "StackProduct")) }
        #expect(count == 3)
    }

    @Test func everyCallerGetsTheErrorOfAMigrationThatFails() async throws {  // 283
        try await fill()
        let other = NSManagedObjectModel([
            NSEntityDescription(
                "StackItem", class: "NSManagedObject", [NSAttributeDescription("title", .dateAttributeType)]),
            NSEntityDescription(
                "StackShelf", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)]),
        ])
        let stack = DataStack(model: other, store: .file(url))
        for _ in 0..<3 {
            let error = await #expect(throws: CocoaError.self) { try await stack.opened() }
            #expect(error?.code == .inferredMappingModel)
        }
        await #expect(throws: CocoaError.self) { try await stack.write { _ in } }
        guard case .failed = stack.state else {
            Issue.record("the state is \(stack.state)")
            return
        }
        let former = DataStack(entities: StackFormerItem.self, store: .file(url))
        let count = try await former.read {
            try $0.count(for: NSFetchRequest<StackFormerItem>(entityName: "StackItem"))
        }
        #expect(count == 3)
    }

    @Test func aStackThatDoesNotMigrateLeavesTheStore() async throws {  // 275
        try await fill()
        var options = DataStackOptions()
        options.migratesAutomatically = false
        let stack = DataStack(entities: StackProduct.self, store: .file(url), options: options)
        let error = await #expect(throws: CocoaError.self) { try await stack.opened() }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    }
}

extension DataStack.State {
    fileprivate var isSettled: Bool {
        switch self {
        case .opening, .migrating: false
        case .open, .failed, .closed: true
        }
    }
}
