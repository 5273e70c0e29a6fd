import Foundation

/// The persistent history of a store: the transactions that changed its rows, numbered in the order
/// of their commits.
package protocol StoreHistory: AnyObject, Sendable {
    /// Returns the numbers of the transactions that the store keeps and has kept.
    func historySpan() throws -> HistorySpan

    /// Returns transactions with their changes. All of them are read from one state of the store.
    func history(_ fetch: HistoryFetch) throws -> HistoryRecords

    /// Returns the number of transactions or changes that a fetch is about.
    func historyCount(_ fetch: HistoryFetch) throws -> Int

    /// Deletes the first transactions with their changes, in one transaction that is not recorded.
    ///
    /// - Returns: the number of deleted transactions.
    func deleteHistory(_ range: HistoryRange) throws -> Int

    /// Returns the numbers of the last transactions that named readers have read, by their names.
    func historyReaders() throws -> [String: Int64]

    /// Changes the last transaction that a named reader has read, in one transaction.
    ///
    /// - Parameter place: returns the new place, or nil to remove the reader, for the present place
    ///   of the reader and the transactions of the store.
    func setHistoryPlace(ofReader name: String, _ place: (_ present: Int64?, HistorySpan) -> Int64?) throws
}

/// The numbers of a store's transactions.
package struct HistorySpan: Sendable {
    /// The first transaction that is kept; nil where none is.
    let first: Int64?
    /// The last transaction that was ever recorded; 0 where none was.
    package let last: Int64

    package init(first: Int64?, last: Int64) {
        self.first = first
        self.last = last
    }

    /// Whether every transaction after one is kept, so that a reader that continues there misses
    /// nothing.
    func holdsAll(after number: Int64) -> Bool { number <= last && number >= (first ?? last + 1) - 1 }
}

/// Transactions up to a limit.
package enum HistoryRange: Sendable {
    case all
    /// The transactions with lower numbers.
    case before(Int64)
    /// The transactions before the first one of this time or a later one.
    case until(Date)
    /// The transactions that one step of a retention deletes.
    case exceeding(HistoryRetention)
}

/// A request for transactions or changes of a store's history.
package struct HistoryFetch {
    /// The kind of record that the predicate, the order and the limits apply to.
    enum Subject {
        case transactions, changes

        /// The entity of `HistoryModel` whose properties predicates and orders name.
        var entity: EntityLayout {
            switch self {
            case .transactions: HistoryModel.transaction
            case .changes: HistoryModel.change
            }
        }

        /// The properties by whose values the results are ordered unless the fetch says otherwise.
        ///
        /// An index of transaction numbers has the changes in this order, so that a reader that
        /// continues after a transaction does not pay for those before.
        var order: [String] {
            switch self {
            case .transactions: [HistoryModel.number]
            case .changes: [HistoryModel.number, HistoryModel.changeNumber]
            }
        }
    }

    var subject = Subject.transactions
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var limit = 0
    var offset = 0
    /// Whether the changes are returned too, for a fetch of transactions.
    var wantsChanges = true

    init(_ subject: Subject) { self.subject = subject }

    /// The fetch of the subject's rows.
    var rows: StoreFetch {
        var fetch = StoreFetch(entity: subject.entity)
        fetch.predicate = predicate
        fetch.sortDescriptors =
            sortDescriptors.isEmpty
            ? subject.order.map { NSSortDescriptor(key: $0, ascending: true) } : sortDescriptors
        fetch.limit = limit
        fetch.offset = offset
        return fetch
    }
}

/// Transactions and changes, each in the order of the fetch.
///
/// A fetch of transactions returns all changes of each, in the order in which they were recorded. A
/// fetch of changes returns also their transactions, by number.
package struct HistoryRecords {
    package var transactions: [HistoryTransaction] = []
    package var changes: [HistoryChange] = []

    package init() {}
}

/// One transaction of a store.
package struct HistoryTransaction: Sendable {
    let number: Int64
    let date: Date
    var author: String?
    var contextName: String?
    var bundleID = ""
    var processID = ""

    init(number: Int64, date: Date) {
        self.number = number
        self.date = date
    }
}

/// One change of a row by a transaction.
package struct HistoryChange: Sendable {
    /// The number of the change in the store.
    let number: Int64
    let transaction: Int64
    let kind: NSPersistentHistoryChangeType
    let row: RowReference
    /// The slots of the properties that an update changed.
    var slots: [Int] = []
    /// The preserved values of a deleted row, in the order of `EntityLayout.preservedSlots`.
    var preserved: [StoredValue] = []

    init(number: Int64, transaction: Int64, kind: NSPersistentHistoryChangeType, row: RowReference) {
        self.number = number
        self.transaction = transaction
        self.kind = kind
        self.row = row
    }

    /// Returns the preserved values of a deleted row as a program sees them, by the names of the
    /// properties; nil where the entity preserves none, and for other changes.
    func tombstone(_ layout: EntityLayout) -> [String: Any]? {
        if kind != .delete || layout.preservedSlots.isEmpty { return nil }
        var values: [Int: Any] = [:]
        for (slot, value) in zip(layout.preservedSlots, preserved) {
            let property = layout.slots[slot]
            if case .data(let data) = value, property.kind == .transformable, let attribute = property.attribute {
                values[slot] = Transformation.value(from: data, attribute: attribute)
            } else {
                values[slot] = PropertyConversion.object(from: value, kind: property.kind)
            }
        }
        var tombstone: [String: Any] = [:]
        for property in layout.propertySlots {
            tombstone[property.name] = property.composite.map { $0.dictionary { values[$0] } } ?? values[property.index]
        }
        return tombstone
    }
}

extension EntityLayout {
    /// Returns the slots of the properties to which stored slots belong, in their order. An element
    /// of a composite attribute counts as the attribute.
    package func properties(ofSlots stored: some Sequence<Int>) -> [Int] {
        var properties: [Int] = []
        for slot in stored {
            let property = slots[slot].isElement ? slots[slot].compositeSlot : slot
            // The elements of a composite attribute have adjacent slots.
            if properties.last != property { properties.append(property) }
        }
        return properties
    }
}

extension RowChange {
    /// The slots of the properties that an update changes.
    package var changedProperties: [Int] {
        layout.properties(ofSlots: (0..<layout.storedCount).lazy.filter { values?.has($0) ?? false }) + changedToMany
    }
}

extension HistoryTransaction {
    /// The names of this program, as each of its transactions has them.
    package static var ownBundleID: String { Bundle.main.bundleIdentifier ?? ownProcessID }
    package static var ownProcessID: String { ProcessInfo.processInfo.processName }
}
