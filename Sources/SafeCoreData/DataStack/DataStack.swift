import Dispatch
import Synchronization

/// A store with its model. The stack opens and writes the store in the background; it reads there
/// and, for views, on the main actor.
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
/// A new stack immediately starts to open its store, off the caller's thread. Requests made before
/// the store is open are queued. If it cannot be opened, each of them gets the error, and so does
/// every later request. No context is available without a store.
///
/// A stack may be used from any thread. Nothing that it does waits for the main queue, unless the
/// program has read on the main actor before. A program without a main run loop therefore works,
/// with `async` functions or with callbacks.
///
/// Pending requests keep the stack alive; it is released after them.
public final class DataStack: Sendable {
    /// The location of the store.
    public let location: StoreLocation
    let options: DataStackOptions
    private let loadModel: @Sendable () throws -> NSManagedObjectModel
    private let migration: MigrationChain?

    /// The serial queue on which the store is opened, written and closed.
    let work = DispatchQueue(label: "DataStack.work", qos: .userInitiated)
    /// The serial queue of the callbacks that wait for the store.
    let answers = DispatchQueue(label: "DataStack.answers", qos: .userInitiated)
    /// Guards the state of the stack.
    let guarded = Mutex(GuardedState())

    /// Creates a stack on a model that the program made or read.
    ///
    /// ```swift
    /// let stack = DataStack(model: model, store: .file(url))
    /// ```
    ///
    /// - Parameters:
    ///   - model: must not be changed any more.
    ///   - store: the location of the store; in memory by default.
    ///   - options: options for opening and writing the store.
    public convenience init(
        model: NSManagedObjectModel, store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { model }
    }

    /// Creates a stack on the model in a file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    /// The file is read in the background; if it cannot be read, every request gets the error.
    ///
    /// ```swift
    /// let stack = DataStack(modelAt: modelURL, store: .file(url))
    /// try await stack.opened()                 // throws what is wrong with the model or the store
    /// ```
    ///
    /// - Parameters:
    ///   - modelURL: the file or bundle.
    ///   - store: the location of the store; in memory by default.
    ///   - options: options for opening and writing the store.
    public convenience init(
        modelAt modelURL: URL, store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { try NSManagedObjectModel(reading: modelURL) }
    }

    /// - Parameters:
    ///   - migration: carried out before the store is opened.
    ///   - loadModel: called once for each opening, in the background.
    init(
        store: StoreLocation, options: DataStackOptions, migration: MigrationChain? = nil,
        loadModel: @escaping @Sendable () throws -> NSManagedObjectModel
    ) {
        location = store
        self.options = options
        self.loadModel = loadModel
        self.migration = migration
        work.async { self.openStore() }
    }

    deinit {
        let (observers, current) = guarded.withLock { guarded in
            defer { guarded.observers = [:] }
            return (guarded.observers, guarded.current)
        }
        for observer in observers.values { observer.finish() }
        if case .open(let store) = current {
            store.endResults()
            store.historyFeed.end()
        }
    }

    // MARK: Opening

    /// Opens the store. Runs on the work queue.
    func openStore() {
        do {
            let coordinator = try NSPersistentStoreCoordinator(validating: loadModel())
            let description = options.description(of: location)
            try description.makeDirectory()
            let report: @Sendable (Double) -> Void = { [weak self] fraction in
                self?.guarded.withLock { $0.migrate(fraction) }
            }
            try migration?.migrate(description, report)
            description.migrationProgressHandler = report
            var failure: (any Error)?
            coordinator.addPersistentStore(with: description) { failure = $1 }
            if let failure { throw failure }
            settle(.open(OpenStore(coordinator: coordinator)))
        } catch {
            settle(.failed(error))
        }
    }

    /// Enters a state in which no request has to wait, and calls the waiting callbacks.
    func settle(_ next: StoreState) {
        guard let result = next.answer else { return }
        let waiting = guarded.withLock { guarded in
            defer { guarded.waiting = [] }
            guarded.enter(next)
            return guarded.waiting
        }
        for answer in waiting { answers.async { answer(result.map { _ in () }) } }
    }

    /// Returns the open store. Runs on the work queue, where the opening has already finished.
    ///
    /// - Throws: the reason why there is no open store.
    func openedStore() throws -> OpenStore {
        guard let result = guarded.withLock({ $0.current.answer }) else { throw DataStackError.notOpenYet }
        return try result.get()
    }
}

/// The coordinator, contexts and query turns of a stack while its store is open.
final class OpenStore: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    /// A context that is created at its first use, unless the stack is closing the store.
    private struct Made<Context: Sendable>: Sendable {
        private(set) var context: Context?
        var isEnded = false

        mutating func get(_ make: () -> Context) -> Context? {
            if context == nil, !isEnded { context = make() }
            return isEnded ? nil : context
        }
    }

    /// Guards the main context, which is created at the first read.
    private let main = Mutex(Made<ReadingContext>())
    /// Guards the context of sequences of results, which is created for the first of them.
    private let following = Mutex(Made<NSManagedObjectContext>())
    private struct OpenDraft {
        weak var context: WriteContext?
    }

    /// Guards the weak references to the contexts of drafts.
    private let drafts = Mutex<[OpenDraft]>([])

    /// The queue of queries, each of which has its own context.
    let queries: QueryTurns

    /// Tells loops over the history of commits.
    let historyFeed: HistoryFeed

    init(coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        queries = QueryTurns(limit: coordinator.concurrentReads)
        historyFeed = HistoryFeed(coordinator)
    }

    /// The main context; nil before the first read.
    var mainContext: ReadingContext? { main.withLock { $0.context } }

    /// The context of sequences of results; nil before the first sequence.
    var resultsContext: NSManagedObjectContext? { following.withLock { $0.context } }

    /// Whether the stack is closing the store: no further context is created.
    var isEnded: Bool { following.withLock { $0.isEnded } }

    /// Prevents further contexts, and waits for the queries that were called before.
    func end() {
        historyFeed.end()
        queries.end()
        following.withLock { $0.isEnded = true }
        main.withLock { $0.isEnded = true }
    }

    /// Returns the context whose objects sequences of results follow, on its own queue; nil when
    /// the stack is closing the store.
    func makeResultsContext() -> NSManagedObjectContext? {
        following.withLock { following in
            following.get {
                let context = NSManagedObjectContext(.privateQueue)
                context.name = "DataStack results context"
                context.persistentStoreCoordinator = coordinator
                context.automaticallyMergesChangesFromParent = true
                return context
            }
        }
    }

    /// Ends all sequences of results asynchronously.
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

    /// Ends all drafts: they release their objects when the running blocks have ended.
    func endDrafts() {
        let contexts = drafts.withLock { drafts in
            defer { drafts = [] }
            return drafts.compactMap(\.context)
        }
        for context in contexts { context.performAndWait { context.reset() } }
    }

    /// Returns the main context; nil when the stack is closing the store.
    @MainActor func makeMainContext() -> ReadingContext? {
        main.withLock { $0.get { ReadingContext(mainQueueOf: coordinator) } }
    }
}
