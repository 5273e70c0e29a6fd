import Foundation
import Synchronization

/// What a store answered: the base class of results that are more than an array.
open class NSPersistentStoreResult: NSObject {}

/// The result of a request that runs while the caller goes on.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult>
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // Sendable: what changes lies behind the mutex; subclasses guard their own.

    private struct State {
        var operationError: (any Error)?
        var isCancelled = false
    }

    // Guards the error and the cancellation.
    private let state = Mutex(State())

    /// The context that the request was given to.
    public let managedObjectContext: NSManagedObjectContext

    /// How far the request is, and a way to cancel it; nil when there was no current `Progress` at its start.
    public let progress: Progress?

    init(context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
    }

    /// Why the request failed; nil while it runs and when it succeeded.
    open var operationError: (any Error)? { state.withLock { $0.operationError } }

    /// Asks the request to end early. It may still finish when it is nearly done.
    open func cancel() {
        state.withLock { $0.isCancelled = true }
        progress?.cancel()
    }

    /// Whether the result was cancelled here or through its progress.
    var isCancelled: Bool { state.withLock { $0.isCancelled } || progress?.isCancelled == true }

    /// Records why the request failed.
    func fail(with error: any Error) {
        state.withLock { $0.operationError = error }
    }
}
