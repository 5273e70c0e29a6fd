import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A store whose answers a test writes, in place of every database: what the parts of a context are
/// tried with, one by one.
final class ScriptedStore: NSPersistentStore, @unchecked Sendable {
    // Sendable: each test uses its own, on one thread.

    static let storeType = NSPersistentStore.StoreType(rawValue: "ScriptedStore")

    private(set) var rows: ScriptedRows?

    override var snapshotStore: (any SnapshotStore)? { rows }
    override var type: String { Self.storeType.rawValue }
    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }
    override func prepareForRequests() throws { rows = modelLayout.map(ScriptedRows.init) }
    override class func hasFile(at url: URL) -> Bool { false }
}

/// Rows that a test has written down, and what was asked of them.
final class ScriptedRows: SnapshotStore, @unchecked Sendable {
    // Sendable: each test uses its own, on one thread.

    let rowCaches: [RowCache]
    private let layouts: ModelLayout

    /// The rows of every fetch, in this order, and of reads by key.
    var rows: [Snapshot] = []
    /// The errors of the next saves, one after the other; later saves succeed.
    var failures: [any Error] = []
    /// The next key that is handed out.
    var nextKey: Int64 = 100

    private(set) var fetches: [StoreFetch] = []
    /// The batches that saves were to write, whether they failed or not.
    private(set) var saves: [SaveBatch] = []
    private(set) var commits = 0

    init(layouts: ModelLayout) {
        self.layouts = layouts
        rowCaches = layouts.layouts.map { _ in RowCache() }
    }

    /// Makes a row; attributes that are not named are nil.
    func row(_ entity: String, _ key: Int64, version: Int64 = 1, _ values: [String: StoredValue]) throws -> Snapshot {
        let layout = try #require(layouts.layoutByName[entity])
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        let row = builder.appendRow(key: key, version: version)
        for slot in 0..<layout.storedCount { builder.set(row, slot, values[layout.slots[slot].name] ?? .null) }
        return Snapshot(row: row, page: builder.page)
    }

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        fetches.append(plan)
        let found = rows.filter { !plan.excludedKeys.contains($0.key) }
        switch plan.shape {
        case .rows: return .rows(publish(found))
        case .references:
            return .references(
                FetchedReferences(found.map { RowReference(key: $0.key, layoutIndex: $0.row.rowLayoutIndex) }))
        case .count: return .count(found.count)
        case .dictionaries: return .dictionaries([])
        }
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        publish(rows.filter { keys.contains($0.key) })
    }

    private func publish(_ found: [Snapshot]) -> FetchedRows {
        for row in found { rowCaches[row.layout.rootIndex].insert([row.page]) }
        return FetchedRows(found)
    }

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        FetchedRows()
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        RelatedRows()
    }

    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        defer { nextKey += Int64(count) }
        return nextKey
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch) {} }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        saves.append(batch)
        if !failures.isEmpty { throw failures.removeFirst() }
        try others()
        commits += 1
        var outcome = SaveOutcome()
        outcome.inserted = publish(try batch.inserts.map(written))
        outcome.updated = publish(try batch.updates.map(written))
        return outcome
    }

    /// The row that a change makes.
    private func written(_ change: RowChange) throws -> Snapshot {
        var values: [String: StoredValue] = [:]
        for slot in change.layout.slots.prefix(change.layout.storedCount) {
            values[slot.name] =
                change.values?.has(slot.index) == true ? change.values?[slot.index] : change.base?.value(slot.index)
        }
        return try row(change.layout.name, change.key, version: (change.base?.version ?? 0) + 1, values)
    }
}

extension StoredValue {
    /// The value to compare it with what is expected; a reference as its key. The values of these
    /// tests are of no other kinds.
    var text: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .reference(let reference): String(reference.key)
        default: nil
        }
    }
}

/// Contexts of the library on scripted stores.
struct ScriptedStack {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let stores: [ScriptedStore]

    init(stores count: Int = 1) throws {
        NSPersistentStoreCoordinator.registerStoreClass(ScriptedStore.self, type: ScriptedStore.storeType)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        var stores: [ScriptedStore] = []
        for number in 0..<count {
            let url = try #require(URL(string: "scripted://\(number)"))
            let added = try coordinator.addPersistentStore(type: ScriptedStore.storeType, at: url)
            stores.append(try #require(added as? ScriptedStore))
        }
        self.stores = stores
        context = coordinator.newContext()
    }

    var store: ScriptedStore { stores[0] }
    var rows: ScriptedRows { stores[0].rows! }

    /// The object of a row of authors, loaded.
    func author(_ key: Int64, _ name: String, born: Int64 = 0) throws -> LibraryAuthor {
        let row = try rows.row("Author", key, ["name": .string(name), "born": .integer(born)])
        rows.rows.append(row)
        let id = NSManagedObjectID(key: key, layout: row.layout, store: store)
        return try #require(context.existingObject(with: id) as? LibraryAuthor)
    }
}
