import Foundation

/// How much of a store's persistent history is kept.
///
/// A transaction is deleted when one of the limits says so, but never before each named reader has
/// read it (`NSPersistentStoreCoordinator.setHistoryToken(_:forReader:)`). Deleting goes in small
/// steps after saves: a history may be a little longer than a limit, and much longer for a while
/// after a limit was set for the first time.
///
/// ```swift
/// // A month, but not more than 50,000 transactions.
/// description.historyRetention = HistoryRetention(maximumAge: 30 * 24 * 3600, maximumCount: 50_000)
/// ```
public struct HistoryRetention: Hashable, Sendable {
    /// The age in seconds after which a transaction is deleted; nil for no limit.
    public var maximumAge: TimeInterval?
    /// The number of transactions above which the oldest are deleted; nil for no limit.
    public var maximumCount: Int?
    /// Whether a transaction is deleted when every named reader has read it. A store without named
    /// readers deletes nothing for this reason.
    public var deletesReadTransactions: Bool

    /// Creates a retention. Without arguments it keeps everything.
    public init(maximumAge: TimeInterval? = nil, maximumCount: Int? = nil, deletesReadTransactions: Bool = false) {
        self.maximumAge = maximumAge
        self.maximumCount = maximumCount
        self.deletesReadTransactions = deletesReadTransactions
    }
}

/// A retention as the value of a store's option.
final class HistoryRetentionOption: NSObject, Sendable {
    let retention: HistoryRetention

    init(_ retention: HistoryRetention) { self.retention = retention }

    override func isEqual(_ object: Any?) -> Bool { (object as? HistoryRetentionOption)?.retention == retention }
    override var hash: Int { retention.hashValue }
    override var description: String { "\(retention)" }
}

/// One of the oldest transactions of a store.
package struct OldTransaction {
    let number: Int64
    let date: Date

    package init(number: Int64, date: Date) {
        self.number = number
        self.date = date
    }
}

extension HistoryRetention {
    /// The option of a store that holds its `HistoryRetentionOption`.
    static let option = "OpenCoreDataHistoryRetention"

    /// The number of transactions that a store records between two steps. Each step looks at more
    /// than that, so that a long history becomes shorter.
    static let transactionsBetweenSteps: Int64 = 16
    /// The number of transactions that one step looks at.
    package static let transactionsInStep = 256
    /// The number of changes above which a step deletes no further transaction.
    private static let changesInStep = 5_000

    /// Returns the number of the first transaction that one step keeps; nil if it deletes none.
    ///
    /// - Parameters:
    ///   - oldest: the oldest transactions, in the order of their numbers.
    ///   - last: the number of the store's last transaction.
    ///   - readers: the last transactions that the named readers have read.
    ///   - changes: returns the number of changes of a transaction.
    package func end(
        of oldest: [OldTransaction], last: Int64, readers: some Collection<Int64>,
        changes: (_ transaction: Int64) throws -> Int
    ) rethrows -> Int64? {
        let (read, now) = (readers.min(), Date())
        var count = 0
        var end: Int64?
        for transaction in oldest {
            // The last one stays: it shows that the store has a history.
            if transaction.number >= last { break }
            if let read, transaction.number > read { break }
            let isTooOld = maximumAge.map { now.timeIntervalSince(transaction.date) > $0 } ?? false
            let isTooMany = maximumCount.map { transaction.number <= last - Int64($0) } ?? false
            let isRead = deletesReadTransactions && read != nil
            guard isTooOld || isTooMany || isRead else { break }
            end = transaction.number + 1
            count += try changes(transaction.number)
            if count >= Self.changesInStep { break }
        }
        return end
    }
}

/// The places of named readers in the metadata of a store.
package enum HistoryReaders {
    private static let prefix = "OpenCoreDataHistoryReader."

    /// Returns the metadata key of a reader's place.
    package static func key(_ name: String) -> String { prefix + name }

    static func isKey(_ key: String) -> Bool { key.hasPrefix(prefix) }

    /// The numbers of the last transactions that readers have read, by their names.
    package static func places(in metadata: [String: Any]) -> [String: Int64] {
        var places: [String: Int64] = [:]
        for (key, value) in metadata where isKey(key) {
            places[String(key.dropFirst(prefix.count))] = (value as? NSNumber)?.int64Value
        }
        return places
    }
}
