import Foundation
import Synchronization

/// A fetch that reads from the stores while the context's queue goes on with other work.
///
/// `NSManagedObjectContext.execute(_:)` starts it and returns at once. The completion block is
/// called on the context's queue, when the objects are ready there.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: books) { result in
///     print(result.finalResult?.count ?? 0)
/// }
/// try context.execute(request)
/// ```
///
/// Source: <https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest>
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The fetch request that is executed.
    public let fetchRequest: NSFetchRequest<ResultType>

    /// Called once on the context's queue, also when the fetch failed or was cancelled.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// How many objects are expected: the total of the result's `progress`, which is indeterminate
    /// without it.
    open var estimatedResultCount = 0

    /// An asynchronous request that executes a fetch request.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - blk: called on the context's queue when the fetch has ended.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }

    /// A request without an entity, which cannot be executed.
    public required init() {
        fetchRequest = NSFetchRequest()
        completionBlock = nil
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let progress = Progress.current().map { _ in
            // Becomes a part of the caller's current progress.
            Progress(totalUnitCount: estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1)
        }
        let result = NSAsynchronousFetchResult(self, context: context, progress: progress)
        try context.start(result)
        return result
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let request = fetchRequest.copy() as? NSFetchRequest<ResultType> ?? fetchRequest
        let copy = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: completionBlock)
        copy.affectedStores = affectedStores
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }
}

/// The completion block of an asynchronous fetch of any result type.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
    NSAsynchronousFetchResult<any NSFetchRequestResult>
) -> Void

/// The result of a request that runs while the caller goes on.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult>
///
/// ```swift
/// let running = try context.execute(asynchronousRequest) as? NSPersistentStoreAsynchronousResult
/// running?.cancel()                                       // the user went elsewhere
/// ```
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // Sendable: the mutable state is behind the mutex. Subclasses guard their own.

    private struct State {
        var operationError: (any Error)?
        var isCancelled = false
    }

    // Guards the error and the cancellation.
    private let state = Mutex(State())

    /// The context that the request was given to.
    public let managedObjectContext: NSManagedObjectContext

    /// The progress of the request, which can cancel it; nil if no `Progress` was current at its
    /// start.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: 1)
    /// progress.becomeCurrent(withPendingUnitCount: 1)
    /// let result = try context.execute(request) as? NSAsynchronousFetchResult<Item>
    /// progress.resignCurrent()                                // cancelling it cancels the fetch
    /// ```
    public let progress: Progress?

    init(context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
    }

    /// The error of a failed request; nil while it runs and when it succeeded.
    open var operationError: (any Error)? { state.withLock { $0.operationError } }

    /// Asks the request to end early. It may still finish when it is nearly done.
    open func cancel() {
        state.withLock { $0.isCancelled = true }
        progress?.cancel()
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } || progress?.isCancelled == true }

    func fail(with error: any Error) {
        state.withLock { $0.operationError = error }
    }
}

/// The outcome of an asynchronous fetch: empty while it runs.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsasynchronousfetchresult>
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
///     if let error = result.operationError { print(error.localizedDescription) }
///     show(result.finalResult ?? [])                      // on the queue of the context
/// }
/// ```
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    // Sendable: the request is constant, and the objects are behind the mutex. They belong to the
    // context's queue, as the objects of every fetch do.

    /// The request that this is the result of.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>

    // Guards the objects.
    private let fetched = Mutex<Unchecked<[ResultType]?>>(Unchecked(nil))

    init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext, progress: Progress?) {
        fetchRequest = request
        super.init(context: context, progress: progress)
    }

    /// The fetched objects, to be used on the context's queue.
    ///
    /// Nil while the fetch runs and when it failed; empty when it was cancelled.
    open var finalResult: [ResultType]? { fetched.withLock { $0 }.value }

    func finish(with objects: [ResultType]) {
        let objects = Unchecked<[ResultType]?>(objects)
        fetched.withLock { $0 = objects }
        guard let progress else { return }
        let count = Int64(objects.value?.count ?? 0)
        progress.totalUnitCount = count
        progress.completedUnitCount = count
    }
}
