import Foundation

// The errors of requests for history.
extension CoreDataErrors {
    static func noHistoryEntity(_ name: String?) -> NSError {
        misuse(
            "A request for history fetches \(name.map { "the entity '\($0)'" } ?? "no entity").",
            recovery: "Use NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
    }

    static func deletionOfSomeHistory() -> NSError {
        misuse(
            "A request that deletes history has a fetchRequest, but only the first transactions can be deleted: "
                + "readers would not notice that others are missing.",
            recovery: "Delete the history before a token, a transaction or a date.")
    }

    static func expiredHistoryToken(_ number: Int64, _ span: HistorySpan, of store: NSPersistentStore) -> NSError {
        let name = StoreName.text(type: store.type, url: store.url)
        let reason =
            number > span.last
            ? "the last transaction of the store is \(span.last); it was restored or replaced since"
            : "transactions after it were deleted; "
                + (span.first.map { "the first one that is kept is \($0)" } ?? "none is kept")
        return make(
            .persistentHistoryTokenExpired,
            "The history of the store \(name) cannot be read after transaction \(number): \(reason).",
            recovery:
                "Fetch the objects again, and continue from currentPersistentHistoryToken(fromStores:) as it was "
                + "before that.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }
}
