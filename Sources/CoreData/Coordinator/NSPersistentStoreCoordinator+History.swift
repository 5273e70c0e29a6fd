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
    /// - Parameter stores: `NSPersistentStore`s of this coordinator; nil or an empty array for all of
    ///   them.
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

    /// The stores that have a history, among the affected ones where these are given.
    func histories(
        among affected: [NSPersistentStore]?
    ) -> [(store: NSPersistentStore, history: any StoreHistory)] {
        addedStores.map(\.store).filter { store in affected?.contains { $0.isTwin(of: store) } ?? true }
            .compactMap { store in store.history.map { (store, $0) } }
    }
}
