/// Makes an object an instance of a subclass of its class, in place.
///
/// `NSManagedObject(entity:insertInto:)` must return an instance of the entity's class, as it does
/// on Apple's platforms, where the initializer may return another object.
///
/// Call it only in the initializer that makes the object, before any other code can use the object.
///
/// - Important: Where the optimizer sees how an object is made, it knows the object's class and
///   calls that class's methods without a look at the object. An initializer that uses this
///   function must therefore be `@inline(never)` (small ones are inlined into other modules as
///   well), and must itself continue with `withUnknownClass(self)`.
/// - Returns: Whether the object is now an instance of `newClass`. False, with the object
///   unchanged, if `newClass` is not a subclass of the object's class, or adds stored properties,
///   which would have no memory and no values.
@inline(never)
func reclassify(_ object: AnyObject, as newClass: AnyClass) -> Bool {
    let oldClass: AnyClass = type(of: object)
    if oldClass == newClass { return true }
    let ancestry = sequence(first: newClass) { _getSuperclass($0) }
    let added = ancestry.prefix { $0 != oldClass }.map(ClassLayout.init)
    guard ancestry.contains(where: { $0 == oldClass }), added.allSatisfy({ $0.storedPropertyCount == 0 }) else {
        return false
    }
    let (old, new) = (ClassLayout(oldClass), ClassLayout(newClass))
    guard old.instanceSize == new.instanceSize, old.instanceAlignmentMask == new.instanceAlignmentMask,
        old.instanceAddressPoint == new.instanceAddressPoint
    else { return false }

    // Safe: the first word of every Swift object is the pointer to its class's metadata, and a
    // class's metadata pointer is what its metatype holds. newClass inherits from oldClass and
    // no class between them has stored properties, so the fields are oldClass's fields: nothing
    // is left to initialize now or to destroy later. The subclass's method table begins with
    // the superclass's. The object was allocated with the size and the alignment with which
    // newClass's deinitializer frees it.
    Unretained(object).pointer.storeBytes(
        of: unsafeBitCast(newClass, to: UInt.self), as: UInt.self)
    return true
}

/// Returns the same object; hides its class from the optimizer: see `reclassify(_:as:)`.
@inline(never) @_optimize(none)
func withUnknownClass<Object: AnyObject>(_ object: Object) -> Object {
    object
}

/// The number of bytes that an instance of a class takes.
func instanceSize(of type: AnyClass) -> Int {
    return Int(ClassLayout(type).instanceSize)
}

/// The memory that an instance of a class takes, read from the class's metadata.
///
/// The layout is published in the Swift repository, docs/ABI/TypeMetadata.rst and
/// include/swift/ABI/Metadata.h. The metadata of a class, in words of 8 bytes (4 where pointers
/// have 32 bits):
///
///     0  kind
///     1  superclass
///     2  seven numbers in 24 bytes:  +0 flags, 32 bits
///                                    +4 instance address point, 32 bits
///                                    +8 instance size, 32 bits
///                                    +12 instance alignment mask, 16 bits
///                                    +16 and +20 size and address point of the metadata itself
///        followed by the pointer to the class's descriptor
///
/// In the descriptor, the 32 bits at byte 36 are the number of stored properties that the class
/// itself declares.
private struct ClassLayout {
    let instanceAddressPoint: UInt32
    let instanceSize: UInt32
    let instanceAlignmentMask: UInt16
    let storedPropertyCount: UInt32

    init(_ type: AnyClass) {
        // Safe: without the Objective-C runtime every class is a Swift class, so its metatype
        // holds a pointer to metadata of that layout. Metadata and descriptor live as long as
        // the program, and every class has a descriptor.
        let numbers = unsafeBitCast(type, to: UnsafeRawPointer.self) + 2 * MemoryLayout<UInt>.size
        instanceAddressPoint = numbers.load(fromByteOffset: 4, as: UInt32.self)
        instanceSize = numbers.load(fromByteOffset: 8, as: UInt32.self)
        instanceAlignmentMask = numbers.load(fromByteOffset: 12, as: UInt16.self)
        let descriptor = numbers.load(fromByteOffset: 24, as: UnsafeRawPointer.self)
        storedPropertyCount = descriptor.load(fromByteOffset: 36, as: UInt32.self)
    }
}
