import Foundation

// Running work on the context's queue.

extension NSManagedObjectContext {
    func enqueue(_ block: @escaping () -> Void) {
        // The block runs once, on the context's queue. Its captured values move there with it.
        let block = Unchecked(block)
        gate.async {
            CurrentContext.run(in: self) {
                block.value()
                self.endEvent()
            }
        }
    }

    /// Runs a block on the context's queue, waits for it and returns its value or error. May be
    /// nested.
    ///
    /// ```swift
    /// let count = try context.performAndWait {
    ///     try context.count(for: NSFetchRequest<Item>(entityName: "Item"))
    /// }
    /// ```
    public func performAndWait<Value>(_ block: () throws -> Value) rethrows -> Value {
        // The direct call needs no variable for the result.
        if type(of: self) == NSManagedObjectContext.self { return try run(block) }
        return try runAsSubclassesDo(block) { throw $0 }
    }

    /// Runs a block with the method that subclasses override.
    private func runAsSubclassesDo<Value>(
        _ block: () throws -> Value, rethrowing: (any Error) throws -> Value
    ) rethrows -> Value {
        var result: Result<Value, any Error>?
        performAndWait { () -> Void in result = Result { try block() } }
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rethrowing(error)
        case nil: preconditionFailure("\(type(of: self)).performAndWait(_:) did not run its block.")
        }
    }

    func run<Value>(_ block: () throws -> Value) rethrows -> Value { try enter(isInOperation: false, block) }

    /// Runs a block that a child needs in the middle of its internal work.
    ///
    /// The work may continue without contexts that other threads keep. So outside an operation it
    /// is one itself: the program's own blocks continue only with all their contexts.
    func run<Value>(neededBy child: NSManagedObjectContext, _ block: () throws -> Value) rethrows -> Value {
        let work = ThreadWork.current
        return try work.operation {
            try work.keeping(child) { try enter(isInOperation: true, block) }
        }
    }

    private func enter<Value>(isInOperation: Bool, _ block: () throws -> Value) rethrows -> Value {
        // A block run for a waiting thread may use a context that the main thread gave up.
        if isOnQueue, !gate.isGivenUp(by: .current) { return try CurrentContext.run(in: self, block) }
        return try wait(isInOperation: isInOperation, block) { throw $0 }
    }

    private func wait<Value>(
        isInOperation: Bool, _ block: () throws -> Value, rethrowing: (any Error) throws -> Value
    ) rethrows -> Value {
        var result: Result<Value, any Error>?
        gate.sync(isInOperation: isInOperation) {
            result = Result { try CurrentContext.run(in: self, block) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rethrowing(error)
        case nil: preconditionFailure("A context's queue did not run a block.")
        }
    }

    /// Runs a save or the end of an event, during which no other thread enters the context.
    @inline(__always)
    func reserved<Value>(_ work: () throws -> Value) rethrows -> Value { try ThreadWork.current.reserving(self, work) }

    /// Runs internal work of the context, which may need the parent more than once.
    @inline(__always)
    func asOperation<Value>(_ work: () throws -> Value) rethrows -> Value {
        parentContext == nil ? try work() : try ThreadWork.current.operation(work)
    }

    /// The time at which an asynchronous block runs.
    ///
    /// ```swift
    /// try await context.perform(schedule: .enqueued) { try context.save() }
    /// ```
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is already on the context's queue, otherwise like `enqueued`.
        case immediate
        /// After the blocks that were enqueued before.
        case enqueued
    }

    /// Runs a block on the context's queue and returns its value or error. Pending changes are
    /// processed at its end.
    ///
    /// When the task is cancelled, fetches of the block from a PostgreSQL store end with
    /// `CancellationError`. All other work continues, including a save.
    ///
    /// ```swift
    /// let id = try await context.perform {
    ///     let item = Item(context: context)
    ///     try context.save()
    ///     return item.objectID
    /// }
    /// ```
    @preconcurrency
    public func perform<Value, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if case .immediate = schedule, isOnQueue {
            return try block()
        }
        // The block runs once, on the context's queue; its result is passed on.
        let block = Unchecked(block)
        let cancellation = RequestCancellation()
        let result: Unchecked<Result<Value, Failure>> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                gate.async {
                    let result = CurrentContext.run(in: self) {
                        let result: Result<Value, Failure> = cancellation.whileRunning {
                            do throws(Failure) { return .success(try block.value()) } catch { return .failure(error) }
                        }
                        self.endEvent()
                        return Unchecked(result)
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.value.get()
    }

    /// Ends the event of a `perform` block.
    private func endEvent() {
        processPendingChanges()
        if undoManager != nil, concurrencyType != .mainQueueConcurrencyType { endUndoEvent() }
    }

    /// Whether the thread runs work of this context, or is the main thread of its queue.
    var isOnQueue: Bool {
        if concurrencyType == .mainQueueConcurrencyType { return MainQueue.isCurrent }
        return CurrentContext.isActive(self)
    }
}

extension NSManagedObjectContext: GateOwner {
    func isBelow(_ other: any GateOwner) -> Bool {
        guard let parentContext else { return false }
        return parentContext === other || parentContext.isBelow(other)
    }
}

/// The contexts whose blocks the current thread is running.
enum CurrentContext {
    static func run<Value>(in context: NSManagedObjectContext, _ block: () throws -> Value) rethrows -> Value {
        try ThreadWork.current.run(in: context) {
            if context.parentContext != nil { context.catchUpWithKeys() }
            return try block()
        }
    }

    static func isActive(_ context: NSManagedObjectContext) -> Bool {
        ThreadWork.current.contexts.contains { $0 === context }
    }

    /// The context of the innermost block, or nil outside of any.
    static var innermost: NSManagedObjectContext? { ThreadWork.current.contexts.last as? NSManagedObjectContext }
}
