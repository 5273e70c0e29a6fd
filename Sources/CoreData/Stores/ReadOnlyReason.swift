import Foundation

/// Why a store refuses saves.
enum ReadOnlyReason {
    /// It was added so, or the program said so later.
    case option
    /// It has persistent history, and was added without saying that it shall be continued.
    case untrackedHistory

    /// What to do about it.
    var recovery: String {
        switch self {
        case .option: "Add the store without NSReadOnlyPersistentStoreOption."
        case .untrackedHistory:
            "The store has persistent history, which would get a gap: remove the store and add it with NSPersistentHistoryTrackingKey."
        }
    }
}

extension CoreDataErrors {
    /// Code 513, which a Mac gives.
    package static func storeIsReadOnly(_ stores: [NSPersistentStore], _ message: String, orElse alternative: String? = nil) -> NSError {
        let store = stores.first { $0.readOnlyReason == .untrackedHistory } ?? stores.first
        var userInfo: [String: Any] = [NSAffectedStoresErrorKey: stores]
        if let url = store?.url, url.isFileURL { userInfo[NSFilePathErrorKey] = url.path }
        return make(
            .fileWriteNoPermission, message,
            recovery: [store?.readOnlyReason.recovery, alternative].compactMap { $0 }.joined(separator: " "), userInfo: userInfo)
    }
}
