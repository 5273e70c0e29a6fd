import CSwiftRuntime

/// A reference that keeps its object alive, and that is read without counting references.
///
/// One word, as a strong reference. The holder ends it with `release` or `take`.
@usableFromInline
package struct Retained<Object: AnyObject> {
    // Safe: it is made with the counts that it stands for, and each `release` and `take` gives one
    // back. The object is alive until the last, with which the holder drops the reference.
    @usableFromInline let reference: Unmanaged<Object>

    @inlinable @_transparent
    package init(_ object: Object) { reference = .passRetained(object) }

    /// Retains an object that is alive.
    @inlinable @_transparent
    package init(_ object: Unretained<Object>) { reference = object.reference.retain() }

    /// Retains an object that is alive, several times in one step. Each copy may be released.
    @inlinable @inline(__always)
    package init(_ object: Unretained<Object>, times count: Int) {
        reference = object.reference
        _ = swift_retain_n(object.pointer, UInt32(truncatingIfNeeded: count))
    }

    /// - Parameter pointer: the `pointer` of a retained reference to an object of the same class.
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

    /// Gives its count to the caller's reference.
    @inlinable @_transparent
    package func take() -> Object { reference.takeRetainedValue() }

    @inlinable @_transparent
    package func release() { reference.release() }

    /// Releases counts that turned out not to be needed.
    @inlinable @inline(__always)
    package func release(times count: Int) {
        if count > 0 { swift_release_n(pointer, UInt32(truncatingIfNeeded: count)) }
    }
}
