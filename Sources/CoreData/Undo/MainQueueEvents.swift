import Foundation

/// The events of the main queue. An event ends when the queue takes its next turn, which it does in
/// a run loop, in `dispatchMain()` and in an asynchronous main program. Other threads have no
/// events.
enum MainQueueEvents {
    /// Calls a function once, here, after the event. False if the thread has no events.
    static func afterEvent(_ body: @escaping () -> Void) -> Bool {
        guard MainQueue.isCurrent else { return false }
        // The function is received and called on the main queue.
        let call = Unchecked(body)
        DispatchQueue.main.async { call.value() }
        return true
    }
}
