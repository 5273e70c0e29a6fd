import Dispatch
import Foundation

/// What the current thread works with.
final class ThreadWork: @unchecked Sendable {
    // Sendable: only its own thread uses it, but for the semaphore, and for what it has given up: others change that under the lock of the
    // gates while the thread waits. Not private: the gates put blocks in and out.

    /// The contexts whose blocks the thread is running, innermost last.
    private(set) var contexts: [any GateOwner] = []
    /// A gate of a block that the thread runs.
    struct Held {
        let gate: ContextGate
        /// In how many waits the thread keeps it: it is in the middle of the context's own work.
        var keepers = 0
        /// Whether the thread has given it up.
        var isAway = false

        var isKept: Bool { keepers > 0 }
    }

    /// Innermost last.
    var held: [Held] = []
    /// Whether the thread is in the middle of the own work of a context of the main queue.
    var isBusyOnMainQueue = false
    /// In how many nested operations of contexts the thread is.
    private var operations = 0
    private let semaphore = DispatchSemaphore(value: 0)

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            guard let pointer else { return }
            Unmanaged<ThreadWork>.fromOpaque(pointer).release()
        }
        return key
    }()

    static var current: ThreadWork {
        if let pointer = pthread_getspecific(key) { return Unmanaged<ThreadWork>.fromOpaque(pointer).takeUnretainedValue() }
        let work = ThreadWork()
        pthread_setspecific(key, Unmanaged.passRetained(work).toOpaque())
        return work
    }

    func wake() { semaphore.signal() }

    func wait() { semaphore.wait() }

    /// Whether there is something that the thread has given up and should have again.
    var lacksAny: Bool { held.contains { $0.isAway && !$0.isKept } }

    /// Runs a block while a context, in the middle of whose own work the thread is, waits for its parent.
    func keeping<Value>(_ child: any GateOwner, _ body: () throws -> Value) rethrows -> Value {
        let wasBusyOnMainQueue = isBusyOnMainQueue
        if child.gate.isMain { isBusyOnMainQueue = true }
        let kept = held.indices.filter { held[$0].gate === child.gate || held[$0].gate.owner?.isBelow(child) == true }
        for place in kept { held[place].keepers += 1 }
        defer {
            for place in kept { held[place].keepers -= 1 }
            isBusyOnMainQueue = wasBusyOnMainQueue
        }
        return try body()
    }

    /// Runs a context's own work that may need the parent. After the outermost the thread has all contexts again whose blocks it is in.
    func operation<Value>(_ body: () throws -> Value) rethrows -> Value {
        operations += 1
        defer {
            operations -= 1
            if operations == 0, lacksAny { ContextGate.takeBack(self, isInOperation: false) }
        }
        return try body()
    }

    /// Begins to do what another thread asks for, in its name: in its contexts, which this thread may give up where that one might.
    ///
    /// - Returns: where the contexts and gates of the other thread begin, and in how many operations this one is.
    func begin(_ request: MainRequest) -> (contexts: Int, held: Int, operations: Int) {
        // What the thread has given up is not its own here, and cannot be given up again.
        for place in held.indices { held[place].keepers += 1 }
        let lent = (contexts.count, held.count, operations)
        // What the other thread lacks is taken back where its own outermost operation ends.
        operations = request.thread.work.operations
        contexts += request.thread.work.contexts
        held += request.thread.work.held
        return lent
    }

    /// Under the lock.
    func end(_ request: MainRequest, _ lent: (contexts: Int, held: Int, operations: Int)) {
        operations = lent.operations
        for place in held.indices.dropFirst(lent.held) { request.thread.work.held[place - lent.held].isAway = held[place].isAway }
        held.removeLast(held.count - lent.held)
        contexts.removeLast(contexts.count - lent.contexts)
        for place in held.indices { held[place].keepers -= 1 }
    }

    /// Runs a block as one of a context's.
    func run<Value>(in context: any GateOwner, _ block: () throws -> Value) rethrows -> Value {
        contexts.append(context)
        defer { contexts.removeLast() }
        return try block()
    }
}

/// A block that another thread waits for.
final class MainRequest: @unchecked Sendable {
    // Sendable: `body` is used once, by the main thread, while the one that made it waits.

    private var body: (() -> Void)?
    /// The one that waits.
    let thread: ContextGate.WaitingThread

    init(_ body: @escaping () -> Void, by thread: ContextGate.WaitingThread) {
        self.body = body
        self.thread = thread
    }

    /// Nothing refers to the block any more when the other thread goes on: it lives on that thread's stack.
    @inline(never)
    func run() {
        let block = body
        body = nil
        block?()
    }
}
