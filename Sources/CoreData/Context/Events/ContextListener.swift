/// A listener for the events of a context, called on the context's queue.
///
/// It is notified of an event after the notification of that event was posted. It is also notified
/// of changes that no notification reports.
protocol ContextListener: AnyObject {
    /// Whether it needs changed rows that no object of this context holds.
    var hearsOfUnreadRows: Bool { get }
    /// Called when an object changes for the first time since pending changes were processed.
    func context(_ context: NSManagedObjectContext, willChange object: NSManagedObject)
    /// Called when pending changes were processed, and perhaps saved by an earlier listener.
    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges)
    /// Called when the context's changes were saved. If an event is being reported at that time, it
    /// is called after that event.
    ///
    /// - Parameter saved: The objects that were inserted or changed.
    func context(_ context: NSManagedObjectContext, didSave saved: [ContiguousArray<NSManagedObject>])
    /// Called when changes that another context saved were merged.
    func contextDidMerge(_ context: NSManagedObjectContext)
    /// Called when the context released all its objects.
    func contextForgotObjects(_ context: NSManagedObjectContext)
    /// Compares results with a new fetch when other contexts or programs may have written unknown
    /// changes.
    ///
    /// - Returns: The objects that a fetch returns now and the results lack (`missing`), and those
    ///   that the results have and a fetch does not return, or in another place (`misplaced`).
    func objectsOutOfPlace(in context: NSManagedObjectContext) -> (
        missing: [NSManagedObjectID], misplaced: [NSManagedObjectID]
    )
    /// Called before a property of an object that notes its reads is read, in a main-queue context.
    func willRead(_ slot: Int, of object: NSManagedObject)
}

extension ContextListener {
    var hearsOfUnreadRows: Bool { true }
    func objectsOutOfPlace(in context: NSManagedObjectContext) -> (
        missing: [NSManagedObjectID], misplaced: [NSManagedObjectID]
    ) {
        ([], [])
    }
    func willRead(_ slot: Int, of object: NSManagedObject) {}
    func context(_ context: NSManagedObjectContext, willChange object: NSManagedObject) {}
    func context(_ context: NSManagedObjectContext, didSave saved: [ContiguousArray<NSManagedObject>]) {}
    func contextDidMerge(_ context: NSManagedObjectContext) {}
    func contextForgotObjects(_ context: NSManagedObjectContext) {}
}

/// The listeners of a context. The context does not keep them alive.
struct ContextListeners {
    private struct Entry {
        weak var listener: (any ContextListener)?
    }

    private var entries: [Entry] = []
    /// Listeners that live as long as the context.
    private var owned: [any ContextListener] = []
    /// Messages that wait until the event that is being reported has ended.
    private var heldMessages: [(any ContextListener) -> Void] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Whether any listener needs rows that no object of the context holds.
    var hearOfUnreadRows: Bool { entries.contains { $0.listener?.hearsOfUnreadRows == true } }

    /// Adds a listener that lives as long as the context.
    mutating func own(_ listener: any ContextListener) {
        owned.append(listener)
        add(listener)
    }

    /// Returns the listener of a class that lives as long as the context.
    func owned<Listener: ContextListener>(_ type: Listener.Type) -> Listener? {
        owned.lazy.compactMap { $0 as? Listener }.first
    }

    mutating func add(_ listener: any ContextListener) {
        entries.removeAll { $0.listener == nil || $0.listener === listener }
        entries.append(Entry(listener: listener))
    }

    mutating func remove(_ listener: any ContextListener) {
        entries.removeAll { $0.listener == nil || $0.listener === listener }
    }

    mutating func dropHeldMessages() { heldMessages.removeAll() }

    fileprivate mutating func hold(_ message: @escaping (any ContextListener) -> Void) { heldMessages.append(message) }

    fileprivate mutating func takeHeldMessage() -> ((any ContextListener) -> Void)? {
        heldMessages.isEmpty ? nil : heldMessages.removeFirst()
    }

    fileprivate func forEach(_ body: (any ContextListener) -> Void) {
        for entry in entries { entry.listener.map(body) }
    }
}

extension NSManagedObjectContext {
    /// Calls the current listeners, in the order in which they were added.
    @inline(__always)
    func tellListeners(_ body: (any ContextListener) -> Void) {
        if !listeners.isEmpty { tellAll(body) }
    }

    /// Does the same as `tellListeners`, but after the event that is being reported, if there is
    /// one. All listeners have been notified of that event by then.
    func tellListenersAfterEvent(_ body: @escaping (any ContextListener) -> Void) {
        if activity.isProcessingChanges, !listeners.isEmpty { listeners.hold(body) } else { tellListeners(body) }
    }

    /// Sends the messages that were held back until the end of an event.
    func tellMessagesAfterEvent() {
        while let message = listeners.takeHeldMessage() { tellListeners(message) }
    }

    @inline(never)
    private func tellAll(_ body: (any ContextListener) -> Void) {
        // A copy: listeners may be added and removed while they are called.
        let present = listeners
        present.forEach(body)
    }
}
