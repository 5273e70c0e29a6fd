import Synchronization

/// A reference that does not keep its object alive; nil once that is being deallocated.
///
/// What stores, coordinators and contexts are referred to by in place of weak references: each of them is retained and released for almost
/// everything that is done with an object. A weak reference moves its object's counts into a table beside it, for as long as it lives, and
/// each retain and release takes some four times as long from then on. This one costs a lock where it is read, and nothing elsewhere.
package final class BackReference<Object: AnyObject & Sendable>: Sendable {
    // Guards the reference. The object's deinit waits for it: while it is held, the object's memory is there.
    private let reference = Mutex<Unmanaged<Object>?>(nil)

    /// Has the reference lead to the object that owns it, and that calls `clear()` in its deinit.
    func lead(to object: Object) { reference.withLock { $0 = .passUnretained(object) } }

    func clear() { reference.withLock { $0 = nil } }

    package var object: Object? { reference.withLock { $0.flatMap { tryRetain($0) } } }

    /// Whether the object's memory is there still: `object` may be nil already, while it is being deallocated.
    var hasObject: Bool { reference.withLock { $0 != nil } }
}
