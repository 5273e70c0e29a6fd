/// An actor that owns a context: its methods run on the context's queue.
///
/// The methods use the context and its objects directly, without `perform`. They and the blocks
/// that others pass to `perform` and `performAndWait` of the context exclude each other.
///
/// ```swift
/// actor Importer: ContextActor {
///     let context: NSManagedObjectContext
///     init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }
///
///     func add(_ names: [String]) throws {
///         for name in names { Item(context: context).name = name }
///         try context.save()
///     }
/// }
/// try await Importer(container).add(["Bolt", "Nut"])
/// ```
///
/// Pending changes are processed when a method has returned or awaits; its caller may go on before.
/// While a method awaits, other work of the context may run, and while it waits for another context
/// in `performAndWait`, blocks that other threads wait for. Cancelling the task ends no fetch. An
/// actor with a context of the main queue runs where the main actor does. Several actors may own
/// one context; they exclude each other, too.
public protocol ContextActor: Actor {
    /// The context whose queue runs the actor. It must not change: declare it with `let`.
    nonisolated var context: NSManagedObjectContext { get }
}

extension ContextActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
}

/// The executor of actors that own the context (`ContextActor`).
extension NSManagedObjectContext: SerialExecutor {
    /// Runs a part of an actor's method in its turn on the context's queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// This context, or the main actor's executor for a context of the main queue.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        concurrencyType == .mainQueueConcurrencyType
            ? MainActor.sharedUnownedExecutor : UnownedSerialExecutor(ordinary: self)
    }

    /// Stops the program unless the calling thread runs work of the context.
    public func checkIsolated() { ConcurrencyDebug.requireQueue(of: self, "run an actor") }
}
