import Foundation

/// A transaction of a store with its changes, as they were read. Transactions and changes share it.
final class HistoryEntry: Sendable {
    let transaction: HistoryTransaction
    let changes: ArraySlice<HistoryChange>
    let store: StoreToken
    private let model: ModelLayout

    /// - Parameter model: the layouts to which the rows of the changes refer by index.
    init(
        _ transaction: HistoryTransaction, _ changes: ArraySlice<HistoryChange>, of store: StoreToken,
        _ model: ModelLayout
    ) {
        self.transaction = transaction
        self.changes = changes
        self.store = store
        self.model = model
    }

    func layout(of change: HistoryChange) -> EntityLayout { model.layouts[change.row.layoutIndex] }

    func objectID(of change: HistoryChange) -> NSManagedObjectID {
        NSManagedObjectID(key: change.row.key, layout: layout(of: change), token: store)
    }
}

/// A save or a batch request that is recorded in the history of a store.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction>
///
/// ```swift
/// for transaction in transactions where transaction.author != "app" {
///     print(transaction.timestamp, transaction.changes?.count ?? 0)
/// }
/// ```
public final class NSPersistentHistoryTransaction: NSObject, NSCopying, Sendable {
    private let entry: HistoryEntry
    private let hasChanges: Bool

    init(_ entry: HistoryEntry, hasChanges: Bool) {
        self.entry = entry
        self.hasChanges = hasChanges
    }

    /// The time of the save.
    public var timestamp: Date { entry.transaction.date }
    /// The number of the transaction in its store. Later transactions have higher numbers.
    public var transactionNumber: Int64 { entry.transaction.number }
    /// The UUID of the store.
    public var storeID: String { entry.store.uuid }
    /// The identifier of the program's bundle, or the name of its process where it has none.
    public var bundleID: String { entry.transaction.bundleID }
    /// The name of the process.
    public var processID: String { entry.transaction.processID }
    /// The name of the context that saved, as it was at that time.
    public var contextName: String? { entry.transaction.contextName }
    /// The `transactionAuthor` of the context that saved, as it was at that time.
    public var author: String? { entry.transaction.author }
    /// The place after this transaction.
    public var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: transactionNumber]) }

    /// The changes in the order in which they were recorded; nil if the request asked for
    /// transactions alone.
    ///
    /// Cost: makes an object for each change.
    public var changes: [NSPersistentHistoryChange]? {
        hasChanges ? entry.changes.map { NSPersistentHistoryChange($0, entry, hasAll: true) } : nil
    }

    /// A notification with the object IDs of the changes, for `mergeChanges(fromContextDidSave:)`.
    ///
    /// Nothing posts it. Its object is nil.
    public func objectIDNotification() -> Notification {
        func ids(_ kind: NSPersistentHistoryChangeType) -> Set<NSManagedObjectID> {
            Set(entry.changes.lazy.filter { $0.kind == kind }.map(entry.objectID))
        }
        return Notification(
            name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil,
            userInfo: [
                NSInsertedObjectIDsKey: ids(.insert), NSUpdatedObjectIDsKey: ids(.update),
                NSDeletedObjectIDsKey: ids(.delete),
            ])
    }

    // MARK: - Requests

    /// The entity of transactions in fetch requests for history. Its attributes have the names of
    /// this class's properties.
    public class var entityDescription: NSEntityDescription? { HistoryModel.transaction.entity }

    /// The entity of transactions in fetch requests for history.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new fetch request for transactions, for `NSPersistentHistoryChangeRequest`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: HistoryModel.transactionName)
    }

    // MARK: - Equality

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.transactionNumber == transactionNumber && other.storeID == storeID
    }

    public override var hash: Int { transactionNumber.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String {
        "NSPersistentHistoryTransaction \(transactionNumber) of \(storeID) at \(timestamp), "
            + "author \(author ?? "none")" + (hasChanges ? ", \(entry.changes.count) changes" : "")
    }
}
