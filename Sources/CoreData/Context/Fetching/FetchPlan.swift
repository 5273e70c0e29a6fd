/// The requests of one fetch to the stores, and the work that remains on their answers.
///
/// Another thread may ask for the answers. The request is a value that is only read, as is the
/// overlay, whose objects are only counted there. Stores that look at the fetch's context are not
/// asked on other threads.
struct FetchPlan {
    let request: ResolvedRequest
    /// The fetch that each store executes, before the overlay changes it.
    var asked: StoreFetch
    /// The unsaved changes that affect the fetch.
    let overlay: PendingOverlay?
    /// Whether rows are read in batches, when their objects are used.
    let usesBatches: Bool
    var sources: [(store: NSPersistentStore, rows: any RowSource)] = []

    typealias Answer = (store: NSPersistentStore, answer: StoreFetchResult)

    /// Whether the answers to another plan of the same request have all that this plan needs.
    func asksForTheSame(as other: FetchPlan) -> Bool {
        switch (overlay, other.overlay) {
        case (nil, nil): true
        case (let overlay?, let other?): overlay.asksForTheSame(as: other)
        default: false
        }
    }

    /// Fetches from the stores. Does not use the context.
    ///
    /// - Parameter countingOnly: whether to fetch only the numbers of all matching rows.
    func answers(countingOnly: Bool = false) throws -> [Answer] {
        let isShared = request.stores.count > 1
        return try sources.map { store, rows in
            var asked = isShared && (countingOnly || overlay == nil) ? asked.ofOneAmongSeveral : asked
            if let overlay { asked = overlay.storeFetch(asked, store: store, isOnly: !isShared && !countingOnly) }
            return (store, try rows.fetch(asked))
        }
    }
}
