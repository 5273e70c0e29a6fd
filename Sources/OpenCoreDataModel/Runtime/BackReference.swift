import Synchronization

/// A reference that does not keep its object alive; nil once that object is being deallocated.
///
/// It stands for a weak reference to an object that is retained and released often, such as a
/// context or an entity. A weak reference moves its object's counts into a side table for the rest
/// of the object's life, and each retain and release then takes some four times as long. This
/// reference costs a lock where it is read, and nothing elsewhere.
package final class BackReference<Object: AnyObject & Sendable>: Sendable {
    // Guards the reference. The object's deinit waits for it: while it is held, the object's memory
    // exists.
    @usableFromInline let reference = Mutex<Unmanaged<Object>?>(nil)

    @inlinable package init() {}

    /// Sets the object, whose deinit calls `clear()`.
    @inlinable package func lead(to object: Object) { reference.withLock { $0 = .passUnretained(object) } }

    @inlinable package func clear() { reference.withLock { $0 = nil } }

    @inlinable package var object: Object? { reference.withLock { $0.flatMap { tryRetain($0) } } }

    /// Whether the object's memory still exists. During deallocation, `object` may already be nil.
    @inlinable package var hasObject: Bool { reference.withLock { $0 != nil } }
}
