import CSwiftRuntime

/// A reference that does not keep its object alive, and that is read without counting references.
///
/// One word, as a strong reference.
@usableFromInline
package struct Unretained<Object: AnyObject> {
    // Safe: each place that stores one names the owner that keeps the object alive for longer, or
    // the lock under which the object's deinit removes the reference. While that lock is held the
    // memory is valid, and `retained` tells whether the object is still alive.
    @usableFromInline let reference: Unmanaged<Object>

    @inlinable @_transparent
    package init(_ object: Object) { reference = .passUnretained(object) }

    /// - Parameter pointer: the `pointer` of a reference to an object of the same class.
    @inlinable @_transparent
    package init(pointer: UnsafeRawPointer) { reference = .fromOpaque(pointer) }

    /// The address of the object.
    @inlinable @_transparent
    package var pointer: UnsafeMutableRawPointer { reference.toOpaque() }

    /// The object, with a reference of the caller's own.
    @inlinable @_transparent
    package var object: Object { reference.takeUnretainedValue() }

    /// Calls the block with the object, without counting references.
    @inlinable @_transparent
    package func withObject<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    /// The object, with a reference of the caller's own; nil once its deinitialization has begun.
    ///
    /// This is the runtime entry point that `weak` references use; it is part of the Swift ABI.
    @inlinable
    package var retained: Object? {
        guard let pointer = swift_tryRetain(pointer) else { return nil }
        return Retained<Object>(pointer: pointer).take()
    }

    /// Whether exactly one strong reference to the object exists.
    @inlinable
    package var isOnlyReference: Bool {
        // The count is read at the address itself, without a reference of our own, which would be
        // counted.
        var pointer = pointer
        return withUnsafeMutablePointer(to: &pointer) {
            $0.withMemoryRebound(to: Object.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
