import Dispatch
import Synchronization

/// The queue of a stack's queries. As many blocks run at once as the store has readers; others
/// wait, in the order of their calls.
final class QueryTurns: Sendable {
    private struct State {
        var running = 0
        var waiting = FirstInFirstOut<@Sendable () -> Void>()
        var isEnded = false
    }

    /// The greatest number of blocks that run at once.
    private let limit: Int
    private let state = Mutex(State())
    /// Counts the blocks that have not returned.
    private let unfinished = DispatchGroup()
    private let queue = DispatchQueue(label: "DataStack.queries", qos: .userInitiated, attributes: .concurrent)

    init(limit: Int) { self.limit = limit }

    /// Runs a block in its turn; returns without waiting for it.
    ///
    /// - Returns: false when the queue has ended; the block is then not run.
    func run(_ block: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isEnded { return false }
            unfinished.enter()
            if state.running == limit {
                state.waiting.append(block)
            } else {
                state.running += 1
                queue.async { self.run(startingWith: block) }
            }
            return true
        }
    }

    private func run(startingWith first: @Sendable () -> Void) {
        first()
        unfinished.leave()
        while let next = takeNext() {
            next()
            unfinished.leave()
        }
    }

    private func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let next = state.waiting.removeFirst()
            if next == nil { state.running -= 1 }
            return next
        }
    }

    /// Accepts no more blocks, and waits for the accepted ones.
    func end() {
        state.withLock { $0.isEnded = true }
        unfinished.wait()
    }
}
