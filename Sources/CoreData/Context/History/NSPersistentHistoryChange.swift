import Foundation

/// The insertion, update or deletion of an object by a transaction of a store's history.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistorychange>
///
/// ```swift
/// for change in transaction.changes ?? [] {
///     let names = change.updatedProperties?.map(\.name) ?? []
///     print(change.changedObjectID, change.changeType, names)
/// }
/// ```
public final class NSPersistentHistoryChange: NSObject, NSCopying, Sendable {
    private let change: HistoryChange
    private let entry: HistoryEntry
    /// Whether all changes of the transaction were asked for.
    private let hasAll: Bool

    init(_ change: HistoryChange, _ entry: HistoryEntry, hasAll: Bool) {
        self.change = change
        self.entry = entry
        self.hasAll = hasAll
    }

    /// The number of the change in its store.
    public var changeID: Int64 { change.number }
    /// The ID of the object. A deleted object's ID leads to no object any more.
    public var changedObjectID: NSManagedObjectID { entry.objectID(of: change) }
    /// The kind of the change.
    public var changeType: NSPersistentHistoryChangeType { change.kind }

    /// The values that a deleted object had in the attributes with
    /// `preservesValueInHistoryOnDeletion`, by name; attributes without a value are missing.
    ///
    /// Nil for other changes, and where the entity preserves no attribute.
    public var tombstone: [AnyHashable: Any]? {
        change.tombstone(entry.layout(of: change))
    }

    /// The properties that an update changed; nil for other changes.
    public var updatedProperties: Set<NSPropertyDescription>? {
        guard change.kind == .update else { return nil }
        let slots = entry.layout(of: change).slots
        return Set(change.slots.map { slots[$0].property })
    }

    /// The transaction that made the change.
    public var transaction: NSPersistentHistoryTransaction? {
        NSPersistentHistoryTransaction(entry, hasChanges: hasAll)
    }

    // MARK: - Requests

    /// The entity of changes in fetch requests for history.
    ///
    /// Its attributes are `changeID`, `changeType`, `changedEntity`, `changedID`, `token` and
    /// `transactionNumber`, and it has the relationship `transaction`. `changedID` is the number at
    /// the end of the object's URI, and `changedEntity` is compared with an entity; both together
    /// are `changedObjectID`.
    public class var entityDescription: NSEntityDescription? { HistoryModel.change.entity }

    /// The entity of changes in fetch requests for history.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new fetch request for changes, for `NSPersistentHistoryChangeRequest`.
    ///
    /// ```swift
    /// let ofItem = NSPersistentHistoryChange.fetchRequest
    /// ofItem?.predicate = NSPredicate(format: "changedObjectID == %@", item.objectID)
    /// ```
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: HistoryModel.changeName)
    }

    // MARK: - Equality

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return other.changeID == changeID && other.entry.store.uuid == entry.store.uuid
    }

    public override var hash: Int { changeID.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String {
        "NSPersistentHistoryChange \(changeID): \(change.kind) of \(changedObjectID)"
    }
}
