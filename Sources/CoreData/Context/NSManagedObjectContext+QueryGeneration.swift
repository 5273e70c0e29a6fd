import Foundation

// Reading a state of the stores that others' saves do not change.

extension NSManagedObjectContext {
    /// The state of the stores that the context reads; nil while it reads the newest one, and for a context with a parent.
    ///
    /// Another context is pinned to the same state with it.
    ///
    /// ```swift
    /// try other.setQueryGenerationFrom(context.queryGenerationToken)  // both see the same state of the stores
    /// ```
    public final var queryGenerationToken: NSQueryGenerationToken? { generation.map(NSQueryGenerationToken.init) }

    /// Pins what the context reads to a state of the stores, or unpins it.
    ///
    /// ```swift
    /// try context.setQueryGenerationFrom(.current)
    /// ```
    ///
    /// Fetches and faults then read what was there when one of the contexts with this generation first read after it was pinned,
    /// whatever others save; a store that was added later has no objects. Saving, `mergeChanges`, automatic merging and `reset()` let the
    /// context go on to the state that is current when it reads next; batch requests do not. Objects that are loaded stay as they are.
    /// What is saved meets the rows of today: where others have changed them, the save has a conflict.
    ///
    /// Stores that are not SQLite files with a write-ahead log cannot keep a state, and are read as they are. A pinned state costs a
    /// connection to each file, whose log grows while it lasts: let it go with the context or by unpinning.
    ///
    /// - Parameter generation: `.current` for the state at the next read, another context's token for its state, nil for the newest
    ///   state at each time.
    /// - Throws: an error for a context with a parent, which reads what that has, and for a token of another coordinator.
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        guard parentContext == nil else {
            throw CoreDataErrors.make(
                .persistentStoreUnsupportedRequestType,
                "The context\(nameInMessages) has a parent, and reads what that has: it cannot be pinned to a generation of the stores.",
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
                recovery: "Pin it to NSQueryGenerationToken.current, or to the token of a context with the same coordinator.")
        }
        self.generation = pinned
    }

    /// Goes on to the state that is current at the next read, if the context is pinned.
    func advanceGeneration() {
        if generation != nil { generation = QueryGeneration(of: persistentStoreCoordinator) }
    }

    /// Writes changes while the context reads the newest rows, which the changes must fit.
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
