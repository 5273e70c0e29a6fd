import Dispatch

extension NSManagedObjectContext {
    /// Reloads the rows that a context holds, after another program saved.
    func wasChangedByOthers(_ changed: ChangedStores) { if rereading.begin(changed) { readAgain() } }

    /// Reads held rows of changed stores again, until no more stores are changed.
    private func readAgain() {
        if let changed = rereading.next() { readAgain(changed) }
    }

    /// Reads held rows again that others have changed, and merges the differences. Children that
    /// merge automatically follow: they hold rows that this context does not.
    ///
    /// - Parameter pause: Seconds until the next attempt if a store cannot be read.
    private func readAgain(_ changed: ChangedStores, pause: Double = 0.5) {
        perform {
            self.advanceGeneration()
            let coordinator = self.persistentStoreCoordinator
            let stores = changed.among(coordinator?.addedStores.map(\.store) ?? [])
            let limit = self.registry.objectCount
            self.read(changed, pause) {
                try RecordedRows(stores, limit: limit)
            } then: { recorded in
                // Stores of another coordinator have the same numbers.
                guard self.persistentStoreCoordinator === coordinator else { return self.readAgain() }
                let held = self.heldRows { $0.committedRow == nil ? .nothing : recorded.part(of: $0) }
                self.read(changed, pause) {
                    try held.differences()
                } then: { differences in
                    self.takeOver(differences)
                    for child in self.mergingChildren.all { child.wasChangedByOthers(changed) }
                    self.readAgain()
                }
            }
        }
    }

    /// Reads stores, and calls a block on the context's queue with what was read. Begins again
    /// later if a store cannot be read.
    ///
    /// A context without a parent reads outside its queue. A child reads through its parent, which
    /// it may do on its own queue only.
    private func read<Value: Sendable>(
        _ changed: ChangedStores, _ pause: Double, _ body: @escaping @Sendable () throws -> Value,
        then proceed: @escaping @Sendable (Value) -> Void
    ) {
        let work: @Sendable () -> Void = {
            do {
                let value = try body()
                self.perform { proceed(value) }
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
        if parentContext == nil { DispatchQueue.global(qos: .utility).async(execute: work) } else { work() }
    }

    /// The longest pause, in seconds, between attempts to read what another program has saved.
    private static var longestPause: Double { 30 }
}
