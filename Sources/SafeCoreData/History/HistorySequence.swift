/// The transactions of a store's history that a named reader has not read, and the later ones as
/// they are committed. `DataStack.history(reader:)` returns it.
public struct HistorySequence: AsyncSequence, Sendable {
    public typealias Element = NSPersistentHistoryTransaction

    let stack: DataStack
    let reader: String

    /// Returns an iterator that continues at the place of the reader.
    public func makeAsyncIterator() -> Iterator { Iterator(stack: stack, reader: reader) }

    /// An iterator over the transactions.
    public struct Iterator: AsyncIteratorProtocol {
        /// Weak: a loop that waits does not keep the stack open.
        private weak var stack: DataStack?
        private let reader: String
        private var signals: AsyncStream<Void>.Iterator?
        /// The place of the last transaction that was fetched.
        private var place: NSPersistentHistoryToken?
        private var fetched: ArraySlice<NSPersistentHistoryTransaction> = []
        /// The transaction that was returned last.
        private var returned: NSPersistentHistoryTransaction?

        /// The number of transactions that one request fetches.
        private static let fetchLimit = 32

        fileprivate init(stack: DataStack, reader: String) {
            self.stack = stack
            self.reader = reader
        }

        /// The next transaction, as soon as there is one; nil when the sequence has ended.
        ///
        /// - Throws: the errors that the function that returned the sequence documents.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            do {
                if signals == nil { try await begin() }
                if let token = returned?.token {
                    try await stack?.keepPlace(token, of: reader)
                    returned = nil
                }
                while fetched.isEmpty {
                    guard let next = try await fetch() else { return nil }
                    fetched = next
                    // The stack may be released while this waits: only `fetch()` held it.
                    if fetched.isEmpty, await wait() == false { return nil }
                }
                if Task.isCancelled { return nil }
            } catch DataStackError.closed where signals != nil {
                return nil
            } catch is CancellationError {
                return nil
            }
            returned = fetched.removeFirst()
            place = returned?.token
            return returned
        }

        private mutating func begin() async throws {
            guard let stack else { return }
            // Before the first request: a transaction that it does not see gives a signal.
            let signals = try await stack.historySignals().makeAsyncIterator()
            place = try await stack.beginReading(reader)
            self.signals = signals
        }

        /// Returns the next transactions; nil where the stack was released.
        private func fetch() async throws -> ArraySlice<NSPersistentHistoryTransaction>? {
            guard let stack else { return nil }
            return try await stack.history(after: place, limit: Self.fetchLimit)[...]
        }

        /// Waits until something was committed.
        ///
        /// - Returns: false when the sequence ends.
        private mutating func wait() async -> Bool { await signals?.next() != nil }
    }
}

extension DataStack {
    /// Returns a sequence with an element after each commit. It ends when the store is closed.
    nonisolated(nonsending) fileprivate func historySignals() async throws -> AsyncStream<Void> {
        try await onWorkQueue { try self.openedStore().historyFeed.signals() }
    }

    /// Returns the place of a reader, and makes it known to the store if it is new.
    nonisolated(nonsending) fileprivate func beginReading(_ reader: String) async throws -> NSPersistentHistoryToken {
        try await onWorkQueue {
            guard let token = try self.openedStore().coordinator.historyToken(beginning: reader) else {
                throw SafeCoreDataErrors.noHistory
            }
            return token
        }
    }

    nonisolated(nonsending) fileprivate func keepPlace(
        _ token: NSPersistentHistoryToken, of reader: String
    ) async throws {
        try await onWorkQueue { try self.openedStore().coordinator.advanceHistoryReader(reader, to: token) }
    }
}
