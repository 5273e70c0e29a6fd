import CSwiftRuntime

// Manual reference counting, for code where the compiler would count one reference at a time.

/// Retains an object unless its deinitialisation has begun.
///
/// The memory must be valid at the call: the caller holds the lock that the object's deinit takes
/// before it frees itself. This is the runtime entry point that `weak` references use; it is part
/// of the Swift ABI.
@inlinable
package func tryRetain<Object: AnyObject>(_ reference: Unmanaged<Object>) -> Object? {
    guard let retained = swift_tryRetain(reference.toOpaque()) else { return nil }
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
}

extension Unmanaged {
    /// Retains the object `count` times in one step.
    ///
    /// Each retain has to be balanced. The object must be alive.
    @inlinable @inline(__always)
    package func retain(times count: Int) {
        _ = swift_retain_n(toOpaque(), UInt32(truncatingIfNeeded: count))
    }

    /// Releases retains that turned out not to be needed.
    @inlinable @inline(__always)
    package func release(times count: Int) {
        if count > 0 { swift_release_n(toOpaque(), UInt32(truncatingIfNeeded: count)) }
    }
}

extension Unmanaged where Instance: AnyObject {
    /// Whether exactly one strong reference to the object exists. The memory must be valid at the
    /// call.
    @inlinable
    package var isOnlyReference: Bool {
        // The count is read at the address itself, without a reference of our own, which would be
        // counted.
        var pointer = toOpaque()
        return withUnsafeMutablePointer(to: &pointer) {
            $0.withMemoryRebound(to: Instance.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
