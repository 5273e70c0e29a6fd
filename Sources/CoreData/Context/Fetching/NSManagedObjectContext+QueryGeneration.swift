import Foundation

// Reading a state of the stores that later saves do not change.

extension NSManagedObjectContext {
    /// The state of the stores that the context reads; nil while it reads the newest one, and for a
    /// context with a parent.
    ///
    /// Use it to pin another context to the same state.
    ///
    /// ```swift
    /// // Both see the same state of the stores.
    /// try other.setQueryGenerationFrom(context.queryGenerationToken)
    /// ```
    public final var queryGenerationToken: NSQueryGenerationToken? { generation.map(NSQueryGenerationToken.init) }

    /// Pins the reads of the context to a state of the stores, or unpins them.
    ///
    /// ```swift
    /// try context.setQueryGenerationFrom(.current)
    /// ```
    ///
    /// Fetches and faults then read the state that was current when one of the contexts with this
    /// generation first read after it was pinned. Later saves do not change it, and a store that
    /// was added later has no objects. Saving, `mergeChanges`, automatic merging and `reset()` let
    /// the context continue to the state that is current at its next read; batch requests do not.
    /// Loaded objects stay as they are. A save compares with the newest rows: if another writer has
    /// changed them, the save has a conflict.
    ///
    /// Stores other than SQLite files with a write-ahead log cannot keep a state, and are read as
    /// they are. A pinned state costs a connection to each file, whose log grows while the state is
    /// pinned: release it by unpinning or with the context.
    ///
    /// - Parameter generation: `.current` for the state at the next read, another context's token
    ///   for its state, nil for the newest state at each time.
    /// - Throws: An error for a context with a parent, which reads its parent's state, and for a
    ///   token of another coordinator.
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        guard parentContext == nil else {
            throw CoreDataErrors.make(
                .persistentStoreUnsupportedRequestType,
                "The context\(nameInMessages) has a parent, and reads what that has: it cannot be pinned to a "
                    + "generation of the stores.",
                recovery: "Pin the context at the top, which has a coordinator.")
        }
        guard let generation else {
            self.generation = nil
            return
        }
        let coordinator = try requireCoordinator("be pinned to a generation")
        guard let pinned = generation.generation else {
            self.generation = QueryGeneration(of: coordinator)
            return
        }
        guard pinned.coordinator === coordinator else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The generation is one of another coordinator's stores than those of the context\(nameInMessages).",
                recovery:
                    "Pin it to NSQueryGenerationToken.current, or to the token of a context with the same coordinator.")
        }
        self.generation = pinned
    }

    /// Continues to the state that is current at the next read, if the context is pinned.
    func advanceGeneration() {
        if generation != nil { generation = QueryGeneration(of: persistentStoreCoordinator) }
    }

    /// Writes changes while the context reads the newest rows, which the changes must match.
    func unpinned<Result>(_ write: () throws -> Result) throws -> Result {
        guard let former = generation else { return try write() }
        generation = nil
        do {
            let result = try write()
            generation = QueryGeneration(of: persistentStoreCoordinator)
            return result
        } catch {
            generation = former
            throw error
        }
    }
}
