import Foundation
import Synchronization

/// The unwritten metadata changes of a store that other processes write too.
///
/// They are the entries that the program has set or removed since the last read, and the entries
/// that the coordinator has added.
package final class MetadataChanges: Sendable {
    private struct State {
        // All values are property list values, which do not change.

        /// The metadata as last read from the store or written to it.
        var stored: [String: Any] = [:]
        /// The metadata as set in this process.
        var held: [String: Any] = [:]
        var areDifferent = false
        /// Metadata that a transaction wrote whose commit is not known yet.
        var written: [String: Any]?
        var writer: UUID?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool { state.withLock { !$0.areDifferent } }

    /// Starts again with metadata that were just read from the store.
    package func begin(with metadata: [String: Any]) {
        let metadata = Unchecked(metadata)
        state.withLock { $0 = State(stored: metadata.value, held: metadata.value) }
    }

    package func set(_ metadata: [String: Any]) {
        let metadata = Unchecked(metadata)
        state.withLock { state in
            state.held = metadata.value
            state.areDifferent = !SameValues.areSame(state.held, state.stored)
        }
    }

    /// Entries that a program has set or removed and no transaction has written.
    var unwritten: Unwritten {
        state.withLock { state in
            let keys = Set(state.held.keys).union(state.stored.keys).filter { !NSPersistentStore.isOwnMetadata($0) }
            let changed = keys.filter { !SameValues.areSame(state.held[$0], state.stored[$0]) }
            return Unwritten(
                values: Unchecked(state.held.filter { changed.contains($0.key) }),
                removed: changed.filter { state.held[$0] == nil })
        }
    }

    struct Unwritten: Sendable {
        /// Property list values, which do not change.
        fileprivate let values: Unchecked<[String: Any]>
        fileprivate let removed: Set<String>

        /// Returns other metadata with the same changes applied.
        func added(to metadata: [String: Any]) -> [String: Any] {
            metadata.filter { !removed.contains($0.key) }.merging(values.value) { _, changed in changed }
        }
    }

    /// Returns other metadata with the entries added or removed that no transaction has written.
    package func added(to metadata: [String: Any]) -> [String: Any] { unwritten.added(to: metadata) }

    /// Returns the metadata that a transaction must write.
    ///
    /// - Parameters:
    ///   - current: the metadata that the store has now; nil where they were lost.
    ///   - transaction: identifies the transaction to `wereCommitted(in:)`, where several run at
    ///     once.
    /// - Returns: nil where the store already has all changes.
    package func write(over current: [String: Any]?, in transaction: UUID? = nil) -> [String: Any]? {
        let current = Unchecked(current)
        return state.withLock { state -> Unchecked<[String: Any]?> in
            state.written = state.held
            state.writer = transaction
            // Metadata without a UUID have lost their other entries too.
            guard let present = current.value, present[NSStoreUUIDKey] != nil else { return Unchecked(state.held) }
            var merged = present
            for key in Set(state.held.keys).union(state.stored.keys)
            where !SameValues.areSame(state.held[key], state.stored[key]) {
                // Another process changed the store meanwhile; its own entries describe the new
                // state.
                if NSPersistentStore.isOwnMetadata(key), !SameValues.areSame(present[key], state.stored[key]) {
                    continue
                }
                merged[key] = state.held[key]
            }
            return Unchecked(SameValues.areSame(merged, present) ? nil : merged)
        }.value
    }

    /// Called when a transaction was committed. No effect unless that transaction wrote metadata.
    package func wereCommitted(in transaction: UUID? = nil) {
        state.withLock { state in
            guard let written = state.written, state.writer == transaction else { return }
            state.stored = written
            state.written = nil
            // The program may have set them again meanwhile.
            state.areDifferent = !SameValues.areSame(state.held, state.stored)
        }
    }

}
