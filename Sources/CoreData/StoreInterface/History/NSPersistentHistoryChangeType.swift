/// The kinds of changes.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistorychangetype>
///
/// ```swift
/// let deleted = transaction.changes?.filter { $0.changeType == .delete } ?? []
/// ```
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}
