import Foundation

// Notifications of coordinators, and the keys of their userInfo.
extension NSNotification.Name {
    /// On Apple's platforms posted when a service outside the program is about to exchange the stores, and not when the
    /// program adds or removes one. There is no such service here: it is never posted.
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

    /// Posted before a coordinator removes a store; the notification's object is the store, and there is no userInfo.
    ///
    /// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification>
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// Posted by a coordinator after a save has changed a store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`,
    /// with `NSStoreUUIDKey` and `NSPersistentStoreURLKey`. Saves of this process are noticed, through whatever coordinator
    /// they go. Posted on a queue of its own, after the save.
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

/// The history token of the change.
public let NSPersistentHistoryTokenKey = "historyToken"
