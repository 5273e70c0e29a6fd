// A managed object that leaves its context's queue does not compile.
@available(
    *, unavailable, message: "a managed object belongs to the queue of its context: return its objectID or a snapshot"
)
extension NSManagedObject: @unchecked Sendable {}
