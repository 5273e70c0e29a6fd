import Synchronization

// Threads that wait, and the gates they wait for.

extension ContextGate {
    /// A thread that waits for a gate, a block on the main queue, or gates it gave up.
    final class WaitingThread: @unchecked Sendable {
        // Sendable: the lock of `Waiting` guards all variables except the atomic one. While the
        // thread waits, other threads change its places under that lock.

        let work: ThreadWork
        let target: ContextGate?
        /// The gates that it gives up while it waits and needs to continue, with places.
        private var needed: [(place: Int, gate: ContextGate)]
        /// The gates that it keeps while it waits.
        private let kept: [ContextGate]
        /// The gates that it keeps unless others would wait forever, with places.
        private var reserved: [(place: Int, gate: ContextGate)]
        /// Whether it is the main thread, in a save or event of a main-queue context.
        private var reservesMainQueue: Bool
        /// Whether it is the main thread, in other work of a main-queue context.
        private let isBusyOnMainQueue: Bool
        private let isMainThread: Bool
        /// Whether it waits for a block on the main queue.
        var isMainRequest = false
        /// Whether it can continue without the gates that other threads keep while they wait.
        let mayGoOnWithout: Bool
        var number = 0
        /// Whether it must not continue yet although its gates are free.
        var isPaused = false
        private let mayGoOn = Atomic<Bool>(false)

        init(_ work: ThreadWork, target: ContextGate?, mayGoOnWithout: Bool) {
            self.work = work
            self.target = target
            self.mayGoOnWithout = mayGoOnWithout
            needed = work.held.indices.compactMap { place in
                let gate = work.held[place].gate
                // If blocks of one context are nested, the innermost gets the gate first.
                let isOuter = gate === target || work.held[(place + 1)...].contains { $0.gate === gate }
                return work.held[place].isKept || work.held[place].isReserved || isOuter ? nil : (place, gate)
            }
            reserved = work.held.indices.compactMap { work.held[$0].isReserved ? ($0, work.held[$0].gate) : nil }
            isMainThread = MainQueue.isCurrent
            reservesMainQueue = isMainThread && work.mainEvents > 0
            isBusyOnMainQueue = isMainThread && work.isBusyOnMainQueue
            kept = work.held.compactMap { $0.isKept && !$0.isAway ? $0.gate : nil }
        }

        var goesOn: Bool { mayGoOn.load(ordering: .acquiring) }

        /// Whether it keeps a context while it waits.
        var keepsAny: Bool { !kept.isEmpty }

        /// Whether it keeps gates until other threads would wait for them forever.
        var reservesAny: Bool { reservesMainQueue || !reserved.isEmpty }

        /// Under the lock.
        var canGoOn: Bool {
            if isPaused || target?.isFree(for: number) == false { return false }
            return needed.allSatisfy { !$0.gate.isTaken || mayGoOnWithout && $0.gate.waitingKeepers > 0 }
        }

        /// Under the lock.
        func giveUp() {
            for gate in kept { gate.waitingKeepers += 1 }
            for (_, gate) in reserved { gate.waitingKeepers += 1 }
            for place in work.held.indices
            where !work.held[place].isKept && !work.held[place].isReserved && !work.held[place].isAway {
                work.held[place].isAway = true
                work.held[place].gate.isTaken = false
                work.held[place].gate.suspendedCount += 1
            }
        }

        /// Takes the gates that it needs and that are free. Under the lock.
        func takeNeeded() {
            target?.isTaken = true
            for (place, gate) in needed where !gate.isTaken {
                gate.isTaken = true
                gate.suspendedCount -= 1
                work.held[place].isAway = false
            }
            for gate in kept { gate.waitingKeepers -= 1 }
            for (_, gate) in reserved { gate.waitingKeepers -= 1 }
        }

        /// Gives up its reserved gates. Under the lock.
        func giveUpReserved() {
            for (place, gate) in reserved {
                gate.waitingKeepers -= 1
                gate.isTaken = false
                gate.suspendedCount += 1
                work.held[place].isAway = true
                needed.append((place, gate))
            }
            reserved = []
            reservesMainQueue = false
        }

        /// Whether it cannot continue before another thread does. Under the lock.
        func isHeldUp(by other: WaitingThread) -> Bool {
            if other === self { return false }
            // The main thread continues after the block that it runs for another thread.
            if isPaused, other.work === work { return true }
            if isMainRequest, other.isMainThread,
                other.isBusyOnMainQueue || other.keepsAny && !mayGoOnWithout && !keepsAny
            {
                return true
            }
            return isHeldUp(byReservationOf: other) || wants { gate in other.kept.contains { $0 === gate } }
        }

        /// Whether it waits for reserved gates of another thread. Under the lock.
        func isHeldUp(byReservationOf other: WaitingThread) -> Bool {
            if other === self { return false }
            if isMainRequest, other.isMainThread, other.reservesAny { return true }
            return wants { gate in other.reserved.contains { $0.gate === gate } }
        }

        private func wants(_ isMeant: (ContextGate) -> Bool) -> Bool {
            if let target, isMeant(target) { return true }
            return !mayGoOnWithout && needed.contains { isMeant($0.gate) }
        }

        /// Ends the wait. Under the lock.
        func goOn() {
            mayGoOn.store(true, ordering: .releasing)
            work.wake()
        }
    }
}
