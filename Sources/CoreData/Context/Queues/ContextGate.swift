import Dispatch
import Foundation
import Synchronization

/// The owner of a gate: a context.
protocol GateOwner: AnyObject {
    var gate: ContextGate { get }
    /// Whether the other owner is an ancestor of this one, so that this one's work may need it.
    func isBelow(_ other: any GateOwner) -> Bool
}

/// Gives one thread at a time access to a context, in the order of the requests.
///
/// A thread that works with one context may wait for another context, whose thread waits for the
/// first one: a block of a parent calls `performAndWait` of a child while a block of the child
/// needs the parent. To avoid this deadlock, a thread that waits within a block of the program
/// gives up its contexts to the threads that wait for them. It continues when it can have all of
/// them again at once.
///
/// A thread in the middle of a context's internal work that waits for the context's parent keeps
/// that context and those below it: they would need it. Such a wait ends without the gates that the
/// thread has given up and that other threads keep while they wait in the same way: otherwise two
/// threads could wait for gates that each of them keeps. The thread takes back the missing gates
/// when the internal work is done, where it can give up everything once more (`operation`). So no
/// thread waits forever, however blocks of a tree are nested: a thread that keeps a context waits
/// for one above it, and the root waits for none.
///
/// A context is *reserved* while its observers are notified of a save or of an event: no other
/// thread can enter it in the middle, as on a queue of Core Data. A thread gives up a reserved
/// context only if threads wait for each other in a ring.
///
/// Blocks for the main queue run on the main thread. While the main thread waits, it runs them
/// itself. In the middle of a context's internal work it runs only the blocks that such work needs.
final class ContextGate: @unchecked Sendable {
    // Sendable: the lock of `Waiting` guards all variables: a thread takes several at once.

    /// Whether a thread works with the context, or a block is about to.
    var isTaken = false
    /// The number of waits in which the context's current thread keeps the context.
    var waitingKeepers = 0
    /// Running blocks whose threads have given the gate up: no other begins before they end.
    var suspendedCount = 0
    private var blocks = FirstInFirstOut<(number: Int, run: @Sendable () -> Void)>()
    /// The queue that runs the blocks.
    private let queue: DispatchQueue
    let isMain: Bool
    /// The context of the gate, while it exists and is only one.
    var owner: (any GateOwner)? { findOwner() }
    /// Finds the owner. Set before the gate is used.
    var findOwner: @Sendable () -> (any GateOwner)? = { nil }

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

    // MARK: - Waiting threads

    /// The threads and blocks that wait for any gate.
    private struct Waiting {
        var lastNumber = 0
        /// The waiting threads, in order of arrival.
        var threads: [WaitingThread] = []
        /// The blocks for the main queue, in order of arrival.
        var mainRequests: [MainRequest] = []
        /// The main thread, while it waits.
        var mainThread: ThreadWork?
        /// Whether the main queue was asked to run the blocks that wait for it.
        var mainQueueWasAsked = false

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Breaks the rings that a new waiting thread closes: one thread gives up reserved gates.
        mutating func endRing(through thread: WaitingThread) {
            let others = threads + mainRequests.map(\.thread)
            while others.contains(where: \.reservesAny), let holder = Self.reservation(inRingThrough: thread, others) {
                holder.giveUpReserved()
            }
        }

        /// Returns a thread whose reserved gate another one waits for, in a ring through `thread`.
        private static func reservation(inRingThrough thread: WaitingThread, _ others: [WaitingThread])
            -> WaitingThread?
        {
            var paths = [[thread]]
            var seen: Set<ObjectIdentifier> = []
            while let path = paths.popLast(), let last = path.last {
                for other in others where last.isHeldUp(by: other) {
                    if other === thread {
                        let ring = path + [thread]
                        if let place = ring.indices.dropFirst().first(where: {
                            ring[$0 - 1].isHeldUp(byReservationOf: ring[$0])
                        }) {
                            return ring[place]
                        }
                    } else if seen.insert(ObjectIdentifier(other)).inserted {
                        paths.append(path + [other])
                    }
                }
            }
            return nil
        }

        /// Wakes the threads that can continue, in order of arrival.
        mutating func letGoOn() {
            if !threads.isEmpty {
                threads.removeAll { thread in
                    guard thread.canGoOn else { return false }
                    thread.takeNeeded()
                    thread.goOn()
                    return true
                }
            }
            guard !mainRequests.isEmpty, mainRequests.contains(where: { $0.thread.canGoOn }) else { return }
            mainThread?.wake()
            if mainQueueWasAsked { return }
            mainQueueWasAsked = true
            ContextGate.main.queue.async { ContextGate.carryOutMainRequests(whileWaiting: nil) }
        }

        /// Takes the first block for the main queue whose thread can have its gates.
        ///
        /// - Parameter mainThread: The main thread, if it waits. While it keeps a context it runs
        ///   no block of the program: the block may wait for threads that need the kept context,
        ///   and the main thread could not continue before the block ends. A thread that requests
        ///   such a block has given up everything. A block of a context's internal work needs
        ///   contexts above, and waits for none that is kept below.
        mutating func takeMainRequest(for mainThread: WaitingThread?) -> MainRequest? {
            if mainThread?.reservesAny == true { return nil }
            let runsAny = mainThread?.keepsAny != true
            func isInTurn(_ thread: WaitingThread) -> Bool { runsAny || thread.mayGoOnWithout || thread.keepsAny }
            guard let place = mainRequests.firstIndex(where: { isInTurn($0.thread) && $0.thread.canGoOn }) else {
                return nil
            }
            let request = mainRequests.remove(at: place)
            request.thread.takeNeeded()
            return request
        }
    }

    private static let waiting = Mutex(Waiting())

    /// Whether a thread with the given arrival number may have the gate. Under the lock.
    func isFree(for number: Int) -> Bool {
        if isTaken { return false }
        guard let first = blocks.first, suspendedCount == 0 else { return true }
        return number < first.number
    }

    /// Hands gates to waiting threads after this one has become free. Under the lock.
    ///
    /// - Returns: The next block to run.
    private func giveOn(_ waiting: inout Waiting) -> (@Sendable () -> Void)? {
        waiting.letGoOn()
        guard !isTaken, suspendedCount == 0, let block = blocks.removeFirst() else { return nil }
        isTaken = true
        return block.run
    }

    // MARK: - Later

    /// Runs a block in its turn, without waiting for it.
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
            leave(work.held.removeLast())
        }
    }

    // MARK: - Now

    /// Runs a block in its turn, and waits for it. While it waits, the thread gives up the gates
    /// that it need not keep.
    ///
    /// - Parameter isInOperation: Whether the thread is in the middle of a context's internal work,
    ///   which needs this gate.
    func sync(isInOperation: Bool, _ body: () -> Void) {
        let work = ThreadWork.current
        if isMain {
            withoutActuallyEscaping(body) {
                let thread = WaitingThread(work, target: nil, mayGoOnWithout: isInOperation)
                Self.runOnMainQueue(MainRequest($0, by: thread))
            }
            if work.lacksAny { Self.takeBack(work, isInOperation: isInOperation) }
            return
        }
        let isTakenNow = Self.waiting.withLock { _ in
            guard self.isFree(for: .max) else { return false }
            isTaken = true
            return true
        }
        if !isTakenNow { Self.wait(WaitingThread(work, target: self, mayGoOnWithout: isInOperation)) }
        work.held.append(ThreadWork.Held(gate: self))
        body()
        leave(work.held.removeLast())
        if work.lacksAny { Self.takeBack(work, isInOperation: isInOperation) }
    }

    /// Waits for the gates that a thread has given up and not got back.
    ///
    /// - Parameter isInOperation: Whether the thread is in the middle of a context's internal work,
    ///   and continues without the gates that it cannot have.
    static func takeBack(_ work: ThreadWork, isInOperation: Bool) {
        wait(WaitingThread(work, target: nil, mayGoOnWithout: isInOperation))
    }

    private func leave(_ held: ThreadWork.Held) {
        let block = Self.waiting.withLock { waiting in
            if held.isAway { suspendedCount -= 1 } else { isTaken = false }
            return giveOn(&waiting)
        }
        if let block { execute(block) }
    }

    /// Gives up a thread's gates, and adds it to the waiting threads.
    private static func begin(_ thread: WaitingThread) {
        let block = waiting.withLock { waiting in
            thread.number = waiting.nextNumber()
            thread.giveUp()
            waiting.threads.append(thread)
            waiting.endRing(through: thread)
            // Others may wait for these gates, and the gates of this thread may be free.
            waiting.letGoOn()
            return thread.target?.giveOn(&waiting)
        }
        if let block { thread.target?.execute(block) }
    }

    /// Waits until a thread can continue. It then has all its gates.
    private static func wait(_ thread: WaitingThread) {
        begin(thread)
        waitFurther(thread)
    }

    private static func waitFurther(_ thread: WaitingThread) {
        let work = thread.work
        let isMain = MainQueue.isCurrent && !work.isBusyOnMainQueue
        let former = isMain ? waiting.withLock { waiting in swap(&waiting.mainThread, work) } : nil
        while true {
            if isMain { carryOutMainRequests(whileWaiting: thread) }
            if thread.goesOn { break }
            work.wait()
        }
        if isMain { _ = waiting.withLock { waiting in swap(&waiting.mainThread, former) } }
    }

    private static func swap(_ place: inout ThreadWork?, _ new: ThreadWork?) -> ThreadWork? {
        defer { place = new }
        return place
    }

    // MARK: - The main queue

    private static func runOnMainQueue(_ request: MainRequest) {
        waiting.withLock { waiting in
            request.thread.isMainRequest = true
            request.thread.giveUp()
            waiting.mainRequests.append(request)
            waiting.endRing(through: request.thread)
            waiting.letGoOn()
        }
        waitFurther(request.thread)
    }

    /// Runs the blocks of other threads on the main thread, which holds their gates meanwhile.
    ///
    /// - Parameter thread: The main thread, if it waits. It must not continue while it runs the
    ///   blocks: no other thread could then use the gates that it received.
    private static func carryOutMainRequests(whileWaiting thread: WaitingThread?) {
        while true {
            let request = waiting.withLock { waiting -> MainRequest? in
                if thread == nil { waiting.mainQueueWasAsked = false }
                if thread?.goesOn == true { return nil }
                let request = waiting.takeMainRequest(for: thread)
                if request != nil { thread?.isPaused = true }
                return request
            }
            guard let request else { return }
            let work = ThreadWork.current
            let lent = work.begin(request)
            request.run()
            waiting.withLock { waiting in
                work.end(request, lent)
                request.thread.goOn()
                thread?.isPaused = false
                waiting.letGoOn()
            }
        }
    }

    /// Whether all blocks of a thread that work with the context of the gate have given it up.
    func isGivenUp(by work: ThreadWork) -> Bool { work.held.last { $0.gate === self }?.isAway ?? false }
}
