import Dispatch
import Foundation
import Synchronization

/// Lets one thread at a time work with a context, in the order in which they come.
///
/// A thread that works with one context may wait for another, and that for the first one: a block of a parent calls `performAndWait` of
/// a child while a block of the child needs the parent. So that both go on, a thread that waits in a block of the program's own gives up
/// the contexts that it has, to others who wait for them, and goes on when it can have all of them again at once.
///
/// It keeps a context in the middle of whose own work it is, while it waits for the parent of that, and those below that context: they
/// would need it. Where blocks are nested within one branch of a tree, up or down, whoever waits for what another thread keeps waits for
/// something above what it keeps itself, so that nobody waits for ever. Blocks of contexts in different branches that are nested in each
/// other have no such order, as two queues have none.
///
/// Blocks for the main queue run on the main thread: while that waits, it carries them out itself.
final class ContextGate: @unchecked Sendable {
    // Sendable: all variables are guarded by the lock of `Waiting`, which is the same for all gates: a thread takes several at once.

    /// Whether a thread works with the context, or a block is about to.
    private var isTaken = false
    /// How many blocks have begun whose threads have given the gate up meanwhile. No other block begins before they have ended.
    private var suspendedCount = 0
    private var blocks = FirstInFirstOut<(number: Int, run: @Sendable () -> Void)>()
    /// Where blocks run.
    private let queue: DispatchQueue
    fileprivate let isMain: Bool
    /// The context; of the main queue there are many. Set before the gate is used.
    weak var context: NSManagedObjectContext?

    private init(_ queue: DispatchQueue, isMain: Bool) {
        self.queue = queue
        self.isMain = isMain
    }

    /// The gate of all contexts of the main queue.
    static let main = ContextGate(.main, isMain: true)

    /// A gate of a context of its own.
    convenience init() {
        self.init(DispatchQueue(label: "OpenCoreData.NSManagedObjectContext", qos: .userInitiated), isMain: false)
    }

    // MARK: - Who waits

    /// What waits for any gate.
    private struct Waiting {
        var lastNumber = 0
        /// In the order in which they came.
        var threads: [WaitingThread] = []
        /// Blocks for the main queue.
        var mainRequests = FirstInFirstOut<MainRequest>()
        /// The main thread, while it waits.
        var mainThread: ThreadWork?

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private static let waiting = Mutex(Waiting())

    /// Whether a thread may have the gate that came with a number. Under the lock.
    private func isFree(for number: Int) -> Bool {
        if isTaken { return false }
        guard let first = blocks.first, suspendedCount == 0 else { return true }
        return number < first.number
    }

    /// Gives gates to those that wait, after this one has become free. Under the lock.
    ///
    /// - Returns: the block to begin with.
    private func giveOn(_ waiting: inout Waiting) -> (@Sendable () -> Void)? {
        if !waiting.threads.isEmpty {
            waiting.threads.removeAll { thread in
                guard thread.canGoOn else { return false }
                thread.goOn()
                return true
            }
        }
        guard !isTaken, suspendedCount == 0, let block = blocks.removeFirst() else { return nil }
        isTaken = true
        return block.run
    }

    // MARK: - Later

    /// Runs a block when it is its turn.
    func async(_ block: @escaping @Sendable () -> Void) {
        if isMain { return queue.async(execute: block) }
        let begins = Self.waiting.withLock { waiting in
            if !isTaken, suspendedCount == 0, blocks.first == nil {
                isTaken = true
                return true
            }
            blocks.append((waiting.nextNumber(), block))
            return false
        }
        if begins { execute(block) }
    }

    private func execute(_ block: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            let work = ThreadWork.current
            work.held.append(ThreadWork.Held(gate: self))
            block()
            work.held.removeLast()
            leave()
        }
    }

    private func leave() {
        let block = Self.waiting.withLock { waiting in
            isTaken = false
            return giveOn(&waiting)
        }
        if let block { execute(block) }
    }

    // MARK: - Now

    /// Runs a block when it is its turn, and waits for it. The thread gives up meanwhile what it need not keep.
    func sync(_ body: () -> Void) {
        let work = ThreadWork.current
        if isMain {
            withoutActuallyEscaping(body) { runOnMainQueue(MainRequest($0, by: work), work) }
            return
        }
        let isTakenNow = Self.waiting.withLock { _ in
            guard self.isFree(for: .max) else { return false }
            isTaken = true
            return true
        }
        if !isTakenNow {
            let thread = WaitingThread(work, target: self)
            begin(thread)
            Self.wait(thread)
        }
        work.held.append(ThreadWork.Held(gate: self))
        body()
        work.held.removeLast()
        leave()
    }

    /// Gives up what a thread has, and lines it up.
    private func begin(_ thread: WaitingThread) {
        let block = Self.waiting.withLock { waiting in
            thread.number = waiting.nextNumber()
            for gate in thread.givenUp {
                gate.isTaken = false
                gate.suspendedCount += 1
            }
            waiting.threads.append(thread)
            // Others may have waited for what is given up, and the gate may have become free.
            return giveOn(&waiting)
        }
        thread.work.suspended += thread.givenUp
        if let block { execute(block) }
    }

    /// Waits until a thread can go on, which then has all its gates.
    private static func wait(_ thread: WaitingThread) {
        let work = thread.work
        let isMain = MainQueue.isCurrent && !work.isBusyOnMainQueue
        let former = isMain ? waiting.withLock { waiting in swap(&waiting.mainThread, work) } : nil
        while true {
            if isMain { carryOutMainRequests(whileWaiting: thread) }
            if thread.goesOn { break }
            work.wait()
        }
        if isMain { _ = waiting.withLock { waiting in swap(&waiting.mainThread, former) } }
        work.suspended.removeLast(thread.givenUp.count)
    }

    private static func swap(_ place: inout ThreadWork?, _ new: ThreadWork?) -> ThreadWork? {
        defer { place = new }
        return place
    }

    // MARK: - The main queue

    private func runOnMainQueue(_ request: MainRequest, _ work: ThreadWork) {
        let thread = WaitingThread(work, target: nil)
        request.thread = thread
        begin(thread)
        Self.waiting.withLock { waiting in
            waiting.mainRequests.append(request)
            waiting.mainThread?.wake()
        }
        queue.async { Self.carryOutMainRequests(whileWaiting: nil) }
        Self.wait(thread)
    }

    /// Runs the blocks of other threads on the main one.
    ///
    /// - Parameter thread: the main thread, where it waits: its turn must not come while it runs them, as nobody else could then work
    ///   with what it has been given.
    private static func carryOutMainRequests(whileWaiting thread: WaitingThread?) {
        while true {
            let request = waiting.withLock { waiting -> MainRequest? in
                if thread?.goesOn == true { return nil }
                let request = waiting.mainRequests.removeFirst()
                if request != nil { thread?.isPaused = true }
                return request
            }
            guard let request else { return }
            ThreadWork.current.carryOut(request)
            waiting.withLock { waiting in
                thread?.isPaused = false
                request.thread?.isPaused = false
                // Blocks of the main queue wait there, and none begins here.
                _ = main.giveOn(&waiting)
            }
        }
    }

    /// Whether a thread works with the context of the gate, not only in blocks that it has given up to wait.
    func isGivenUp(by work: ThreadWork) -> Bool {
        work.suspended.contains { $0 === self } && !work.held.suffix(1).contains { $0.gate === self }
    }

    // MARK: - Waiting threads

    /// A thread that waits for a gate, or for a block on the main queue.
    fileprivate final class WaitingThread: @unchecked Sendable {
        // Sendable: all variables are guarded by the lock of `Waiting`, but for the atomic one.

        let work: ThreadWork
        let target: ContextGate?
        /// What it has given up, and needs to go on.
        let givenUp: [ContextGate]
        var number = 0
        /// Whether it cannot go on yet although it could have its gates.
        var isPaused: Bool
        private let mayGoOn = Atomic<Bool>(false)

        init(_ work: ThreadWork, target: ContextGate?) {
            self.work = work
            self.target = target
            givenUp = work.held.compactMap { $0.isKept ? nil : $0.gate }
            isPaused = target == nil
        }

        var goesOn: Bool { mayGoOn.load(ordering: .acquiring) }

        /// Under the lock.
        var canGoOn: Bool {
            !isPaused && target?.isFree(for: number) != false && givenUp.allSatisfy { !$0.isTaken }
        }

        /// Takes everything it needs. Under the lock.
        func goOn() {
            target?.isTaken = true
            for gate in givenUp {
                gate.isTaken = true
                gate.suspendedCount -= 1
            }
            mayGoOn.store(true, ordering: .releasing)
            work.wake()
        }
    }
}

/// A block that another thread waits for.
private final class MainRequest: @unchecked Sendable {
    // Sendable: `body` is used once, by the main thread, while the one that made it waits.

    private var body: (() -> Void)?
    /// The contexts whose blocks the waiting thread is running.
    let contexts: [NSManagedObjectContext]
    var thread: ContextGate.WaitingThread?

    init(_ body: @escaping () -> Void, by work: ThreadWork) {
        self.body = body
        contexts = work.contexts
    }

    /// Nothing refers to the block any more when the other thread goes on: it lives on that thread's stack.
    @inline(never)
    func run() {
        let block = body
        body = nil
        block?()
    }
}

/// A queue whose elements leave it in constant time on average.
private struct FirstInFirstOut<Element> {
    private var elements: [Element] = []
    private var start = 0

    var first: Element? { start < elements.count ? elements[start] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}

/// What the current thread works with.
final class ThreadWork: @unchecked Sendable {
    // Sendable: only its own thread uses it, but for the semaphore.

    /// The contexts whose blocks the thread is running, innermost last.
    fileprivate(set) var contexts: [NSManagedObjectContext] = []
    /// A gate that the thread has, or has given up to wait.
    fileprivate struct Held {
        let gate: ContextGate
        /// Whether the thread is in the middle of the context's own work, or has given the gate up already.
        var isKept = false
    }

    fileprivate var held: [Held] = []
    /// Whether the thread is in the middle of the own work of a context of the main queue.
    fileprivate var isBusyOnMainQueue = false
    /// Those that it has given up.
    fileprivate var suspended: [ContextGate] = []
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

    fileprivate func wake() { semaphore.signal() }

    fileprivate func wait() { semaphore.wait() }

    /// Runs a block while a context, in the middle of whose own work the thread is, waits for its parent.
    func keeping<Value>(_ child: NSManagedObjectContext?, _ body: () throws -> Value) rethrows -> Value {
        guard let child else { return try body() }
        let former = held
        let wasBusyOnMainQueue = isBusyOnMainQueue
        if child.gate.isMain { isBusyOnMainQueue = true }
        for place in held.indices where held[place].gate === child.gate || held[place].gate.context?.isBelow(child) == true {
            held[place].isKept = true
        }
        defer {
            held = former
            isBusyOnMainQueue = wasBusyOnMainQueue
        }
        return try body()
    }

    /// Does what another thread asks for, in its name.
    fileprivate func carryOut(_ request: MainRequest) {
        let (ownContexts, ownHeld) = (contexts, held)
        contexts += request.contexts
        // What the thread has given up is not its own here, and cannot be given up again.
        for place in held.indices { held[place].isKept = true }
        request.run()
        (contexts, held) = (ownContexts, ownHeld)
    }

    /// Runs a block as one of a context's.
    func run<Value>(in context: NSManagedObjectContext, _ block: () throws -> Value) rethrows -> Value {
        contexts.append(context)
        defer { contexts.removeLast() }
        return try block()
    }
}
