extension DataStack {
    /// Snapshots of the objects of a class that match a predicate, now and after each save that
    /// changes them.
    ///
    /// ```swift
    /// for try await state in stack.results(
    ///     Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)]
    /// ) {
    ///     show(state.values, state.difference)
    /// }
    /// ```
    ///
    /// The first element is the present state, as soon as the store is open. States that arrive
    /// while nobody reads are combined; the last one is never lost. The sequence ends when the
    /// stack is closed or released, and when the iterating task is cancelled.
    ///
    /// Snapshots are made in the background, only for changed objects. With a limit, each save that
    /// concerns the entity executes the request again.
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - predicate: selects the objects; nil for all.
    ///   - orderings: the sort order; earlier orderings come first.
    ///   - limit: the greatest number of objects; nil for no limit.
    /// - Returns: a sequence that throws the error of opening the store, ``DataStackError/closed``,
    ///   errors of the fetch, and `SnapshotError.losesProperties` for objects of subclasses with
    ///   properties of their own: name their snapshot type.
    public func results<Object: EntityObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil
    ) -> ResultsSequence<Object.Snapshot> {
        results(QueryRequest(type, predicate, orderings, limit: limit)) { try $0.wholeSnapshot() }
    }

    /// Snapshots of a type of the objects that match a predicate; otherwise as
    /// `results(_:where:sortBy:limit:)`.
    ///
    /// ```swift
    /// for try await state in stack.results(Novel.Snapshot.self, sortBy: [.ascending(\.title)]) {
    ///     print(state.values.count)
    /// }
    /// ```
    public func results<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, where predicate: Predicate<Snapshot.Object>? = nil,
        sortBy orderings: [Ordering<Snapshot.Object>] = [],
        limit: Int? = nil
    ) -> ResultsSequence<Snapshot> {
        results(QueryRequest(Snapshot.Object.self, predicate, orderings, limit: limit)) { $0._snapshot(type, []) }
    }

    /// Snapshots of one object, now and after each save that changes it. The sequence ends when the
    /// object is deleted, and otherwise as `results(_:where:sortBy:limit:)`.
    ///
    /// ```swift
    /// for try await item in stack.values(of: itemID, as: Item.self) {
    ///     print(item.name, item.stockCount)
    /// }
    /// ```
    ///
    /// - Returns: a sequence that throws the same errors as that one, and code 133000 when there is
    ///   no such object.
    public func values<Object: EntityObject>(of objectID: NSManagedObjectID, as type: Object.Type) -> ObjectValues<
        Object.Snapshot
    > {
        ObjectValues(states: results(QueryRequest<Object>(objectID)) { try $0.wholeSnapshot() }, objectID: objectID)
    }

    /// Snapshots of the object behind a view, now and after each save that changes it; see
    /// `values(of:as:)`.
    ///
    /// ```swift
    /// for try await item in stack.values(of: view) { print(item.name) }
    /// ```
    public func values<Object: EntityObject>(of view: ReadOnly<Object>) -> ObjectValues<Object.Snapshot> {
        values(of: view.objectID, as: Object.self)
    }

    private func results<Object: NSManagedObject, Value: Sendable>(
        _ request: QueryRequest<Object>, _ value: @escaping @Sendable (Object) throws -> Value
    ) -> ResultsSequence<Value> {
        ResultsSequence { feed in
            self.whenOpen { _ in
                do {
                    let store = try self.openedStore()
                    guard let context = store.makeResultsContext() else { throw DataStackError.closed }
                    context.perform {
                        do {
                            // Sequences that begin before the store is closed are ended by the
                            // closing.
                            if store.isEnded { throw DataStackError.closed }
                            feed.follow(try request.request(in: context), in: context) { object in
                                guard let object = object as? Object else {
                                    throw SafeCoreDataErrors.wrongClass(object.objectID, Object.self)
                                }
                                return try value(object)
                            }
                        } catch {
                            feed.fail(error)
                        }
                    }
                } catch {
                    feed.fail(error)
                }
            }
        }
    }
}

/// A sequence of the values of one object.
///
/// ```swift
/// let values = stack.values(of: view)                     // ObjectValues<Item.Snapshot>
/// for try await item in values { print(item.stockCount) }
/// ```
public struct ObjectValues<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    let states: ResultsSequence<Value>
    let objectID: NSManagedObjectID

    /// Returns an iterator that begins to follow the object.
    public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator(), objectID: objectID) }

    /// An iterator over the values of one object.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var states: ResultsSequence<Value>.Iterator
        fileprivate let objectID: NSManagedObjectID
        private var isFirst = true

        fileprivate init(states: ResultsSequence<Value>.Iterator, objectID: NSManagedObjectID) {
            self.states = states
            self.objectID = objectID
        }

        /// The next value; nil when the sequence has ended.
        ///
        /// - Throws: the errors that the function that returned the sequence documents; code 133000
        ///   when the object does not exist at the first value.
        public mutating func next() async throws -> Value? {
            guard let state = try await states.next() else { return nil }
            if state.values.isEmpty, isFirst {
                throw CoreDataErrors.make(
                    .managedObjectReferentialIntegrity,
                    "There is no object with the ID \(objectID.uriRepresentation().absoluteString) to follow.",
                    userInfo: [NSAffectedObjectsErrorKey: [objectID]])
            }
            isFirst = false
            return state.values.first
        }
    }
}
