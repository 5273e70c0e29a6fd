import Synchronization

/// A reference that does not keep its object alive; nil once that object is being deallocated.
///
/// References to stores, coordinators and contexts use it in place of weak references: almost every
/// operation on an object retains and releases them. A weak reference moves its object's counts
/// into a side table for the rest of the object's life, and each retain and release then takes some
/// four times as long. This reference costs a lock where it is read, and nothing elsewhere.
package final class BackReference<Object: AnyObject & Sendable>: Sendable {
    // Guards the reference. The object's deinit waits for it: while it is held, the object's memory
    // exists.
    private let reference = Mutex<Unmanaged<Object>?>(nil)

    /// Sets the object, which owns the reference and calls `clear()` in its deinit.
    func lead(to object: Object) { reference.withLock { $0 = .passUnretained(object) } }

    func clear() { reference.withLock { $0 = nil } }

    package var object: Object? { reference.withLock { $0.flatMap { tryRetain($0) } } }

    /// Whether the object's memory still exists. During deallocation, `object` may already be nil.
    var hasObject: Bool { reference.withLock { $0 != nil } }
}
