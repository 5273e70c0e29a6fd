import Foundation

// Notifications of coordinators, and the keys of their userInfo.
extension NSNotification.Name {
    /// Posted by a coordinator before its stores change, with `NSAddedPersistentStoresKey` or
    /// `NSRemovedPersistentStoresKey`. Posted on the thread that adds or removes the store.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoreswillchangenotification>
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// Posted by a coordinator after its stores changed, with `NSAddedPersistentStoresKey`,
    /// `NSRemovedPersistentStoresKey` or `NSUUIDChangedPersistentStoresKey`.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorstoresdidchangenotification>
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// Posted by a coordinator before it removes a store; there is no userInfo.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification>
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// Posted by a coordinator when a store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey` was changed, with
    /// `NSStoreUUIDKey`, `NSPersistentStoreURLKey` and, where history is tracked, `NSPersistentHistoryTokenKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The stores (`[NSPersistentStore]`) that were added.
public let NSAddedPersistentStoresKey = "added"

/// The stores (`[NSPersistentStore]`) that were removed.
public let NSRemovedPersistentStoresKey = "removed"

/// A store before and after its UUID changed (`[NSPersistentStore]`).
public let NSUUIDChangedPersistentStoresKey = "changed"

/// The URL of the store that changed.
public let NSPersistentStoreURLKey = "storeURL"

/// The history token of the change.
public let NSPersistentHistoryTokenKey = "historyToken"
