import Foundation

// Running work on the context's queue.

extension NSManagedObjectContext {
    /// Runs a block later on the context's queue; pending changes are processed at its end.
    ///
    /// Disfavored, so that `await perform { … }` waits for the block also when it gives no value.
    @_disfavoredOverload
    public func perform(_ block: @escaping () -> Void) {
        // The block runs once, on the context's queue: what it captures moves there with it.
        let block = Unchecked(block)
        queue.async {
            CurrentContext.run(in: self) {
                block.value()
                self.endEvent()
            }
        }
    }

    /// Runs a block on the context's queue and waits for it. May be nested.
    @_disfavoredOverload
    public func performAndWait(_ block: () -> Void) {
        run(block)
    }

    /// Runs a block on the context's queue, waits for it and gives its value or error. May be nested.
    public func performAndWait<Value>(_ block: () throws -> Value) rethrows -> Value {
        try run(block)
    }

    private func run<Value>(_ block: () throws -> Value) rethrows -> Value {
        if isOnQueue { return try CurrentContext.run(in: self, block) }
        return try withoutActuallyEscaping(block) { block in
            try queue.sync { try CurrentContext.run(in: self, block) }
        }
    }

    /// Runs a block on the context's queue and gives its value or error; pending changes are processed at its end.
    public func perform<Value, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if case .immediate = schedule, isOnQueue {
            return try block()
        }
        // The block runs once, on the context's queue; the result is handed over and not used there again.
        let block = Unchecked(block)
        let result: Unchecked<Result<Value, Failure>> = await withCheckedContinuation { continuation in
            queue.async {
                let result = CurrentContext.run(in: self) {
                    let result: Result<Value, Failure>
                    do throws(Failure) {
                        result = .success(try block.value())
                    } catch {
                        result = .failure(error)
                    }
                    self.endEvent()
                    return Unchecked(result)
                }
                continuation.resume(returning: result)
            }
        }
        return try result.value.get()
    }

    /// Ends the event that a block of `perform` is.
    private func endEvent() {
        processPendingChanges()
        if undoManager != nil, concurrencyType != .mainQueueConcurrencyType { endUndoEvent() }
    }

    /// Whether the calling thread already runs work of this context, or is its main thread.
    var isOnQueue: Bool {
        if concurrencyType == .mainQueueConcurrencyType { return MainQueue.isCurrent }
        return CurrentContext.isActive(self)
    }
}

/// The contexts whose blocks the current thread is running, innermost last.
enum CurrentContext {
    private final class Stack {
        var contexts: [NSManagedObjectContext] = []
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            guard let pointer else { return }
            Unmanaged<Stack>.fromOpaque(pointer).release()
        }
        return key
    }()

    private static var stack: Stack {
        if let pointer = pthread_getspecific(key) {
            return Unmanaged<Stack>.fromOpaque(pointer).takeUnretainedValue()
        }
        let stack = Stack()
        pthread_setspecific(key, Unmanaged.passRetained(stack).toOpaque())
        return stack
    }

    static func run<Value>(in context: NSManagedObjectContext, _ block: () throws -> Value) rethrows -> Value {
        let stack = stack
        stack.contexts.append(context)
        defer { stack.contexts.removeLast() }
        return try block()
    }

    static func isActive(_ context: NSManagedObjectContext) -> Bool {
        stack.contexts.contains { $0 === context }
    }

    /// The context of the innermost block, or nil outside of any.
    static var innermost: NSManagedObjectContext? { stack.contexts.last }
}
