import Foundation

// Fetching: request -> resolved request -> plan -> rows of the stores -> objects, with unsaved changes laid over.

extension NSManagedObjectContext {
    /// Fetches what the request describes.
    ///
    /// - Throws: errors that name the entity, the part of the predicate or the statement at fault.
    public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try FetchExecutor(request, in: self).results()
    }

    /// Fetches what the request describes, as `Any`.
    public func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try FetchExecutor(request, in: self).run().elements
    }

    /// The number of objects that the request would give.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try FetchExecutor(request, in: self).count()
    }

    /// The number of objects that the request would give, for a request whose result type is nowhere written.
    @_disfavoredOverload
    public func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try FetchExecutor(request, in: self).count()
    }
}
