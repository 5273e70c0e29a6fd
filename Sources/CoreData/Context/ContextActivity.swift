/// The internal work that a context is doing.
struct ContextActivity {
    /// Where pending changes are being processed.
    enum Stage: Comparable {
        case idle
        case outsideSave
        /// A save, which processes pending changes even if an observer of an event called it.
        case inSave
    }

    private var stage = Stage.idle
    /// The number of open steps of internal work that call methods of objects.
    private var openSteps = 0
    /// Whether a save is running, from its first step to its last notification.
    private(set) var isSaving = false
    /// Whether the main queue was asked to process pending changes.
    private var isScheduled = false

    var isProcessingChanges: Bool { stage != .idle }

    /// Whether a fetch may end the current event.
    var mayEndEvent: Bool { openSteps == 0 && !isSaving }

    /// - Returns: The stage to return to; nil if pending changes are being processed already.
    mutating func beginProcessing() -> Stage? {
        let next: Stage = isSaving ? .inSave : .outsideSave
        if stage >= next { return nil }
        defer { stage = next }
        return stage
    }

    mutating func endProcessing(_ former: Stage) { stage = former }

    mutating func beginStep() { openSteps += 1 }
    mutating func endStep() { openSteps -= 1 }

    /// - Returns: False if a save is running already.
    mutating func beginSaving() -> Bool {
        defer { isSaving = true }
        return !isSaving
    }
    mutating func endSaving() { isSaving = false }

    /// - Returns: False if the processing of pending changes is scheduled already.
    mutating func schedule() -> Bool {
        defer { isScheduled = true }
        return !isScheduled
    }
    mutating func endSchedule() { isScheduled = false }
}
