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
