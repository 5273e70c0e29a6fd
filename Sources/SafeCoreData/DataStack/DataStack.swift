import Dispatch
import Synchronization

/// A store with its model, opened and written in the background, read there and, for views, on the main actor.
///
/// ```swift
/// let stack = DataStack(modelAt: modelURL, store: .file(storeURL))
///
/// let names = try await stack.read { context in
///     try context.fetch(NSFetchRequest<Item>(entityName: "Item")).map(\.name)
/// }
/// try await stack.write { context in
///     let item = Item(context: context)
///     item.name = "Bolt"
/// }
/// ```
///
/// A new stack starts to open its store at once, away from the caller's thread. Requests made before it is open wait and are
/// served in their order; if it cannot be opened, each of them gets the error, and so does every later one. There is no way
/// to a context without a store.
///
/// Closures may be used from any thread; nothing that a stack does waits for the main queue unless the program has read on the
/// main actor before. A program without a main run loop therefore works, with `async` functions or with callbacks.
///
/// The stack keeps its requests alive until they are served, and is released after them.
public final class DataStack: Sendable {
    /// Where the objects are kept.
    public let location: StoreLocation
    let options: DataStackOptions
    private let loadModel: @Sendable () throws -> NSManagedObjectModel

    /// Runs what opens, writes and closes, one after the other.
    let work = DispatchQueue(label: "DataStack.work", qos: .userInitiated)
    /// Runs the answers to those who wait for the store, in their order.
    let answers = DispatchQueue(label: "DataStack.answers", qos: .userInitiated)
    /// Guards what the stack is doing.
    let guarded = Mutex(GuardedState())

    /// A stack on a model that the program made or read.
    ///
    /// ```swift
    /// let stack = DataStack(model: model, store: .file(url))
    /// ```
    ///
    /// - Parameters:
    ///   - model: is not changed any more.
    ///   - store: in memory unless said otherwise.
    ///   - options: how the store is opened and written.
    public convenience init(
        model: NSManagedObjectModel, store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { model }
    }

    /// A stack on the model in a file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`. The file is read in the background; if
    /// it cannot be read, every request gets the error.
    ///
    /// ```swift
    /// let stack = DataStack(modelAt: modelURL, store: .file(url))
    /// try await stack.opened()                                // throws what is wrong with the model or the store
    /// ```
    ///
    /// - Parameters:
    ///   - modelURL: the file or bundle.
    ///   - store: in memory unless said otherwise.
    ///   - options: how the store is opened and written.
    public convenience init(
        modelAt modelURL: URL, store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { try NSManagedObjectModel(reading: modelURL) }
    }

    /// - Parameter loadModel: called once for each opening, in the background.
    init(
        store: StoreLocation, options: DataStackOptions, loadModel: @escaping @Sendable () throws -> NSManagedObjectModel
    ) {
        location = store
        self.options = options
        self.loadModel = loadModel
        work.async { self.openStore() }
    }

    deinit {
        let (observers, current) = guarded.withLock { guarded in
            defer { guarded.observers = [:] }
            return (guarded.observers, guarded.current)
        }
        for observer in observers.values { observer.finish() }
        if case .open(let store) = current { store.endResults() }
    }

    // MARK: Opening

    /// Opens the store. Runs on the work queue.
    func openStore() {
        do {
            let coordinator = try NSPersistentStoreCoordinator(validating: loadModel())
            let description = options.description(of: location)
            try description.makeDirectory()
            description.migrationProgressHandler = { [weak self] fraction in self?.guarded.withLock { $0.migrate(fraction) } }
            var failure: (any Error)?
            coordinator.addPersistentStore(with: description) { failure = $1 }
            if let failure { throw failure }
            settle(.open(OpenStore(coordinator: coordinator)))
        } catch {
            settle(.failed(error))
        }
    }

    /// Enters a state in which nobody has to wait, and answers those who waited.
    func settle(_ next: StoreState) {
        guard let result = next.answer else { return }
        let waiting = guarded.withLock { guarded in
            defer { guarded.waiting = [] }
            guarded.enter(next)
            return guarded.waiting
        }
        for answer in waiting { answers.async { answer(result.map { _ in () }) } }
    }

    /// The open store. Runs on the work queue, where nothing waits for the opening.
    ///
    /// - Throws: why there is none.
    func openedStore() throws -> OpenStore {
        guard let result = guarded.withLock({ $0.current.answer }) else { throw DataStackError.notOpenYet }
        return try result.get()
    }
}

/// What a stack works with while it is open.
final class OpenStore: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    /// A context that is made for the first who needs it, unless the stack closes the store.
    private struct Made<Context> {
        var context: Context?
        var isEnded = false
    }

    /// Guards the main context, which is made when somebody reads.
    private let main = Mutex(Made<ReadingContext>())
    /// Guards the context of sequences of results, which is made for the first of them.
    private let following = Mutex(Made<NSManagedObjectContext>())
    private struct OpenDraft {
        weak var context: WriteContext?
    }

    /// Guards the contexts of drafts, which it does not keep.
    private let drafts = Mutex<[OpenDraft]>([])

    /// The turns of queries, each of which has a context of its own.
    let queries: QueryTurns

    init(coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        queries = QueryTurns(limit: coordinator.concurrentReads)
    }

    /// The main context, if anybody has read yet.
    var mainContext: ReadingContext? { main.withLock { $0.context } }

    /// The context of sequences of results, if there was any.
    var resultsContext: NSManagedObjectContext? { following.withLock { $0.context } }

    /// Whether the stack closes the store: no context is made any more.
    var isEnded: Bool { following.withLock { $0.isEnded } }

    /// Has no contexts made any more, and waits for the queries that were called before.
    func end() {
        queries.end()
        following.withLock { $0.isEnded = true }
        main.withLock { $0.isEnded = true }
    }

    /// The context whose objects sequences of results follow, on a queue of its own; nil when the stack closes the store.
    func makeResultsContext() -> NSManagedObjectContext? {
        following.withLock { following in
            if following.isEnded { return nil }
            if let context = following.context { return context }
            let context = NSManagedObjectContext(.privateQueue)
            context.name = "DataStack results context"
            context.persistentStoreCoordinator = coordinator
            context.automaticallyMergesChangesFromParent = true
            following.context = context
            return context
        }
    }

    /// Ends all sequences of results, soon.
    func endResults() {
        guard let context = resultsContext else { return }
        context.perform { context.reset() }
    }

    func addDraft(_ context: WriteContext) {
        drafts.withLock { drafts in
            drafts.removeAll { $0.context == nil }
            drafts.append(OpenDraft(context: context))
        }
    }

    /// Ends all drafts: they let go of their objects, when the blocks that are running have ended.
    func endDrafts() {
        let contexts = drafts.withLock { drafts in
            defer { drafts = [] }
            return drafts.compactMap(\.context)
        }
        for context in contexts { context.performAndWait { context.reset() } }
    }

    /// The main context; nil when the stack closes the store.
    @MainActor func makeMainContext() -> ReadingContext? {
        main.withLock { main in
            if main.isEnded { return nil }
            if let context = main.context { return context }
            let context = ReadingContext(mainQueueOf: coordinator)
            main.context = context
            return context
        }
    }
}
