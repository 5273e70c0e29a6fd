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
    /// What the type says.
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
    /// The changes in the order in which they were fetched.
    private var changes: [(entry: HistoryEntry, change: HistoryChange)] = []

    /// Transactions of several stores come in the order of their dates, changes store by store.
    init(_ fetched: [(store: NSPersistentStore, records: HistoryRecords)]) {
        for (store, records) in fetched {
            guard let model = store.modelLayout else { continue }
            let token = store.token
            let byTransaction = Dictionary(grouping: records.changes, by: \.transaction)
            let made = records.transactions.map {
                HistoryEntry($0, byTransaction[$0.number] ?? [], of: token, model)
            }
            entries += made
            let byNumber = Dictionary(
                made.map { ($0.transaction.number, $0) }, uniquingKeysWith: { first, _ in first })
            changes += records.changes.compactMap { change in byNumber[change.transaction].map { ($0, change) } }
        }
        if fetched.count > 1 {
            entries = entries.enumerated().sorted {
                ($0.element.transaction.date, $0.offset) < ($1.element.transaction.date, $1.offset)
            }.map(\.element)
        }
    }

    func result(_ form: NSPersistentHistoryResultType) -> Any {
        switch form {
        case .objectIDs:
            var known = Set<NSManagedObjectID>()
            return changes.map { $0.entry.objectID(of: $0.change) }.filter { known.insert($0).inserted }
        case .changesOnly: return changes.map { NSPersistentHistoryChange($0.change, $0.entry, hasAll: false) }
        case .transactionsOnly: return entries.map { NSPersistentHistoryTransaction($0, hasChanges: false) }
        default: return entries.map { NSPersistentHistoryTransaction($0, hasChanges: true) }
        }
    }
}
