extension DataStack {
    /// The state of a stack.
    ///
    /// ```swift
    /// switch stack.state {
    /// case .opening: print("opening")
    /// case .migrating(let fraction): print("\(Int(fraction * 100)) per cent")
    /// case .open: print("open")
    /// case .failed(let error): print(error.localizedDescription)
    /// case .closed: print("closed")
    /// }
    /// ```
    public enum State: Sendable {
        /// The stack reads the model and opens the store.
        case opening
        /// The stack migrates a store of another version of the model, as a part of opening it. The
        /// fraction runs from 0 to 1 and never decreases; `open` or `failed` follows.
        case migrating(fractionCompleted: Double)
        /// The store is open; requests run.
        case open
        /// The store could not be opened.
        case failed(any Error)
        /// The stack was closed or destroyed; `reopen()` opens it.
        case closed
    }

    /// The present state of the stack.
    public var state: State { guarded.withLock { $0.current.state } }

    /// The present state of the stack, followed by each change. The sequence ends after `closed`
    /// (also when the stack is already closed), when the stack is released, and when the iterating
    /// task is cancelled. After `reopen()` a new sequence is needed.
    ///
    /// ```swift
    /// for await state in stack.states {
    ///     if case .migrating(let fraction) = state { progressBar.doubleValue = fraction }
    ///     if case .open = state { break }
    /// }
    /// ```
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self)
        let key = UUID()
        continuation.onTermination = { [weak self] _ in
            _ = self?.guarded.withLock { $0.observers.removeValue(forKey: key) }
        }
        guarded.withLock { guarded in
            guarded.observers[key] = continuation
            continuation.yield(guarded.current.state)
            guarded.finishObserversIfClosed()
        }
        return stream
    }

    /// Waits until the store is open.
    ///
    /// ```swift
    /// do { try await stack.opened() } catch { print(error.localizedDescription) }
    /// ```
    ///
    /// - Throws: the error of opening the store, or ``DataStackError/closed``.
    nonisolated(nonsending) public func opened() async throws {
        try await withCheckedThrowingContinuation { continuation in
            whenOpen { continuation.resume(with: $0) }
        }
    }

    /// Calls back when the store is open or could not be opened: immediately if that is known, and
    /// in the order of the calls.
    ///
    /// ```swift
    /// stack.whenOpen { result in
    ///     if case .failure(let error) = result { print(error.localizedDescription) }
    /// }
    /// ```
    ///
    /// - Parameter answer: called once, on a background queue of the stack, with the error if there
    ///   is one.
    public func whenOpen(_ answer: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guarded.withLock { guarded in
            guard let result = guarded.current.answer else {
                guarded.waiting.append(answer)
                return
            }
            // Enqueued under the lock, so that callbacks run in the order of the calls.
            answers.async { answer(result.map { _ in () }) }
        }
    }
}

/// The state of a stack that its mutex guards.
struct GuardedState {
    private(set) var current = StoreState.opening
    /// Callbacks that wait for the store to open, in their order.
    var waiting: [@Sendable (Result<Void, any Error>) -> Void] = []
    /// Whether a read that had to wait has its turn on the main actor.
    var isReading = false
    /// The reads that wait for their turn, in their order.
    var turns: [CheckedContinuation<Void, Never>] = []
    var observers: [UUID: AsyncStream<DataStack.State>.Continuation] = [:]

    mutating func enter(_ next: StoreState) {
        current = next
        for observer in observers.values { observer.yield(next.state) }
        finishObserversIfClosed()
    }

    /// Ends the sequences of states of a closed stack: they do not continue after `reopen()`.
    mutating func finishObserversIfClosed() {
        guard case .closed = current else { return }
        for observer in observers.values {
            // The handler would be called here, while its mutex is held, and has nothing left to
            // do.
            observer.onTermination = nil
            observer.finish()
        }
        observers = [:]
    }

    /// Records the progress of a migration while the store is being opened.
    mutating func migrate(_ fractionCompleted: Double) {
        switch current {
        case .opening: enter(.migrating(fractionCompleted: fractionCompleted))
        case .migrating(let before) where fractionCompleted > before:
            enter(.migrating(fractionCompleted: fractionCompleted))
        default: break
        }
    }
}

enum StoreState: Sendable {
    case opening
    case migrating(fractionCompleted: Double)
    case open(OpenStore)
    case failed(any Error)
    case closed

    var state: DataStack.State {
        switch self {
        case .opening: .opening
        case .migrating(let fraction): .migrating(fractionCompleted: fraction)
        case .open: .open
        case .failed(let error): .failed(error)
        case .closed: .closed
        }
    }

    /// The open store or the error for a request; nil when the request has to wait.
    var answer: Result<OpenStore, any Error>? {
        switch self {
        case .opening, .migrating: nil
        case .open(let store): .success(store)
        case .failed(let error): .failure(error)
        case .closed: .failure(DataStackError.closed)
        }
    }
}
