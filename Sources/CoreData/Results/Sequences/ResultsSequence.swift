import Foundation

/// The present results of a request, and again after each save or merge that has changed them.
///
/// The first element is the present state. States that arise while no task reads are combined: the
/// reader always finds the last one, with the difference to the one that it read before. Each
/// iteration follows the results on its own.
///
/// The sequence ends when the context is reset, and when the iterating task is cancelled. It throws
/// the errors of the fetch.
///
/// ```swift
/// let states = context.changes(of: request)               // ResultsSequence<NSManagedObjectID>
/// for try await state in states { print(state.objectIDs.count) }
/// ```
public struct ResultsSequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = ResultsState<Value>

    private let begin: @Sendable (ResultsFeed<Value>) -> Void

    /// - Parameter begin: makes a feed follow its results, as soon as they are available, or fail.
    ///   Called once for each iteration, on any thread.
    package init(_ begin: @escaping @Sendable (ResultsFeed<Value>) -> Void) { self.begin = begin }

    /// Begins to follow the results.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let feed = ResultsFeed<Value>(continuation)
        begin(feed)
        return Iterator(feed: feed, signals: stream.makeAsyncIterator())
    }

    /// Reads one state after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let feed: ResultsFeed<Value>
        fileprivate var signals: AsyncStream<Void>.Iterator
        private var former: [NSManagedObjectID]?

        fileprivate init(feed: ResultsFeed<Value>, signals: AsyncStream<Void>.Iterator) {
            self.feed = feed
            self.signals = signals
        }

        /// The next state; nil when the sequence has ended.
        ///
        /// - Throws: the errors of the fetch.
        public mutating func next() async throws -> ResultsState<Value>? {
            while await signals.next() != nil {
                // A state that was taken with an earlier signal leaves its own signal behind.
                guard let state = try feed.take(after: former) else { continue }
                former = state.objectIDs
                return state
            }
            return nil
        }
    }
}

extension NSManagedObjectContext {
    /// The IDs of a request's results, now and after each save or merge that has changed them.
    ///
    /// Saves of this context count, and merges into it.
    ///
    /// ```swift
    /// for try await state in context.changes(of: request) {
    ///     show(state.objectIDs, state.difference)
    /// }
    /// ```
    ///
    /// The elements are `Sendable`; the objects belong to the context. The sequence may be iterated
    /// anywhere, and keeps the context alive as long as it exists. Unsaved changes are part of a
    /// state, but cause none. Saves of other contexts and programs count when the context merges
    /// them, for instance with `automaticallyMergesChangesFromParent`. Without sort descriptors the
    /// order is that of the keys.
    ///
    /// One change costs time for the objects that changed; each state costs time for all IDs.
    public func changes<Object: NSManagedObject>(of request: NSFetchRequest<Object>) -> ResultsSequence<
        NSManagedObjectID
    > {
        let copy = NSFetchRequest<Object>()
        request.copyValues(to: copy)
        // A copy that nobody changes.
        let asked = Unchecked(copy)
        return ResultsSequence { feed in
            self.perform { feed.follow(asked.value, in: self) { $0.objectID } }
        }
    }
}
