/// What follows the events of a context, on the context's queue. It is told after the notification of the same event was posted, and
/// also of what no notification tells.
protocol ContextListener: AnyObject {
    /// Whether it has to hear of rows that others have inserted or changed and that are in no object of the context.
    var hearsOfUnreadRows: Bool { get }
    /// An object changes for the first time since pending changes were processed.
    func context(_ context: NSManagedObjectContext, willChange object: NSManagedObject)
    /// Pending changes were processed. Who was told before may have saved them: what changed is to be asked of the event.
    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges)
    /// The context's changes were saved. Told after the event that was being told when they were.
    ///
    /// - Parameter saved: the objects that were inserted or changed.
    func context(_ context: NSManagedObjectContext, didSave saved: [ContiguousArray<NSManagedObject>])
    /// What others saved was taken over.
    func contextDidMerge(_ context: NSManagedObjectContext)
    /// The context let go of all its objects.
    func contextForgotObjects(_ context: NSManagedObjectContext)
    /// Others may have written to the stores, and nobody knows what: which objects a fetch gives now that results do not have, and which
    /// results it does not give, or not in their places.
    func objectsOutOfPlace(in context: NSManagedObjectContext) -> (missing: [NSManagedObjectID], misplaced: [NSManagedObjectID])
    /// A property of an object that notes its reads is about to be read, in a context of the main queue.
    func willRead(_ slot: Int, of object: NSManagedObject)
}

extension ContextListener {
    var hearsOfUnreadRows: Bool { true }
    func objectsOutOfPlace(in context: NSManagedObjectContext) -> (missing: [NSManagedObjectID], misplaced: [NSManagedObjectID]) {
        ([], [])
    }
    func willRead(_ slot: Int, of object: NSManagedObject) {}
    func context(_ context: NSManagedObjectContext, willChange object: NSManagedObject) {}
    func context(_ context: NSManagedObjectContext, didSave saved: [ContiguousArray<NSManagedObject>]) {}
    func contextDidMerge(_ context: NSManagedObjectContext) {}
    func contextForgotObjects(_ context: NSManagedObjectContext) {}
}

/// The listeners of a context, which it does not keep alive.
struct ContextListeners {
    private struct Entry {
        weak var listener: (any ContextListener)?
    }

    private var entries: [Entry] = []
    /// Listeners that live as long as the context.
    private var owned: [any ContextListener] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Whether any of them has to hear of rows that are in no object of the context.
    var hearOfUnreadRows: Bool { entries.contains { $0.listener?.hearsOfUnreadRows == true } }

    /// Adds a listener that is to live as long as the context.
    mutating func own(_ listener: any ContextListener) {
        owned.append(listener)
        add(listener)
    }

    /// The listener of a class that lives as long as the context.
    func owned<Listener: ContextListener>(_ type: Listener.Type) -> Listener? { owned.lazy.compactMap { $0 as? Listener }.first }

    mutating func add(_ listener: any ContextListener) {
        entries.removeAll { $0.listener == nil || $0.listener === listener }
        entries.append(Entry(listener: listener))
    }

    mutating func remove(_ listener: any ContextListener) { entries.removeAll { $0.listener == nil || $0.listener === listener } }

    fileprivate func forEach(_ body: (any ContextListener) -> Void) { for entry in entries { entry.listener.map(body) } }
}

extension NSManagedObjectContext {
    /// Calls those who listen now, in the order in which they came.
    @inline(__always)
    func tellListeners(_ body: (any ContextListener) -> Void) {
        if !listeners.isEmpty { tellAll(body) }
    }

    /// As `tellListeners`, but after the event that is being told, where one is: all have heard of it then.
    func tellListenersAfterEvent(_ body: @escaping (any ContextListener) -> Void) {
        if eventStage != nil, !listeners.isEmpty { messagesAfterEvent.append(body) } else { tellListeners(body) }
    }

    /// Tells what has waited for the end of an event.
    func tellMessagesAfterEvent() {
        while !messagesAfterEvent.isEmpty { tellListeners(messagesAfterEvent.removeFirst()) }
    }

    @inline(never)
    private func tellAll(_ body: (any ContextListener) -> Void) {
        // A copy: listeners may come and go while they are told.
        let present = listeners
        present.forEach(body)
    }
}
