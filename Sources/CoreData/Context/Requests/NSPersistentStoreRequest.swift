import Foundation

/// The kinds of requests that go to stores.
///
/// ```swift
/// switch request.requestType {        // in execute(_:with:) of an incremental store
/// case .fetchRequestType: return try fetch(request)
/// case .saveRequestType: return try save(request)
/// default: return try super.execute(request, with: context)
/// }
/// ```
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// `NSFetchRequest`
    case fetchRequestType = 1
    /// `NSSaveChangesRequest`
    case saveRequestType = 2
    /// `NSBatchInsertRequest`
    case batchInsertRequestType = 5
    /// `NSBatchUpdateRequest`
    case batchUpdateRequestType = 6
    /// `NSBatchDeleteRequest`
    case batchDeleteRequestType = 7
}

/// A request to the stores of a coordinator: the base class of fetch, save, batch and history
/// requests.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorerequest>
///
/// ```swift
/// request.affectedStores = [archive]                      // asks one store of several
/// let items = try context.fetch(request)
/// ```
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The only stores the request goes to; nil for all that can answer it.
    ///
    /// A store of another coordinator refers to the one with the same UUID, if the request's
    /// coordinator has it. Otherwise it is ignored.
    open var affectedStores: [NSPersistentStore]?

    public required override init() {
        super.init()
    }

    /// The kind of the request. Subclasses override it.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Executes the request. Each kind of request overrides this; other classes are refused.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        throw CoreDataErrors.make(
            .persistentStoreUnsupportedRequestType,
            "A context cannot execute a request of the class \(type(of: self)).",
            recovery: "Use a fetch or a batch request, or save the context.")
    }

    /// Executes the request for the coordinator. Returns the result of its `execute(_:with:)`.
    func answer(for context: NSManagedObjectContext) throws -> Any { try execute(in: context) }

    /// An independent request with the same settings. A subclass copies its own settings to what
    /// `super` returns.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.affectedStores = affectedStores
        return copy
    }
}

/// An answer of a store: the base class of results that are more than an array.
///
/// ```swift
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// ```
open class NSPersistentStoreResult: NSObject {}
