import Synchronization

/// A reference that does not keep its object alive; nil once that object is being deallocated.
///
/// It stands for a weak reference to an object that is retained and released often, such as a
/// context or an entity. A weak reference moves its object's counts into a side table for the rest
/// of the object's life, and each retain and release then takes some four times as long. This
/// reference costs a lock where it is read, and nothing elsewhere.
package final class BackReference<Object: AnyObject & Sendable>: Sendable {
    // The object's address, 0 for none. The mutex guards it, and the object's deinit waits for the
    // mutex: while it is held, the object's memory exists. A mutex of a typed reference would be
    // generic, and each use from another module would look up its metadata.
    @usableFromInline let address = Mutex<UInt>(0)

    @inlinable package init() {}

    /// Sets the object, whose deinit calls `clear()`.
    @inlinable package func lead(to object: Object) {
        let pointer = UInt(bitPattern: ObjectIdentifier(object))
        address.withLock { $0 = pointer }
    }

    @inlinable package func clear() { address.withLock { $0 = 0 } }

    @inlinable package var object: Object? {
        address.withLock { address in
            guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
            return Unretained<Object>(pointer: pointer).retained
        }
    }

    /// Whether the object's memory still exists. During deallocation, `object` may already be nil.
    @inlinable package var hasObject: Bool { address.withLock { $0 != 0 } }
}
