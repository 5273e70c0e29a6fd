// A managed object that leaves its context's queue does not compile, and the compiler says what may leave in its place.
@available(*, unavailable, message: "a managed object belongs to the queue of its context: return its objectID or a snapshot")
extension NSManagedObject: @unchecked Sendable {}
