import Foundation
import Synchronization

/// Carries the last results of a request from their context's queue to one reader.
package final class ResultsFeed<Value: Sendable>: @unchecked Sendable {
    // Sendable: comments name the guarded properties; the rest belongs to the queue of the context.

    private struct Waiting {
        var objectIDs: [NSManagedObjectID]
        var values: [Value]
        /// Objects that changed since the state that was read last.
        var updated: Set<NSManagedObjectID>
    }

    /// The state that the reader has not read yet. The mutex guards it.
    private let waiting = Mutex<Result<Waiting, any Error>?>(nil)
    /// Signals to the reader that there is a state, once until it is read.
    private let signal: AsyncStream<Void>.Continuation

    // On the context's queue.
    private var results: FetchedResults?
    private var value: ((NSManagedObject) throws -> Value)?
    private var values: [ObjectIdentifier: Value] = [:]
    /// Objects whose values have to be made again.
    private var stale: [NSManagedObject] = []
    /// Objects that changed since the last state was pushed.
    private var updatedIDs: Set<NSManagedObjectID> = []
    private var hasChanged = false
    private var hasTemporaryIDs = false

    init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    deinit {
        // Objects are released on the queue that they belong to.
        guard let results else { return }
        let kept = Unchecked(results)
        results.context.gate.async { withExtendedLifetime(kept) {} }
    }

    /// Fetches, and follows the results from now on. Runs on the context's queue.
    ///
    /// - Parameter value: makes the reader's value of an object.
    package func follow<Object>(
        _ request: NSFetchRequest<Object>, in context: NSManagedObjectContext,
        value: @escaping (NSManagedObject) throws -> Value
    ) {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        request.copyValues(to: copy)
        copy.resultType = .managedObjectResultType
        let results = FetchedResults(context: context, sectionNameKeyPath: nil)
        self.results = results
        self.value = value
        do {
            try results.fetch(copy, needsOrder: false)
            results.follower = self
            stale = results.contents?.objects.compactMap { $0 as? NSManagedObject } ?? []
            try push([])
        } catch {
            fail(error)
        }
    }

    /// Ends the sequence with an error.
    package func fail(_ error: any Error) {
        waiting.withLock { $0 = .failure(error) }
        end()
    }

    private func end() {
        signal.yield()
        signal.finish()
    }

    /// Makes the present state the next one that the reader finds.
    private func push(_ updated: Set<NSManagedObjectID>) throws {
        guard let results, let value else { return }
        let objects = results.contents?.objects.compactMap { $0 as? NSManagedObject } ?? []
        for object in hasTemporaryIDs ? objects : stale { values[ObjectIdentifier(object)] = try value(object) }
        stale = []
        let objectIDs = objects.map(\.objectID)
        hasTemporaryIDs = objectIDs.contains(where: \.isTemporaryID)
        let all = try objects.map { try values[ObjectIdentifier($0)] ?? value($0) }
        waiting.withLock { waiting in
            var updated = updated
            if case .success(let unread)? = waiting { updated.formUnion(unread.updated) }
            waiting = .success(Waiting(objectIDs: objectIDs, values: all, updated: updated))
        }
        signal.yield()
    }

    /// Returns the state that the reader has not read yet, with its difference to a former one.
    ///
    /// - Parameter former: the IDs of the state that was read last; nil before the first.
    func take(after former: [NSManagedObjectID]?) throws -> ResultsState<Value>? {
        let taken = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        guard let waiting = try taken?.get() else { return nil }
        return ResultsState(
            objectIDs: waiting.objectIDs, values: waiting.values,
            difference: former.map { CollectionDifference(from: $0, to: waiting.objectIDs) },
            updatedObjectIDs: former == nil
                ? [] : waiting.updated.intersection(former ?? []).intersection(waiting.objectIDs))
    }
}

extension ResultsFeed: ResultsFollower {
    func results(_ results: FetchedResults, didChange changes: ResultsChanges) {
        hasChanged = true
        for change in changes.objects {
            if change.kind == .delete {
                values[ObjectIdentifier(change.object)] = nil
            } else {
                stale.append(change.object)
                if change.kind != .insert { updatedIDs.insert(change.object.objectID) }
            }
        }
    }

    func resultsDidReachStore(_ results: FetchedResults) {
        guard hasChanged || hasTemporaryIDs else { return }
        hasChanged = false
        let updated = updatedIDs
        updatedIDs = []
        do { try push(updated) } catch { fail(error) }
    }

    func resultsWereForgotten(_ results: FetchedResults) { end() }
}
