import Foundation
import Synchronization

/// The history of a store in memory: rows of `HistoryModel`, which exist as long as the store.
final class MemoryHistory: StoreHistory, Sendable {
    private struct Details: Sendable {
        var slots: [Int] = []
        var preserved: [StoredValue] = []
    }

    private struct State {
        var lastTransaction: Int64 = 0
        /// The last transaction that was deleted.
        var lastDeleted: Int64 = 0
        var lastChange: Int64 = 0
        /// Details that the rows of changes do not hold, by the numbers of the changes.
        var details: [Int64: Details] = [:]
        /// The last transactions that named readers have read.
        var readers: [String: Int64] = [:]

        var span: HistorySpan {
            let first = lastDeleted + 1
            return HistorySpan(first: first <= lastTransaction ? first : nil, last: lastTransaction)
        }
    }

    private let rows: MemoryRows
    private unowned let store: NSPersistentStore
    /// Guards the numbers. Held while rows are written, so that they are in the order of the
    /// numbers, and never while code of the program runs.
    private let state = Mutex(State())

    init(of store: NSPersistentStore) {
        self.store = store
        rows = MemoryRows(layouts: HistoryModel.layouts, store: store)
    }

    // MARK: - Writing

    /// Records a save as a transaction, unless it changes nothing.
    ///
    /// - Returns: the number of the transaction.
    func record(_ batch: SaveBatch) throws -> Int64? {
        if batch.inserts.isEmpty, batch.updates.isEmpty, batch.deletes.isEmpty { return nil }
        return try state.withLock { state in
            let number = state.lastTransaction + 1
            var written = SaveBatch()
            written.inserts.append(
                Self.row(
                    of: HistoryModel.transaction, number,
                    [
                        HistoryModel.number: .integer(number), HistoryModel.token: .integer(number),
                        HistoryModel.date: .double(Date().timeIntervalSinceReferenceDate),
                        "author": Self.text(batch.author.transactionAuthor),
                        "contextName": Self.text(batch.author.contextName),
                        "bundleID": .string(HistoryTransaction.ownBundleID),
                        "processID": .string(HistoryTransaction.ownProcessID),
                    ]))
            var details: [Int64: Details] = [:]
            var last = state.lastChange
            func add(_ changes: [RowChange], _ kind: NSPersistentHistoryChangeType, _ detail: (RowChange) -> Details?) {
                for change in changes {
                    last += 1
                    details[last] = detail(change)
                    written.inserts.append(
                        Self.row(
                            of: HistoryModel.change, last,
                            [
                                HistoryModel.changeNumber: .integer(last), HistoryModel.number: .integer(number),
                                HistoryModel.token: .integer(number), "changeType": .integer(Int64(kind.rawValue)),
                                HistoryModel.changedEntity: .integer(Int64(change.layout.index)),
                                HistoryModel.changedKey: .integer(change.key),
                                HistoryModel.transactionOfChange: .reference(
                                    RowReference(key: number, layoutIndex: HistoryModel.transaction.index)),
                            ]))
                }
            }
            add(batch.inserts, .insert) { _ in nil }
            add(batch.updates, .update) { Details(slots: $0.changedProperties) }
            add(batch.deletes, .delete) { change in
                change.layout.preservedSlots.isEmpty ? nil : Details(preserved: change.preservedValues)
            }
            _ = try rows.save(written)
            (state.lastTransaction, state.lastChange) = (number, last)
            state.details.merge(details) { $1 }
            return number
        }
    }

    private static func text(_ text: String?) -> StoredValue { text.map(StoredValue.string) ?? .null }

    private static func row(of entity: EntityLayout, _ key: Int64, _ values: [String: StoredValue]) -> RowChange {
        let row = RowValues.make(slotCount: entity.slots.count)
        for (name, value) in values { if let slot = entity.slotByPath[name] { row[slot] = value } }
        return RowChange(layout: entity, key: key, base: nil, values: row)
    }

    func deleteHistory(_ range: HistoryRange) throws -> Int {
        try state.withLock { state in
            let reading = Reading(tables: rows.current, store: store)
            // The numbers of the transactions have no gap.
            let kept = (state.lastDeleted..<state.lastTransaction).lazy.compactMap {
                reading.tables.row($0 + 1, of: HistoryModel.transaction)
            }
            let gone: [Snapshot]
            switch range {
            case .all: gone = Array(kept)
            case .before(let number): gone = Array(kept.prefix { $0.key < number })
            case .until(let date): gone = Array(kept.prefix { Self.transaction($0).date < date })
            case .exceeding(let retention):
                let oldest = Array(kept.prefix(HistoryRetention.transactionsInStep)).map {
                    OldTransaction(number: $0.key, date: Self.transaction($0).date)
                }
                let end = retention.end(of: oldest, last: state.lastTransaction, readers: state.readers.values) {
                    reading.changes(of: [$0]).count
                }
                gone = Array(kept.prefix { $0.key < end ?? 0 })
            }
            if gone.isEmpty { return 0 }
            let changes = reading.changes(of: gone.map(\.key))
            var batch = SaveBatch()
            batch.deletes = (gone + changes).map { RowChange(layout: $0.layout, key: $0.key, base: $0, values: nil) }
            _ = try rows.save(batch)
            for change in changes { state.details[change.key] = nil }
            state.lastDeleted = gone.last?.key ?? state.lastDeleted
            return gone.count
        }
    }

    // MARK: - Readers

    func historyReaders() -> [String: Int64] { state.withLock { $0.readers } }

    func setHistoryPlace(ofReader name: String, _ place: (_ present: Int64?, HistorySpan) -> Int64?) {
        state.withLock { $0.readers[name] = place($0.readers[name], $0.span) }
    }

    // MARK: - Reading

    /// The rows at one moment.
    private struct Reading {
        let tables: MemoryTables
        let store: NSPersistentStore

        /// The changes of some transactions, in the order in which they were recorded.
        func changes(of transactions: [Int64]) -> [Snapshot] {
            let entity = HistoryModel.transaction
            guard let slot = entity.slotByName[HistoryModel.changes] else { return [] }
            return transactions.flatMap { tables.related(to: $0, through: entity.slots[slot], of: entity) }
                .sorted { $0.key < $1.key }
        }

        func found(_ fetch: StoreFetch) throws -> [Snapshot] {
            try MemoryKeys(layouts: HistoryModel.layouts).check(fetch)
            guard case .rows(let rows) = try MemoryFetch(plan: fetch, tables: tables, store: store).run() else {
                return []
            }
            defer { withExtendedLifetime(rows) {} }
            return rows.rows.map { Snapshot(retaining: $0) }
        }
    }

    func historySpan() -> HistorySpan { state.withLock { $0.span } }

    func history(_ fetch: HistoryFetch) throws -> HistoryRecords {
        let fetch = try resolved(fetch)
        let reading = Reading(tables: rows.current, store: store)
        let transactions: [Snapshot]
        var changes: [Snapshot] = []
        switch fetch.subject {
        case .transactions:
            transactions = try reading.found(fetch.rows)
            if fetch.wantsChanges { changes = reading.changes(of: transactions.map(\.key)) }
        case .changes:
            changes = try reading.found(fetch.rows)
            transactions = Set(changes.map(Self.transaction(ofChange:))).sorted().compactMap {
                reading.tables.row($0, of: HistoryModel.transaction)
            }
        }
        // A copy of all details would make the next save copy them again.
        return state.withLock { state in
            // Other threads may have deleted transactions since the rows were read.
            var records = HistoryRecords()
            records.transactions = transactions.map(Self.transaction).filter { $0.number > state.lastDeleted }
            records.changes = changes.compactMap { row in Self.change(row, state.details[row.key]) }
                .filter { $0.transaction > state.lastDeleted }
            return records
        }
    }

    func historyCount(_ fetch: HistoryFetch) throws -> Int {
        try Reading(tables: rows.current, store: store).found(resolved(fetch).rows).count
    }

    private func resolved(_ fetch: HistoryFetch) throws -> HistoryFetch {
        let predicate = HistoryPredicate(store: store) { Int64($0.index) }
        var fetch = fetch
        fetch.predicate = try fetch.predicate.map(predicate.resolved)
        return fetch
    }

    private static func transaction(ofChange row: Snapshot) -> Int64 { integer(row, HistoryModel.number) }

    private static func integer(_ row: Snapshot, _ name: String) -> Int64 {
        guard let slot = row.layout.slotByPath[name], case .integer(let integer) = row.value(slot) else { return 0 }
        return integer
    }

    private static func text(_ row: Snapshot, _ name: String) -> String? {
        guard let slot = row.layout.slotByPath[name], case .string(let text) = row.value(slot) else { return nil }
        return text
    }

    private static func transaction(_ row: Snapshot) -> HistoryTransaction {
        var seconds = 0.0
        if let slot = row.layout.slotByPath[HistoryModel.date], case .double(let double) = row.value(slot) {
            seconds = double
        }
        var transaction = HistoryTransaction(
            number: row.key, date: Date(timeIntervalSinceReferenceDate: seconds))
        transaction.author = text(row, "author")
        transaction.contextName = text(row, "contextName")
        transaction.bundleID = text(row, "bundleID") ?? ""
        transaction.processID = text(row, "processID") ?? ""
        return transaction
    }

    private static func change(_ row: Snapshot, _ details: Details?) -> HistoryChange? {
        guard let kind = NSPersistentHistoryChangeType(rawValue: Int(integer(row, "changeType"))) else { return nil }
        var change = HistoryChange(
            number: row.key, transaction: transaction(ofChange: row), kind: kind,
            row: RowReference(
                key: integer(row, HistoryModel.changedKey), layoutIndex: Int(integer(row, HistoryModel.changedEntity))))
        change.slots = details?.slots ?? []
        change.preserved = details?.preserved ?? []
        return change
    }
}

extension RowChange {
    /// The values of a deleted row that the history preserves: those that the save changed,
    /// otherwise the row's values.
    fileprivate var preservedValues: [StoredValue] {
        layout.preservedSlots.map { slot in
            if let values, values.has(slot) { return values[slot] }
            return base?.value(slot) ?? .null
        }
    }
}
