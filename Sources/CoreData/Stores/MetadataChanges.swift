import Foundation
import Synchronization

/// What is to be written of the metadata of a store that others write too: what a program has set or removed since they were read, and
/// what the coordinator has added to them.
package final class MetadataChanges: Sendable {
    private struct State: @unchecked Sendable {
        // Sendable: only reached through the mutex. Metadata values are property list values.
        /// As they were read from the store, or last written to it.
        var stored: [String: Any] = [:]
        /// As they are set.
        var held: [String: Any] = [:]
        var areDifferent = false
        /// What a transaction has written that is not known to be committed.
        var written: [String: Any]?
        var writer: UUID?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool { state.withLock { !$0.areDifferent } }

    /// Begins anew with metadata that were just read from the store.
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

    /// What a program has set or removed and no transaction has written.
    package var unwritten: Unwritten {
        state.withLock { state in
            let keys = Set(state.held.keys).union(state.stored.keys).subtracting(NSPersistentStore.ownMetadataKeys)
            let changed = keys.filter { !SameValues.areSame(state.held[$0], state.stored[$0]) }
            return Unwritten(values: state.held.filter { changed.contains($0.key) }, removed: changed.filter { state.held[$0] == nil })
        }
    }

    package struct Unwritten: @unchecked Sendable {
        // Sendable: metadata values are property list values.
        fileprivate let values: [String: Any]
        fileprivate let removed: Set<String>

        /// The same changes in metadata that were read elsewhere.
        package func added(to metadata: [String: Any]) -> [String: Any] {
            metadata.filter { !removed.contains($0.key) }.merging(values) { _, changed in changed }
        }
    }

    /// What a transaction has to write.
    ///
    /// - Parameters:
    ///   - current: what the store has now; nil where that was lost.
    ///   - transaction: names it to `wereCommitted(in:)`, where several are made at once.
    /// - Returns: nil where the store has all changes already.
    package func write(over current: [String: Any]?, in transaction: UUID? = nil) -> [String: Any]? {
        let current = Unchecked(current)
        return state.withLock { state -> Unchecked<[String: Any]?> in
            state.written = state.held
            state.writer = transaction
            // Without a UUID the rest is lost too.
            guard let present = current.value, present[NSStoreUUIDKey] != nil else { return Unchecked(state.held) }
            var merged = present
            for key in Set(state.held.keys).union(state.stored.keys) where !SameValues.areSame(state.held[key], state.stored[key]) {
                // What others have made of the store meanwhile is described by their entries.
                if NSPersistentStore.ownMetadataKeys.contains(key), !SameValues.areSame(present[key], state.stored[key]) { continue }
                merged[key] = state.held[key]
            }
            return Unchecked(SameValues.areSame(merged, present) ? nil : merged)
        }.value
    }

    /// Called when a transaction was committed. One that has written nothing changes nothing.
    package func wereCommitted(in transaction: UUID? = nil) {
        state.withLock { state in
            guard let written = state.written, state.writer == transaction else { return }
            state.stored = written
            state.written = nil
            // They may have been set again meanwhile.
            state.areDifferent = !SameValues.areSame(state.held, state.stored)
        }
    }

}
