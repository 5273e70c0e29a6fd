import Synchronization

extension NSPersistentStore {
    /// Called after changes were committed: tells observers, and deletes history that is not to be
    /// kept.
    ///
    /// - Parameter transaction: the number of the transaction in the history; nil where it was not
    ///   recorded.
    func didWrite(_ transaction: Int64?) {
        RemoteChanges.shared.storeDidWrite(self, transaction)
        if let transaction { boundHistory(after: transaction) }
    }

    private func boundHistory(after transaction: Int64) {
        let former = lastHistoryStep.load(ordering: .relaxed)
        guard transaction >= former + HistoryRetention.transactionsBetweenSteps,
            let option = options?[HistoryRetention.option] as? HistoryRetentionOption, let history,
            // One of several writers takes the step.
            lastHistoryStep.compareExchange(expected: former, desired: transaction, ordering: .relaxed).exchanged
        else { return }
        do { _ = try history.deleteHistory(.exceeding(option.retention)) } catch {
            // The save was committed, and the next step tries again.
            let name = StoreName.text(type: type, url: url)
            Warnings.sayOnce(about: "retention of \(name)") {
                "The old history of the store \(name) cannot be deleted, and is tried again after further saves: "
                    + error.localizedDescription
            }
        }
    }
}
