import Dispatch
import Foundation

/// The contexts and gates of the current thread.
final class ThreadWork: @unchecked Sendable {
    // Sendable: only its own thread uses it, except the semaphore and the gates it has given up.
    // Other threads change those under the lock of the gates while the thread waits. `held` is not
    // private: the gates add and remove blocks.

    /// The contexts whose blocks the thread is running, innermost last.
    private(set) var contexts: [any GateOwner] = []
    /// A gate of a block that the thread runs.
    struct Held {
        let gate: ContextGate
        /// The number of waits in which the thread keeps the gate, in the context's own work.
        var keepers = 0
        /// The saves and events of the context, or one above it, that the thread is in.
        var events = 0
        /// Whether the thread has given it up.
        var isAway = false

        var isKept: Bool { keepers > 0 }
        /// Whether the thread gives the gate up only if other threads would wait forever otherwise.
        var isReserved: Bool { events > 0 && keepers == 0 && !isAway }
    }

    /// The gates of the blocks that the thread runs, innermost last.
    var held: [Held] = []
    /// Whether the thread is in the middle of internal work of a main-queue context.
    var isBusyOnMainQueue = false
    /// The number of saves and events of main-queue contexts that the thread is in.
    private(set) var mainEvents = 0
    /// The number of nested operations of contexts that the thread is in.
    private var operations = 0
    private let semaphore = DispatchSemaphore(value: 0)

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            guard let pointer else { return }
            Retained<ThreadWork>(pointer: pointer).release()
        }
        return key
    }()

    static var current: ThreadWork {
        if let pointer = pthread_getspecific(key) {
            return Retained<ThreadWork>(pointer: pointer).object
        }
        let work = ThreadWork()
        pthread_setspecific(key, Retained(work).pointer)
        return work
    }

    func wake() { semaphore.signal() }

    func wait() { semaphore.wait() }

    /// Whether the thread has given up a gate that it should get back.
    var lacksAny: Bool { held.contains { $0.isAway && !$0.isKept } }

    /// Runs a block in which a context waits for its parent, in the middle of its own work.
    func keeping<Value>(_ child: any GateOwner, _ body: () throws -> Value) rethrows -> Value {
        let wasBusyOnMainQueue = isBusyOnMainQueue
        if child.gate.isMain { isBusyOnMainQueue = true }
        let kept = places(ofAndBelow: child)
        for place in kept { held[place].keepers += 1 }
        defer {
            for place in kept { held[place].keepers -= 1 }
            isBusyOnMainQueue = wasBusyOnMainQueue
        }
        return try body()
    }

    /// Runs a save or the end of an event, including the notification of observers.
    ///
    /// No other thread works with the context until the observers return, as on a queue, unless it
    /// would wait forever.
    func reserving<Value>(_ context: any GateOwner, _ body: () throws -> Value) rethrows -> Value {
        let isMain = context.gate.isMain
        let reserved = places(ofAndBelow: context)
        for place in reserved { held[place].events += 1 }
        if isMain { mainEvents += 1 }
        defer {
            for place in reserved { held[place].events -= 1 }
            if isMain { mainEvents -= 1 }
        }
        return try body()
    }

    /// Returns the places of a context and of those below it, which would need it.
    private func places(ofAndBelow context: any GateOwner) -> [Int] {
        held.indices.filter { held[$0].gate === context.gate || held[$0].gate.owner?.isBelow(context) == true }
    }

    /// Runs internal work of a context that may need the parent. After the outermost operation the
    /// thread gets back all contexts whose blocks it runs.
    func operation<Value>(_ body: () throws -> Value) rethrows -> Value {
        operations += 1
        defer {
            operations -= 1
            if operations == 0, lacksAny { ContextGate.takeBack(self, isInOperation: false) }
        }
        return try body()
    }

    /// The state of a thread when it began to run a block for another thread.
    struct Lending {
        /// The number of the thread's own contexts: the other thread's contexts follow them.
        let contexts: Int
        let held: Int
        let operations: Int
        let mainEvents: Int
    }

    /// Begins to run a block for another thread, with that thread's contexts. This thread may give
    /// these contexts up whenever the other thread might.
    ///
    /// - Returns: The state of this thread that `end` restores.
    func begin(_ request: MainRequest) -> Lending {
        // Contexts given up do not belong to it in the block, and cannot be given up again.
        for place in held.indices { held[place].keepers += 1 }
        let lent = Lending(contexts: contexts.count, held: held.count, operations: operations, mainEvents: mainEvents)
        // The other thread takes back what it lacks at the end of its outermost operation.
        operations = request.thread.work.operations
        mainEvents = 0
        contexts += request.thread.work.contexts
        held += request.thread.work.held
        return lent
    }

    /// Ends the block for another thread, and restores this one's state. Under the lock.
    func end(_ request: MainRequest, _ lent: Lending) {
        operations = lent.operations
        mainEvents = lent.mainEvents
        for place in held.indices.dropFirst(lent.held) {
            request.thread.work.held[place - lent.held].isAway = held[place].isAway
        }
        held.removeLast(held.count - lent.held)
        contexts.removeLast(contexts.count - lent.contexts)
        for place in held.indices { held[place].keepers -= 1 }
    }

    /// Runs a block that works with a context.
    func run<Value>(in context: any GateOwner, _ block: () throws -> Value) rethrows -> Value {
        contexts.append(context)
        defer { contexts.removeLast() }
        return try block()
    }
}

/// A block for the main queue that another thread waits for.
final class MainRequest: @unchecked Sendable {
    // Sendable: the main thread uses `body` once, while the thread that made the request waits.

    private var body: (() -> Void)?
    /// The thread that waits.
    let thread: ContextGate.WaitingThread

    init(_ body: @escaping () -> Void, by thread: ContextGate.WaitingThread) {
        self.body = body
        self.thread = thread
    }

    /// The block is on the stack of the other thread, which continues after this.
    @inline(never)
    func run() {
        let block = body
        body = nil
        block?()
    }
}
