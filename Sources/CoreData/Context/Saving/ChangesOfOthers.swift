import Dispatch

extension NSManagedObjectContext {
    /// A context without a parent reads again what it holds. Its children hear of what it takes over.
    func storeWasChangedByOthers() {
        guard parentContext == nil, automaticallyMergesChangesFromParent, rereading.begin() else { return }
        readAgain()
    }

    /// Reads again what the context holds, on no queue of its own, and takes over what is different.
    ///
    /// - Parameter pause: seconds until it is tried again where the store cannot be read.
    private func readAgain(pause: Double = 0.5) {
        perform {
            let held = self.heldRows
            DispatchQueue.global(qos: .utility).async {
                do {
                    let differences = try held.differences()
                    self.perform {
                        self.takeOver(differences)
                        if self.rereading.end() { self.readAgain() }
                    }
                } catch {
                    Warnings.sayOnce(about: "changes of others") {
                        "What others have saved cannot be read at present, and contexts show what they had: \(error.localizedDescription)"
                    }
                    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) { [reference = self.reference] in
                        reference.object?.readAgain(pause: min(pause * 2, Self.longestPause))
                    }
                }
            }
        }
    }

    /// Seconds between attempts to read what others have saved.
    private static var longestPause: Double { 30 }
}
