import Foundation

/// The rows that other programs changed in some stores, as far as the stores' histories name them.
struct RecordedRows: Sendable {
    /// The rows of one entity in one store.
    private struct Rows {
        /// The keys of the rows that the history names, of all entities of the table.
        var named: Set<Int64> = []
        /// The part of an object to compare that the history does not name.
        var others: HeldRows.Part
    }

    /// By the number of the store and the index of the entity's layout.
    private var stores: [Int: [Rows]] = [:]

    /// Reads the histories of changed stores. O(number of recorded changes).
    ///
    /// - Parameters:
    ///   - changed: Stores, with the transactions after which they were changed.
    ///   - limit: The greatest number of changes of a store for which its history is used.
    /// - Throws: Errors of the stores.
    init(_ changed: [(store: NSPersistentStore, transaction: Int64)], limit: Int) throws {
        for (store, transaction) in changed {
            guard let layouts = store.modelLayout?.layouts else { continue }
            if let named = try Self.named(store, layouts, after: transaction, limit: limit) {
                stores[store.number] = layouts.map { layout in
                    Rows(named: named[layout.rootIndex] ?? [], others: Self.others(layout, layouts, named))
                }
            } else {
                stores[store.number] = layouts.map { _ in Rows(others: .row) }
            }
        }
    }

    /// Returns the keys of the changed rows by the index of their root entity; nil if the history
    /// does not name all changes, or more than the limit.
    private static func named(
        _ store: NSPersistentStore, _ layouts: [EntityLayout], after transaction: Int64, limit: Int
    ) throws -> [Int: Set<Int64>]? {
        guard transaction > .min, let history = store.history else { return nil }
        var fetch = HistoryFetch(.changes)
        fetch.predicate = NSExpression(forKeyPath: HistoryModel.number).compared(.greaterThan, transaction)
        fetch.limit = limit + 1
        let changes = try history.history(fetch).changes
        // The span is read after the fetch: transactions are deleted in their order.
        guard !changes.isEmpty, changes.count <= limit, try history.historySpan().holdsAll(after: transaction)
        else { return nil }
        var named: [Int: Set<Int64>] = [:]
        for change in changes { named[layouts[change.row.layoutIndex].rootIndex, default: []].insert(change.row.key) }
        return named
    }

    /// Returns the part of an object that may have changed although the history does not name its
    /// row.
    private static func others(
        _ layout: EntityLayout, _ layouts: [EntityLayout], _ named: [Int: Set<Int64>]
    ) -> HeldRows.Part {
        // The database computes derived values, and clears references without an inverse.
        if layout.slots.contains(where: { $0.isDerived || $0.kind == .toOne && $0.inverseSlot < 0 }) { return .row }
        // Rows refer to their owner, and a change of them may not name it.
        let mayHaveOthers = layout.persistentRelationships.contains { slot in
            slot.kind != .toOne && slot.destinationIndex >= 0
                && (slot.inverseSlot < 0 || named[layouts[slot.destinationIndex].rootIndex] != nil)
        }
        return mayHaveOthers ? .members : .nothing
    }

    /// Returns the part of an object whose row was read that may have changed.
    func part(of object: NSManagedObject) -> HeldRows.Part {
        guard let rows = stores[Int(object.storeNumber)]?[object.layout.index] else { return .nothing }
        return rows.named.contains(object.key) ? .row : rows.others
    }
}
