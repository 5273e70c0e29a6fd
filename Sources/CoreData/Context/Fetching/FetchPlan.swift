/// What the stores are asked for by one fetch, and what remains to be done with their answers.
struct FetchPlan: @unchecked Sendable {
    // Sendable: the stores and their rows are; the request is a value that is only read, as is the overlay, whose objects are only
    // counted on other threads; and stores that look at the fetch's context are not asked there.
    let request: ResolvedRequest
    /// What each store is asked for, before the overlay changes it.
    var asked: StoreFetch
    /// The unsaved changes that bear on the fetch.
    let overlay: PendingOverlay?
    /// Whether rows are read in batches, when their objects are used.
    let usesBatches: Bool
    var sources: [(store: NSPersistentStore, rows: any RowSource)] = []

    typealias Answer = (store: NSPersistentStore, answer: StoreFetchResult)

    /// Whether the answers to another plan of the same request are what this one needs.
    func asksForTheSame(as other: FetchPlan) -> Bool {
        switch (overlay, other.overlay) {
        case (nil, nil): true
        case (let overlay?, let other?): overlay.asksForTheSame(as: other)
        default: false
        }
    }

    /// Asks the stores. Touches nothing of the context.
    ///
    /// - Parameter countingOnly: whether only numbers of rows are asked for, of all rows.
    func answers(countingOnly: Bool = false) throws -> [Answer] {
        let isShared = request.stores.count > 1
        return try sources.map { store, rows in
            var asked = isShared && (countingOnly || overlay == nil) ? asked.ofOneAmongSeveral : asked
            if let overlay { asked = overlay.storeFetch(asked, store: store, isOnly: !isShared && !countingOnly) }
            return (store, try rows.fetch(asked))
        }
    }
}
