import Synchronization

/// The state of an open store's history, as last seen.
package final class KnownHistory: Sendable {
    /// The last transaction that it knows.
    private let last = Mutex<Int64?>(nil)
    /// The last transaction after which old history was looked for.
    let lastRetentionStep = Atomic<Int64>(0)

    func begin(_ transaction: Int64?) { last.withLock { $0 = transaction } }

    /// Called for each transaction of the store itself.
    func committed(_ transaction: Int64) { last.withLock { if $0 == transaction - 1 { $0 = transaction } } }

    /// Called after other programs have committed.
    ///
    /// - Parameter transaction: the last transaction that was recorded; nil if it is not known.
    /// - Returns: the transaction after which theirs are; nil if the history does not name them.
    package func othersCommitted(_ transaction: Int64?) -> Int64? {
        last.withLock { last in
            defer { last = transaction }
            return last == transaction ? nil : last
        }
    }
}
