import Foundation
import Synchronization

/// The part of an atomic store that writes a save before its rows count as saved.
protocol MemoryRowsWriter: AnyObject, Sendable {
    /// - Parameters:
    ///   - tables: all rows, as the save leaves them.
    ///   - others: called once, as late as the store can still leave everything as it was.
    /// - Throws: when the changes cannot be written; the rows then stay as they were.
    func write(_ batch: SaveBatch, _ tables: MemoryTables, beforeCommit others: () throws -> Void) throws

    /// Whether metadata are to be written, although no object has changed.
    var hasChangedMetadata: Bool { get }
}

/// A writer that works on the objects of the program, and identifies them itself.
protocol MemoryObjectsWriter: MemoryRowsWriter {
    /// The primary keys for new objects, in the same order.
    func newKeys(for origin: AnyObject) -> [Int64]
}

/// The rows of stores that keep all of them in memory, and their interface to contexts.
///
/// A fetch looks at each row of its entities: O(rows) with a predicate. Reading by key is O(1).
final class MemoryRows: SnapshotStore, Sendable {
    let rowCaches: [RowCache]
    private let layouts: ModelLayout
    // Guards the tables. Never held while code of the program runs.
    private let tables: Mutex<MemoryTables>
    /// Serialises saves. Recursive, because a subclass of `NSAtomicStore` runs while the lock is
    /// held.
    private let saving = NSRecursiveLock()
    /// The store that owns the rows.
    unowned let store: NSPersistentStore
    /// Writes saves to a file; nil for a store without a file.
    private weak let writer: (any MemoryRowsWriter)?
    /// Whether the store has a writer, which may be gone.
    let isAtomic: Bool
    let needsObjects: Bool
    private let derivation: MemoryDerivation
    /// The record of saves; nil where there is none.
    let history: MemoryHistory?

    init(
        layouts: ModelLayout, store: NSPersistentStore, writer: (any MemoryRowsWriter)? = nil,
        history: MemoryHistory? = nil
    ) {
        self.layouts = layouts
        self.store = store
        self.history = history
        self.writer = writer
        isAtomic = writer != nil
        needsObjects = writer is any MemoryObjectsWriter
        rowCaches = layouts.layouts.map { _ in RowCache() }
        tables = Mutex(MemoryTables(layouts: layouts, isAtomic: writer != nil))
        derivation = MemoryDerivation(layouts)
    }

    /// The number of processors: readers share the tables and need only CPU time.
    var concurrentReads: Int { ProcessInfo.processInfo.activeProcessorCount }

    var current: MemoryTables { tables.withLock { $0 } }

    // MARK: - Reading

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        try MemoryKeys(layouts: layouts).check(plan)
        return try MemoryFetch(plan: plan, tables: current, store: store).run()
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        // Read before the tables: rows that are deleted or replaced from here on are not published
        // again.
        let generation = rowCaches[entity.rootIndex].generation
        let tables = current
        return publish(keys.compactMap { tables.row($0, of: entity) }, of: entity, readAt: generation)
    }

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        FetchedRows(current.related(to: key, through: slot, of: entity))
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        let tables = current
        var owners: ContiguousArray<Int64> = []
        var rows: [Snapshot] = []
        for key in keys {
            let destinations = tables.related(to: key, through: slot, of: entity)
            rows += destinations
            owners += repeatElement(key, count: destinations.count)
        }
        return RelatedRows(rows: FetchedRows(rows), ownerKeys: owners)
    }

    /// Puts removed rows back into the row cache, unless something was saved since the read began.
    func publish(_ rows: [Snapshot], of entity: EntityLayout, readAt generation: Int) -> FetchedRows {
        let cache = rowCaches[entity.rootIndex]
        return FetchedRows(
            rows.map { row in
                if cache.snapshot(for: row.key)?.row == row.row { return row }
                // A page is published once; a row of an old page gets a page of its own.
                let copy = row.copy(key: row.key)
                cache.insert([copy.page], readAt: generation)
                return copy
            })
    }

    // MARK: - Writing

    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        tables.withLock { $0.reserveKeys(count, for: entity) }
    }

    /// Reserves a key that came from elsewhere, so that it is not assigned again.
    func noteKey(_ key: Int64, for entity: EntityLayout) {
        tables.withLock { $0.noteKey(key, for: entity) }
    }

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        if let writer = writer as? any MemoryObjectsWriter { return writer.newKeys(for: origin) }
        let first = try reserveKeys(count, for: entity)
        return Array(first..<(first + Int64(count)))
    }

    /// Blocks other saves while a function reads the tables and saves.
    func withSaving<Result>(_ body: () throws -> Result) rethrows -> Result {
        saving.lock()
        defer { saving.unlock() }
        return try body()
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome {
        if isAtomic { return try save(batch) {} }
        try requireWritable()
        return try withSaving {
            // In place: nothing can fail once the tables have changed.
            let save = try tables.withLock { tables in
                try MemorySave(batch, to: &tables, derivation: derivation, store: store)
            }
            publish(save)
            return try recorded(save, batch)
        }
    }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try requireWritable()
        return try withSaving {
            var next = current
            let save = try MemorySave(batch, to: &next, derivation: derivation, store: store)
            if let writer { try writer.write(batch, next, beforeCommit: others) } else { try others() }
            tables.withLock { tables in
                // Keys may have been assigned meanwhile.
                next.keepKeys(of: tables)
                tables = next
            }
            publish(save)
            return try recorded(save, batch)
        }
    }

    var hasChangedMetadata: Bool { writer?.hasChangedMetadata ?? false }

    func saveMetadata(beforeCommit others: () throws -> Void) throws {
        try requireWritable()
        try withSaving { try writer?.write(SaveBatch(), current, beforeCommit: others) }
    }

    /// Records a save that was made, and returns its outcome.
    private func recorded(_ save: MemorySave, _ batch: SaveBatch) throws -> SaveOutcome {
        var outcome = save.outcome
        outcome.transaction = try history?.record(batch)
        // The rows of a history are not those of the store.
        if store.snapshotStore === self { store.didWrite(outcome.transaction) }
        return outcome
    }

    private func requireWritable() throws {
        guard !store.isReadOnly else {
            throw CoreDataErrors.storeIsReadOnly(
                [store],
                "Changes cannot be saved to the store \(StoreName.text(type: store.type, url: store.url)): it is "
                    + "read-only."
            )
        }
    }

    /// Replaces all rows with the rows of a file that was just read.
    ///
    /// - Parameter holdsDerived: whether the file has the values of derived attributes.
    func fill(_ batch: SaveBatch, holdsDerived: Bool = false) throws {
        let save = try tables.withLock { tables in
            try MemorySave(batch, to: &tables, derivation: holdsDerived ? nil : derivation, store: store)
        }
        publish(save)
    }

    private func publish(_ save: MemorySave) {
        for (layout, pages) in save.pages { rowCaches[layout.rootIndex].insert(pages) }
        for (layout, key) in save.removed { rowCaches[layout.rootIndex].remove(key) }
    }
}

extension MemoryTables {
    /// The destinations of a relationship of any cardinality.
    func related(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) -> [Snapshot] {
        if slot.kind.isToMany { return destinations(of: key, through: slot, of: entity) }
        guard let owner = row(key, of: entity), let number = owner.layout.slotByName[slot.name],
            number < owner.layout.storedCount, !owner.isNull(number)
        else { return [] }
        return row(owner.reference(number)).map { [$0] } ?? []
    }

    /// Advances the last keys to those of another copy, so that no key is assigned twice.
    mutating func keepKeys(of other: MemoryTables) {
        for layout in layouts.layouts where layout.superIndex < 0 {
            noteKey(other.lastKey(of: layout), for: layout)
        }
    }
}

extension FetchedRows {
    /// Rows in order, with each of their pages once.
    init(_ snapshots: some Sequence<Snapshot>) {
        self.init()
        var seen: Set<ObjectIdentifier> = []
        var last: RowPage?
        for snapshot in snapshots {
            rows.append(snapshot.row)
            if snapshot.page === last { continue }
            last = snapshot.page
            if seen.insert(ObjectIdentifier(snapshot.page)).inserted { pages.append(snapshot.page) }
        }
    }
}
