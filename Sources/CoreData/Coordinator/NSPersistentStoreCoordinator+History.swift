import Foundation

// The histories of the coordinator's stores.
extension NSPersistentStoreCoordinator {
    /// The place after the last transaction in the histories of stores.
    ///
    /// ```swift
    /// // Before the first fetch: what is saved from here on is in the history after this token.
    /// lastToken = coordinator.currentPersistentHistoryToken(fromStores: nil)
    /// ```
    ///
    /// Cost: one look-up in each store.
    ///
    /// - Parameter stores: `NSPersistentStore`s of this coordinator; nil or an empty array for all
    ///   of them.
    /// - Returns: nil where no store has a history, and where none can be read.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = (stores ?? []).compactMap { $0 as? NSPersistentStore }
        var numbers: [String: Int64] = [:]
        for (store, history) in histories(among: stores?.isEmpty == false ? wanted : nil) {
            guard let span = try? history.historySpan(), let identifier = store.identifier else { continue }
            numbers[identifier] = span.last
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }

    // MARK: - Named readers

    /// The places of a named reader in the histories of the stores: the last transactions that it
    /// has read.
    ///
    /// - Returns: nil where no store knows the reader.
    /// - Throws: errors of reading the stores.
    public func historyToken(forReader name: String) throws -> NSPersistentHistoryToken? {
        var numbers: [String: Int64] = [:]
        for (store, history) in histories(among: nil) {
            guard let number = try history.historyReaders()[name], let identifier = store.identifier else { continue }
            numbers[identifier] = number
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }

    /// Returns the places of a named reader. A store that does not know it yet keeps it from here
    /// on, before the oldest transaction.
    ///
    /// - Returns: nil where no store has a history.
    package func historyToken(beginning reader: String) throws -> NSPersistentHistoryToken? {
        for (_, history) in histories(among: nil) {
            try history.setHistoryPlace(ofReader: reader) { $0 ?? ($1.first.map { $0 - 1 } ?? $1.last) }
        }
        return try historyToken(forReader: reader)
    }

    /// Moves a named reader on to a token. It stays where it is if it is there or further already,
    /// if it was removed, and where the store has not come to the token, because it was replaced.
    package func advanceHistoryReader(_ reader: String, to token: NSPersistentHistoryToken) throws {
        for (store, history) in histories(among: nil) {
            guard let number = token.number(in: store) else { continue }
            try history.setHistoryPlace(ofReader: reader) { present, span in
                guard let present, number <= span.last else { return present }
                return max(present, number)
            }
        }
    }

    /// Keeps the place of a named reader in the stores themselves. What a reader has not read is
    /// not deleted by a `HistoryRetention`.
    ///
    /// Every process that opens the stores finds the place. A reader that is not used any more
    /// keeps the history from being deleted: remove it with nil.
    ///
    /// ```swift
    /// for transaction in transactions {
    ///     try await upload(transaction)
    ///     try coordinator.setHistoryToken(transaction.token, forReader: "uploader")
    /// }
    /// ```
    ///
    /// Cost: one write transaction in each store that the token names.
    ///
    /// - Parameters:
    ///   - token: a token of these stores. A store that it does not name keeps its place. Nil
    ///     removes the reader.
    ///   - name: a name of your choice, the same in all processes.
    /// - Throws: errors of writing, and `CocoaError.persistentStoreOperation` (134030) where the
    ///   token names no store that has a history.
    public func setHistoryToken(_ token: NSPersistentHistoryToken?, forReader name: String) throws {
        var isKept = token == nil
        for (store, history) in histories(among: nil) {
            let number = token?.number(in: store)
            if token != nil, number == nil { continue }
            try history.setHistoryPlace(ofReader: name) { _, _ in number }
            isKept = true
        }
        guard isKept else { throw CoreDataErrors.noHistoryForReader(name) }
    }

    /// The stores that have a history, among the affected ones where these are given.
    func histories(
        among affected: [NSPersistentStore]?
    ) -> [(store: NSPersistentStore, history: any StoreHistory)] {
        addedStores.map(\.store).filter { store in affected?.contains { $0.isTwin(of: store) } ?? true }
            .compactMap { store in store.history.map { (store, $0) } }
    }
}
