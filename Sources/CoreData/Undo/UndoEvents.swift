import Foundation

/// Where an undo manager hears that the event has ended during which it opened a group.
protocol UndoEvents {
    /// Calls a function once, on this thread, when the present event is over; false where the thread has no events, and then
    /// nothing is called.
    func afterEvent(_ body: @escaping () -> Void) -> Bool
}

/// The events of the main queue: an event is over when the queue takes its next turn, which it does in a run loop, in
/// `dispatchMain()` and in an asynchronous main program. Other threads have no events.
struct MainQueueEvents: UndoEvents {
    /// A function that stays on the main queue: `afterEvent` takes it from there, and the queue calls it there.
    private struct OnMainQueue: @unchecked Sendable {
        let body: () -> Void
    }

    func afterEvent(_ body: @escaping () -> Void) -> Bool {
        guard MainQueue.isCurrent else { return false }
        let call = OnMainQueue(body: body)
        DispatchQueue.main.async { call.body() }
        return true
    }
}
