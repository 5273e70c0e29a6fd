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
        /// In how many saves and events of the context, or of one above it, the thread is: whoever is told of them may wait for others.
        var events = 0
        /// Whether the thread has given it up.
        var isAway = false

        var isKept: Bool { keepers > 0 }
        /// Whether the thread gives it up only where others would wait for ever.
        var isReserved: Bool { events > 0 && keepers == 0 && !isAway }
    }

    /// Innermost last.
    var held: [Held] = []
    /// Whether the thread is in the middle of the own work of a context of the main queue.
    var isBusyOnMainQueue = false
    /// In how many saves and events of contexts of the main queue the thread is.
    private(set) var mainEvents = 0
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
        let kept = places(ofAndBelow: child)
        for place in kept { held[place].keepers += 1 }
        defer {
            for place in kept { held[place].keepers -= 1 }
            isBusyOnMainQueue = wasBusyOnMainQueue
        }
        return try body()
    }

    /// Runs a save or the end of an event, in which observers are told of it. Nobody else works with the context until they are back, as
    /// on a queue, unless it would be for ever.
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

    /// The places of a context and of those below it, which would need it.
    private func places(ofAndBelow context: any GateOwner) -> [Int] {
        held.indices.filter { held[$0].gate === context.gate || held[$0].gate.owner?.isBelow(context) == true }
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

    /// What a thread had of its own when it began to do what another one asks for.
    struct Lending {
        /// Where the contexts and gates of the other thread begin.
        let contexts: Int
        let held: Int
        let operations: Int
        let mainEvents: Int
    }

    /// Begins to do what another thread asks for, in its name: in its contexts, which this thread may give up where that one might.
    ///
    /// - Returns: what `end` needs of this thread.
    func begin(_ request: MainRequest) -> Lending {
        // What the thread has given up is not its own here, and cannot be given up again.
        for place in held.indices { held[place].keepers += 1 }
        let lent = Lending(contexts: contexts.count, held: held.count, operations: operations, mainEvents: mainEvents)
        // What the other thread lacks is taken back where its own outermost operation ends.
        operations = request.thread.work.operations
        mainEvents = 0
        contexts += request.thread.work.contexts
        held += request.thread.work.held
        return lent
    }

    /// Under the lock.
    func end(_ request: MainRequest, _ lent: Lending) {
        operations = lent.operations
        mainEvents = lent.mainEvents
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
