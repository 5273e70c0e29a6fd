import Foundation

// Notifications of coordinators, and the keys of their userInfo.
extension NSNotification.Name {
    /// Never posted. On a Mac it is posted when the account of a store in iCloud changes; adding
    /// and removing stores does not post it.
    ///
    /// `NSPersistentStoreCoordinatorWillRemoveStore` is posted before a store is removed.
    ///
    /// Source:
    /// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoreswillchangenotification>
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// Posted by a coordinator after its stores changed, with `NSAddedPersistentStoresKey`,
    /// `NSRemovedPersistentStoresKey` or `NSUUIDChangedPersistentStoresKey`.
    ///
    /// Source:
    /// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoresdidchangenotification>
    ///
    /// ```swift
    /// for await notification in NotificationCenter.default.notifications(
    ///     named: .NSPersistentStoreCoordinatorStoresDidChange)
    /// {
    ///     let added =
    ///         notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
    ///     print(added.compactMap(\.url))
    /// }
    /// ```
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// Posted by a store before its coordinator removes it. There is no userInfo.
    ///
    /// An observer must not wait for another thread that adds or removes stores of the coordinator.
    ///
    /// The object is the store, as it is on a Mac, although Apple's documentation says that it is
    /// the coordinator.
    ///
    /// Source:
    /// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification>
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// Posted by a coordinator after a save has changed a store with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. The userInfo contains
    /// `NSStoreUUIDKey`, `NSPersistentStoreURLKey` and, if the save is recorded,
    /// `NSPersistentHistoryTokenKey`.
    ///
    /// It reports saves of this process, through any coordinator, and in PostgreSQL stores also
    /// those of other processes. It is posted on a queue of its own, after the save.
    ///
    /// ```swift
    /// description.setOption(
    ///     true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    /// for await change in NotificationCenter.default.notifications(
    ///     named: .NSPersistentStoreRemoteChange)
    /// {
    ///     print(change.userInfo?[NSPersistentStoreURLKey] ?? "")
    /// }
    /// ```
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The stores (`[NSPersistentStore]`) that were added.
public let NSAddedPersistentStoresKey = "added"

/// The stores (`[NSPersistentStore]`) that were removed.
public let NSRemovedPersistentStoresKey = "removed"

/// An array with a store at index 0 and its replacement, which has another UUID, at index 1. After
/// a migration to another location, index 2 is an array of object IDs: each object's ID in the old
/// store, followed by its ID in the new one.
public let NSUUIDChangedPersistentStoresKey = "changed"

/// The URL of the store that changed.
public let NSPersistentStoreURLKey = "storeURL"

/// The `NSPersistentHistoryToken` of the change.
public let NSPersistentHistoryTokenKey = "historyToken"
