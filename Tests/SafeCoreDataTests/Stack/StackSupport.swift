import SafeCoreData
import Synchronization
import TestSupport

@testable import SafeCoreData

/// A list that several threads append to.
final class Log: Sendable {
    /// Guards the entries.
    private let entries = Mutex<[String]>([])

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    var all: [String] { entries.withLock { $0 } }
}

/// A model that is not read before somebody says so.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// A stack of the shop's model that waits for the gate.
    func stack(_ store: StoreLocation = .inMemory) -> DataStack {
        DataStack(store: store, options: DataStackOptions()) {
            self.semaphore.wait()
            self.semaphore.signal()
            return Shop.model()
        }
    }
}

extension DataStack {
    /// The names of all items, in order, as the main context sees them.
    func itemNames() async throws -> [String] {
        try await read { context in
            try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.name).sorted()
        }
    }

    @discardableResult
    nonisolated(nonsending) func insertItem(_ name: String) async throws -> NSManagedObjectID {
        try await write { context in
            let item = ShopItem(context: context)
            item.name = name
            return item.objectID
        }
    }
}

/// The names of all items in a file, as another stack sees them.
func itemNames(in url: URL) throws -> [String] {
    let coordinator = try Shop.coordinator(.sqlite, at: url)
    let context = coordinator.newContext()
    return try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.name).sorted()
}
