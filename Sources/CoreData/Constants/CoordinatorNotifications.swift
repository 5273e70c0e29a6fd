import Foundation

// Notifications of coordinators, and the keys of their userInfo.
extension NSNotification.Name {
    /// Never posted: on a Mac it tells that the account of a store in iCloud changes, and adding and removing stores does not post it.
    /// `NSPersistentStoreCoordinatorWillRemoveStore` comes before a store is removed.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoreswillchangenotification>
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// Posted by a coordinator after its stores changed, with `NSAddedPersistentStoresKey`,
    /// `NSRemovedPersistentStoresKey` or `NSUUIDChangedPersistentStoresKey`.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoresdidchangenotification>
    ///
    /// ```swift
    /// for await notification in NotificationCenter.default.notifications(named: .NSPersistentStoreCoordinatorStoresDidChange) {
    ///     let added = notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
    ///     print(added.compactMap(\.url))
    /// }
    /// ```
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// Posted by a store before its coordinator removes it. There is no userInfo.
    ///
    /// An observer must not wait for another thread that adds or removes stores of the coordinator.
    ///
    /// The object is the store, as it is on a Mac, although Apple's documentation says that it is the coordinator.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification>
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// Posted by a coordinator after a save has changed a store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`,
    /// with `NSStoreUUIDKey` and `NSPersistentStoreURLKey`. Saves of this process are noticed, through whatever coordinator
    /// they go, and in PostgreSQL stores those of other processes. Posted on a queue of its own, after the save.
    ///
    /// ```swift
    /// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    /// for await change in NotificationCenter.default.notifications(named: .NSPersistentStoreRemoteChange) {
    ///     print(change.userInfo?[NSPersistentStoreURLKey] ?? "")
    /// }
    /// ```
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The stores (`[NSPersistentStore]`) that were added.
public let NSAddedPersistentStoresKey = "added"

/// The stores (`[NSPersistentStore]`) that were removed.
public let NSRemovedPersistentStoresKey = "removed"

/// An array with a store at index 0 and the one that took its place at index 1, which has another UUID. After a migration to
/// another place, index 2 has an array of object IDs: each object's ID in the old store, followed by that in the new one.
public let NSUUIDChangedPersistentStoresKey = "changed"

/// The URL of the store that changed.
public let NSPersistentStoreURLKey = "storeURL"

/// The history token of the change. No notification has one yet.
public let NSPersistentHistoryTokenKey = "historyToken"
