import Synchronization

/// Tells the loops over a store's history of each commit, until the store is closed.
final class HistoryFeed: Sendable {
    private struct State {
        var continuations: [UUID: AsyncStream<Void>.Continuation] = [:]
        var isEnded = false
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let state = Mutex(State())

    init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    /// Returns a sequence that has an element after one or more commits.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Observes from here on.
        let changes = NotificationCenter.default.notifications(
            named: .NSPersistentStoreRemoteChange, object: coordinator
        ).makeAsyncIterator()
        let observing = Task {
            var changes = changes
            while await changes.next() != nil { continuation.yield() }
        }
        let key = UUID()
        continuation.onTermination = { [weak self] _ in
            observing.cancel()
            self?.state.withLock { $0.continuations[key] = nil }
        }
        let isEnded = state.withLock { state in
            if !state.isEnded { state.continuations[key] = continuation }
            return state.isEnded
        }
        if isEnded { continuation.finish() }
        return stream
    }

    /// Ends all sequences, and those that are asked for later.
    func end() {
        let continuations = state.withLock { state in
            state.isEnded = true
            defer { state.continuations = [:] }
            return state.continuations.values
        }
        // Outside the lock, which their handlers take.
        for continuation in continuations { continuation.finish() }
    }
}
