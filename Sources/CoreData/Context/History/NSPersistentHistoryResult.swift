import Foundation

/// The forms of the result of a request for history.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistoryresulttype>
///
/// ```swift
/// request.resultType = .count
/// let count = (try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int ?? 0
/// ```
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it succeeded: a `Bool`.
    case statusOnly = 0
    /// The IDs of the changed objects, each one once: `[NSManagedObjectID]`.
    case objectIDs = 1
    /// An `Int`: the number of transactions, or of changes where the request fetches these, or of
    /// transactions that were deleted.
    case count = 2
    /// `[NSPersistentHistoryTransaction]` whose `changes` are nil.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// The result of a request for history.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistoryresult>
///
/// ```swift
/// let history = try context.execute(request) as? NSPersistentHistoryResult
/// let transactions = history?.result as? [NSPersistentHistoryTransaction] ?? []
/// ```
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The result, in the form of `resultType`.
    public let result: Any?
    /// The requested form of the result.
    public let resultType: NSPersistentHistoryResultType

    init(_ type: NSPersistentHistoryResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}

/// Makes the objects of a result of the records that stores returned.
struct HistoryResults {
    private var entries: [HistoryEntry] = []
    /// The changes of each store in the order in which they were fetched, with the entries of their
    /// transactions by number.
    private var changes: [(records: [HistoryChange], entries: [Int64: HistoryEntry])] = []
    /// The changes of several stores in the order of the result.
    private var arranged: [(change: HistoryChange, entry: HistoryEntry)]?

    /// - Parameter fetch: The order and the limits of the result. Each of several stores has
    ///   returned all records that may be within the limits.
    init(_ fetched: [(store: NSPersistentStore, records: HistoryRecords)], _ fetch: HistoryFetch) {
        for (store, records) in fetched {
            guard let model = store.modelLayout else { continue }
            let token = store.token
            let byTransaction = Self.runs(of: records.changes)
            let made = records.transactions.map {
                HistoryEntry($0, byTransaction[$0.number] ?? [], of: token, model)
            }
            entries += made
            let byNumber = Dictionary(
                made.map { ($0.transaction.number, $0) }, uniquingKeysWith: { first, _ in first })
            changes.append((records.changes, byNumber))
        }
        if fetched.count > 1 { arrange(fetch) }
    }

    /// Puts the records of several stores in the order of the fetch, and keeps those within its
    /// limits.
    ///
    /// Without an order, transactions come in the order of their dates, changes store by store.
    private mutating func arrange(_ fetch: HistoryFetch) {
        let byDate = [NSSortDescriptor(key: HistoryModel.date, ascending: true)]
        let descriptors = fetch.sortDescriptors
        switch fetch.subject {
        case .transactions:
            let order = (descriptors.isEmpty ? byDate : descriptors).order(of: entries.map(\.values))
            entries = fetch.window(of: order).map { entries[$0] }
            arranged = entries.flatMap { entry in entry.changes.map { ($0, entry) } }
        case .changes:
            let all = eachChange { (change: $0, entry: $1) }
            let order =
                descriptors.isEmpty
                ? Array(all.indices) : descriptors.order(of: all.map { $0.entry.values(of: $0.change) })
            let window = fetch.window(of: order).map { all[$0] }
            arranged = window
            let kept = Set(window.map { ObjectIdentifier($0.entry) })
            entries.removeAll { !kept.contains(ObjectIdentifier($0)) }
            entries = byDate.order(of: entries.map(\.values)).map { entries[$0] }
        }
    }

    /// The changes by transaction. They are not copied where those of a transaction are adjacent.
    private static func runs(of changes: [HistoryChange]) -> [Int64: ArraySlice<HistoryChange>] {
        var runs: [Int64: ArraySlice<HistoryChange>] = [:]
        var start = 0
        while start < changes.count {
            let number = changes[start].transaction
            let end = changes[start...].firstIndex { $0.transaction != number } ?? changes.count
            if runs[number] == nil {
                runs[number] = changes[start..<end]
            } else {
                runs[number]?.append(contentsOf: changes[start..<end])
            }
            start = end
        }
        return runs
    }

    private func eachChange<Made>(_ body: (HistoryChange, HistoryEntry) -> Made) -> [Made] {
        if let arranged { return arranged.map(body) }
        return changes.flatMap { records, entries in
            records.compactMap { change in entries[change.transaction].map { body(change, $0) } }
        }
    }

    func result(_ form: NSPersistentHistoryResultType) -> Any {
        switch form {
        case .objectIDs:
            var known = Set<NSManagedObjectID>()
            return eachChange { $1.objectID(of: $0) }.filter { known.insert($0).inserted }
        case .changesOnly: return eachChange { NSPersistentHistoryChange($0, $1, hasAll: false) }
        case .transactionsOnly: return entries.map { NSPersistentHistoryTransaction($0, hasChanges: false) }
        default: return entries.map { NSPersistentHistoryTransaction($0, hasChanges: true) }
        }
    }
}

extension HistoryFetch {
    /// Returns the part of all results that is within the offset and the limit.
    func window<Results: Collection>(of results: Results) -> Results.SubSequence {
        results.dropFirst(offset).prefix(limit > 0 ? limit : .max)
    }
}

extension HistoryEntry {
    /// The values of the transaction that sort descriptors name.
    fileprivate var values: NSDictionary {
        Self.dictionary([
            HistoryModel.number: transaction.number, HistoryModel.token: transaction.number,
            HistoryModel.date: transaction.date, "author": transaction.author,
            "contextName": transaction.contextName, "bundleID": transaction.bundleID,
            "processID": transaction.processID,
        ])
    }

    /// The values of a change of the transaction that sort descriptors name.
    fileprivate func values(of change: HistoryChange) -> NSDictionary {
        Self.dictionary([
            HistoryModel.changeNumber: change.number, HistoryModel.number: change.transaction,
            HistoryModel.token: change.transaction, "changeType": Int64(change.kind.rawValue),
            HistoryModel.changedEntity: Int64(change.row.layoutIndex), HistoryModel.changedKey: change.row.key,
            HistoryModel.transactionOfChange: values,
        ])
    }

    private static func dictionary(_ values: [String: Any?]) -> NSDictionary {
        NSDictionary(dictionary: values.compactMapValues { $0 })
    }
}
