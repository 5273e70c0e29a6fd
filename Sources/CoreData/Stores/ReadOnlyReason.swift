import Foundation

/// The reason why a store refuses saves.
enum ReadOnlyReason {
    /// The store was added as read-only, or the program made it read-only later.
    case option
    /// The store has persistent history, and was added without the option to continue it.
    case untrackedHistory

    /// The recovery suggestion for this reason.
    var recovery: String {
        switch self {
        case .option: "Add the store without NSReadOnlyPersistentStoreOption."
        case .untrackedHistory:
            "The store has persistent history, which would get a gap: remove the store and add it with "
                + "NSPersistentHistoryTrackingKey."
        }
    }
}

extension CoreDataErrors {
    /// Returns an error with code 513, as on macOS.
    package static func storeIsReadOnly(
        _ stores: [NSPersistentStore], _ message: String, orElse alternative: String? = nil
    ) -> NSError {
        let store = stores.first { $0.readOnlyReason == .untrackedHistory } ?? stores.first
        var userInfo: [String: Any] = [NSAffectedStoresErrorKey: stores]
        if let url = store?.url, url.isFileURL { userInfo[NSFilePathErrorKey] = url.path }
        return make(
            .fileWriteNoPermission, message,
            recovery: [store?.readOnlyReason.recovery, alternative].compactMap { $0 }.joined(separator: " "),
            userInfo: userInfo)
    }
}
