import Synchronization

/// An option for the history of stores that other parts of this package open.
///
/// It is not part of Core Data's public API.
package enum HistoryTracking {
    /// With the value true, saves of a store that has history tables are recorded; a store without
    /// them gets none.
    package static let continuingOption = "OpenCoreDataContinuesHistory"

    /// With the value true, saves are not recorded, and the history of the store stays as it is.
    static let pausingOption = "OpenCoreDataPausesHistory"
}

extension NSPersistentStore {
    /// Decides whether the saves of a store that is being opened are recorded. A store whose
    /// history would get a gap becomes read-only.
    ///
    /// - Parameters:
    ///   - hasTables: whether the store has tables for a history.
    ///   - hasTransactions: whether it has a history; asked only where it has tables.
    package final func recordsHistory(hasTables: Bool, hasTransactions: () throws -> Bool) throws -> Bool {
        forgetUntrackedHistory()
        if isReadOnly || Self.flag(options, HistoryTracking.pausingOption) { return false }
        if Self.wantsHistory(options) || hasTables && Self.flag(options, HistoryTracking.continuingOption) {
            return true
        }
        if hasTables, try hasTransactions() {
            isReadOnly = true
            readOnlyReason = .untrackedHistory
            warnOfUntrackedHistory()
        }
        return false
    }

    /// Runs a block that opens the store elsewhere. If it fails, the store may be written where it
    /// is as before.
    package final func restoringPermission<Result>(_ open: () throws -> Result) throws -> Result {
        let (wasReadOnly, reason) = (isReadOnly, readOnlyReason)
        do { return try open() } catch {
            (isReadOnly, readOnlyReason) = (wasReadOnly, reason)
            throw error
        }
    }

    /// Called before a store is opened again: the store that is now at the URL may have no history.
    final func forgetUntrackedHistory() {
        guard readOnlyReason == .untrackedHistory else { return }
        readOnlyReason = .option
        isReadOnly = false
    }

    /// Warns that a store is read-only because its history would get a gap.
    ///
    /// Readers of the history would miss new saves.
    ///
    /// Core Data does the same, whether the option is missing or false
    /// (<https://mjtsai.com/blog/2023/08/15/turning-off-core-data-persistent-history-tracking/>).
    private func warnOfUntrackedHistory() {
        let place = StoreName.path(url)
        Warnings.sayOnce(about: "history of \(place)") {
            "The store at \(place) has persistent history and was opened without NSPersistentHistoryTrackingKey: it "
                + "is read-only, so that "
                + "its history gets no gap. Add it with the option to save."
        }
    }

    /// Posts `NSPersistentStoreRemoteChange` for a store on a server.
    ///
    /// - Parameter transaction: the number of the last transaction in the history; nil where none
    ///   was recorded.
    package final func postRemoteChange(_ transaction: Int64?) { RemoteChanges.shared.post(self, transaction) }

    /// Called after changes were committed: tells observers, and deletes history that is not to be
    /// kept.
    ///
    /// - Parameter transaction: the number of the transaction in the history; nil where it was not
    ///   recorded.
    package final func didWrite(_ transaction: Int64?) {
        RemoteChanges.shared.storeDidWrite(self, transaction)
        guard let transaction else { return }
        knownHistory.committed(transaction)
        boundHistory(after: transaction)
    }

    private func boundHistory(after transaction: Int64) {
        let former = knownHistory.lastRetentionStep.load(ordering: .relaxed)
        guard transaction >= former + HistoryRetention.transactionsBetweenSteps,
            let option = options?[HistoryRetention.option] as? HistoryRetentionOption, let history,
            // One of several writers takes the step.
            knownHistory.lastRetentionStep.compareExchange(expected: former, desired: transaction, ordering: .relaxed)
                .exchanged
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
