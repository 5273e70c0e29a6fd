import Dispatch

extension NSManagedObjectContext {
    /// Reloads the rows that a context without a parent holds, if it merges automatically, after
    /// another program saved. Its children are notified of the merged changes.
    func wasChangedByOthers(_ store: NSPersistentStore, after transaction: Int64?) {
        guard parentContext == nil, automaticallyMergesChangesFromParent,
            rereading.begin(store, after: transaction)
        else { return }
        readAgain()
    }

    /// Reads held rows of changed stores again, until no more stores are changed.
    private func readAgain() {
        if let changed = rereading.next() { readAgain(changed) }
    }

    /// Reads held rows again, outside the context's queue, and merges the differences.
    ///
    /// - Parameter pause: Seconds until the next attempt if the store cannot be read.
    private func readAgain(_ changed: ChangedStores, pause: Double = 0.5) {
        perform {
            let held = self.heldRows
            DispatchQueue.global(qos: .utility).async {
                do {
                    let differences = try held.differences(in: changed)
                    self.perform {
                        self.takeOver(differences)
                        self.readAgain()
                    }
                } catch {
                    Warnings.sayOnce(about: "changes of others") {
                        "What others have saved cannot be read at present, and contexts show what they had: "
                            + "\(error.localizedDescription)"
                    }
                    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) {
                        [reference = self.reference] in
                        reference.object?.readAgain(changed, pause: min(pause * 2, Self.longestPause))
                    }
                }
            }
        }
    }

    /// The longest pause, in seconds, between attempts to read what another program has saved.
    private static var longestPause: Double { 30 }
}
