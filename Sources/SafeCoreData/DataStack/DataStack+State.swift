extension DataStack {
    /// What a stack is doing.
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
        /// Reading the model and opening the store.
        case opening
        /// Bringing a store of another version of the model up to date, as a part of opening it. The fraction runs from 0 to 1 and
        /// never goes back; `open` or `failed` follows.
        case migrating(fractionCompleted: Double)
        /// Serving requests.
        case open
        /// The store could not be opened.
        case failed(any Error)
        /// Closed, or destroyed; `reopen()` opens it.
        case closed
    }

    /// What the stack is doing now.
    public var state: State { guarded.withLock { $0.current.state } }

    /// What the stack is doing now, followed by each change. The sequence ends after `closed`, also when the stack is closed already,
    /// when the stack is released, and when the iterating task is cancelled; after `reopen()` ask for another.
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

    /// Returns when the store is open.
    ///
    /// ```swift
    /// do { try await stack.opened() } catch { print(error.localizedDescription) }
    /// ```
    ///
    /// - Throws: why it could not be opened, or ``DataStackError/closed``.
    nonisolated(nonsending) public func opened() async throws {
        try await withCheckedThrowingContinuation { continuation in
            whenOpen { continuation.resume(with: $0) }
        }
    }

    /// Calls back when the store is open or could not be opened: at once if that is known, and in the order of the calls.
    ///
    /// ```swift
    /// stack.whenOpen { result in
    ///     if case .failure(let error) = result { print(error.localizedDescription) }
    /// }
    /// ```
    ///
    /// - Parameter answer: called once, on a queue of the stack's own, with the error if there is one.
    public func whenOpen(_ answer: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guarded.withLock { guarded in
            guard let result = guarded.current.answer else {
                guarded.waiting.append(answer)
                return
            }
            // Under the lock, so that nobody who comes later is answered earlier.
            answers.async { answer(result.map { _ in () }) }
        }
    }
}

/// What a stack's mutex guards.
struct GuardedState {
    private(set) var current = StoreState.opening
    /// Those who wait for the store to open, in their order.
    var waiting: [@Sendable (Result<Void, any Error>) -> Void] = []
    /// Reads that wait for their turn on the main actor.
    var waitingReads = 0
    var observers: [UUID: AsyncStream<DataStack.State>.Continuation] = [:]

    mutating func enter(_ next: StoreState) {
        current = next
        for observer in observers.values { observer.yield(next.state) }
        finishObserversIfClosed()
    }

    /// Ends the sequences of states of a closed stack: what comes after a reopening is another story.
    mutating func finishObserversIfClosed() {
        guard case .closed = current else { return }
        for observer in observers.values {
            // It would be called here, where the mutex is held that it takes, and has nothing left to do.
            observer.onTermination = nil
            observer.finish()
        }
        observers = [:]
    }

    /// Notes how far the migration of a store that is being opened has come.
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

    /// What a request gets; nil when it has to wait.
    var answer: Result<OpenStore, any Error>? {
        switch self {
        case .opening, .migrating: nil
        case .open(let store): .success(store)
        case .failed(let error): .failure(error)
        case .closed: .failure(DataStackError.closed)
        }
    }
}
