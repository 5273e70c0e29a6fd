import Synchronization

// Threads that wait, and what they wait for.

extension ContextGate {
    /// A thread that waits for a gate, for a block on the main queue, or for what it has given up.
    final class WaitingThread: @unchecked Sendable {
        // Sendable: all variables are guarded by the lock of `Waiting`, but for the atomic one. The thread's own places are changed by
        // others under that lock, while it waits.

        let work: ThreadWork
        let target: ContextGate?
        /// What it needs to go on, and has to give up until then, with its places.
        private var needed: [(place: Int, gate: ContextGate)]
        /// What it keeps meanwhile.
        private let kept: [ContextGate]
        /// What it keeps unless others wait for it for ever, with its places.
        private var reserved: [(place: Int, gate: ContextGate)]
        /// Whether it is the main thread, in the middle of a save or event of a context of the main queue.
        private var reservesMainQueue: Bool
        /// Whether it is the main thread, in the middle of other own work of a context of the main queue.
        private let isBusyOnMainQueue: Bool
        private let isMainThread: Bool
        /// Whether it waits for a block on the main queue.
        var isMainRequest = false
        /// Whether it can do without what others keep while they wait.
        let mayGoOnWithout: Bool
        var number = 0
        /// Whether it cannot go on yet although it could have its gates.
        var isPaused = false
        private let mayGoOn = Atomic<Bool>(false)

        init(_ work: ThreadWork, target: ContextGate?, mayGoOnWithout: Bool) {
            self.work = work
            self.target = target
            self.mayGoOnWithout = mayGoOnWithout
            needed = work.held.indices.compactMap { place in
                let gate = work.held[place].gate
                // Of blocks of one context the innermost has it first.
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

        /// Whether it keeps what it gives up where others would wait for ever.
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
            for place in work.held.indices where !work.held[place].isKept && !work.held[place].isReserved && !work.held[place].isAway {
                work.held[place].isAway = true
                work.held[place].gate.isTaken = false
                work.held[place].gate.suspendedCount += 1
            }
        }

        /// Takes what it needs and can have. Under the lock.
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

        /// Gives up what it has reserved. Under the lock.
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

        /// Whether it cannot go on before another one does. Under the lock.
        func isHeldUp(by other: WaitingThread) -> Bool {
            if other === self { return false }
            // The main thread goes on after the block that it runs for others.
            if isPaused, other.work === work { return true }
            if isMainRequest, other.isMainThread, other.isBusyOnMainQueue || other.keepsAny && !mayGoOnWithout && !keepsAny { return true }
            return isHeldUp(byReservationOf: other) || wants { gate in other.kept.contains { $0 === gate } }
        }

        /// Whether it cannot go on before another one gives up what it has reserved. Under the lock.
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
