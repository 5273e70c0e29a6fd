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

    /// Transactions of several stores come in the order of their dates, changes store by store.
    init(_ fetched: [(store: NSPersistentStore, records: HistoryRecords)]) {
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
        if fetched.count > 1 {
            entries = entries.enumerated().sorted {
                ($0.element.transaction.date, $0.offset) < ($1.element.transaction.date, $1.offset)
            }.map(\.element)
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
        changes.flatMap { records, entries in
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
