import Dispatch
import Foundation
import Synchronization

/// What has a gate: a context.
protocol GateOwner: AnyObject {
    var gate: ContextGate { get }
    /// Whether another one is above this one, so that this one's work may need it.
    func isBelow(_ other: any GateOwner) -> Bool
}

/// Lets one thread at a time work with a context, in the order in which they come.
///
/// A thread that works with one context may wait for another, and that for the first one: a block of a parent calls `performAndWait` of
/// a child while a block of the child needs the parent. So that both go on, a thread that waits in a block of the program's own gives up
/// the contexts that it has, to others who wait for them, and goes on when it can have all of them again at once.
///
/// It keeps a context in the middle of whose own work it is, while it waits for the parent of that, and those below that context: they
/// would need it. Such a wait ends without those given up that others keep while they wait in the same way: two threads could otherwise
/// wait for what each of them keeps. What is missing is taken back when the context's own work is done, where the thread can give up
/// everything once more (`operation`). So nobody waits for ever, in whatever order blocks of a tree are nested: who keeps a
/// context waits for one above it, and the root waits for none.
///
/// While observers are told of a save or of an event, its context is *reserved*: nobody gets into the middle of it, as on a queue of Core
/// Data's. Only where threads wait for each other in a ring one of them gives that up, too.
///
/// Blocks for the main queue run on the main thread: while that waits, it carries them out itself, in the middle of a context's own work
/// only those that such work needs.
final class ContextGate: @unchecked Sendable {
    // Sendable: all variables are guarded by the lock of `Waiting`, which is the same for all gates: a thread takes several at once.

    /// Whether a thread works with the context, or a block is about to.
    var isTaken = false
    /// In how many waits the thread that works with the context keeps it.
    var waitingKeepers = 0
    /// How many blocks have begun whose threads have given the gate up meanwhile. No other block begins before they have ended.
    var suspendedCount = 0
    private var blocks = FirstInFirstOut<(number: Int, run: @Sendable () -> Void)>()
    /// Where blocks run.
    private let queue: DispatchQueue
    let isMain: Bool
    /// Whose gate it is, while that is there; that of the main queue has many.
    var owner: (any GateOwner)? { findOwner() }
    /// Set before the gate is used.
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

    // MARK: - Who waits

    /// What waits for any gate.
    private struct Waiting {
        var lastNumber = 0
        /// In the order in which they came.
        var threads: [WaitingThread] = []
        /// Blocks for the main queue, in the order in which they came.
        var mainRequests: [MainRequest] = []
        /// The main thread, while it waits.
        var mainThread: ThreadWork?
        /// Whether the main queue was asked to look at the blocks for it.
        var mainQueueWasAsked = false

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Where a thread that has come to wait closes rings of threads that wait for each other, has one of each give up what it has reserved.
        mutating func endRing(through thread: WaitingThread) {
            let others = threads + mainRequests.map(\.thread)
            while others.contains(where: \.reservesAny), let holder = Self.reservation(inRingThrough: thread, others) {
                holder.giveUpReserved()
            }
        }

        /// Who reserves what another one waits for, in a ring that leads from a thread back to it; nil without one.
        private static func reservation(inRingThrough thread: WaitingThread, _ others: [WaitingThread]) -> WaitingThread? {
            var paths = [[thread]]
            var seen: Set<ObjectIdentifier> = []
            while let path = paths.popLast(), let last = path.last {
                for other in others where last.isHeldUp(by: other) {
                    if other === thread {
                        let ring = path + [thread]
                        if let place = ring.indices.dropFirst().first(where: { ring[$0 - 1].isHeldUp(byReservationOf: ring[$0]) }) {
                            return ring[place]
                        }
                    } else if seen.insert(ObjectIdentifier(other)).inserted {
                        paths.append(path + [other])
                    }
                }
            }
            return nil
        }

        /// Lets those go on that can, in the order in which they came.
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

        /// Takes the first block for the main queue that can have what its thread needs.
        ///
        /// - Parameter mainThread: the main thread, where it waits. While that keeps a context it runs no block of the program's own, which
        ///   may wait for others who need what is kept: it could not go on itself until the block has ended. Who has asked for such a
        ///   block has given up everything. What a context's own work needs lies above, and waits for nothing that is kept below.
        mutating func takeMainRequest(for mainThread: WaitingThread?) -> MainRequest? {
            if mainThread?.reservesAny == true { return nil }
            let runsAny = mainThread?.keepsAny != true
            func isInTurn(_ thread: WaitingThread) -> Bool { runsAny || thread.mayGoOnWithout || thread.keepsAny }
            guard let place = mainRequests.firstIndex(where: { isInTurn($0.thread) && $0.thread.canGoOn }) else { return nil }
            let request = mainRequests.remove(at: place)
            request.thread.takeNeeded()
            return request
        }
    }

    private static let waiting = Mutex(Waiting())

    /// Whether a thread may have the gate that came with a number. Under the lock.
    func isFree(for number: Int) -> Bool {
        if isTaken { return false }
        guard let first = blocks.first, suspendedCount == 0 else { return true }
        return number < first.number
    }

    /// Gives gates to those that wait, after this one has become free. Under the lock.
    ///
    /// - Returns: the block to begin with.
    private func giveOn(_ waiting: inout Waiting) -> (@Sendable () -> Void)? {
        waiting.letGoOn()
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
            leave(work.held.removeLast())
        }
    }

    // MARK: - Now

    /// Runs a block when it is its turn, and waits for it. The thread gives up meanwhile what it need not keep.
    ///
    /// - Parameter isInOperation: whether the thread is in the middle of a context's own work, which needs this one.
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

    /// Waits for what a thread has given up and not got back.
    ///
    /// - Parameter isInOperation: whether it is in the middle of a context's own work, and goes on without what it cannot have.
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

    /// Gives up what a thread has, and lines it up.
    private static func begin(_ thread: WaitingThread) {
        let block = waiting.withLock { waiting in
            thread.number = waiting.nextNumber()
            thread.giveUp()
            waiting.threads.append(thread)
            waiting.endRing(through: thread)
            // Others may have waited for what is given up, or is kept from now on, and what this one needs may be free.
            waiting.letGoOn()
            return thread.target?.giveOn(&waiting)
        }
        if let block { thread.target?.execute(block) }
    }

    /// Waits until a thread can go on, which then has all its gates.
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

    /// Runs the blocks of other threads on the main one. Meanwhile it has what they have.
    ///
    /// - Parameter thread: the main thread, where it waits: its turn must not come while it runs them, as nobody else could then work
    ///   with what it has been given.
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

    /// Whether a thread works with the context of the gate only in blocks that have given it up.
    func isGivenUp(by work: ThreadWork) -> Bool { work.held.last { $0.gate === self }?.isAway ?? false }
}
