/// Tells whether a class overrides a method that the framework would otherwise call for every object for nothing:
/// `validateValue(_:forKey:)`, for which every value must be boxed, and `awakeFromFetch()`.
///
/// A method's place in the class metadata is where a class that overrides only this method differs from one that
/// overrides nothing. If that place cannot be found, every class counts as overriding.
enum MethodOverride {
    private final class Plain: NSManagedObject {}
    private final class Validating: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {
            try super.validateValue(value, forKey: key)
        }
    }
    private final class Awaking: NSManagedObject {
        override func awakeFromFetch() { super.awakeFromFetch() }
    }

    private static let validateValueOffset = offset(of: Validating.self)
    private static let awakeFromFetchOffset = offset(of: Awaking.self)

    static func ofValidateValue(in objectClass: NSManagedObject.Type) -> Bool {
        exists(in: objectClass, at: validateValueOffset)
    }

    static func ofAwakeFromFetch(in objectClass: NSManagedObject.Type) -> Bool {
        exists(in: objectClass, at: awakeFromFetchOffset)
    }

    private static func exists(in objectClass: NSManagedObject.Type, at offset: Int?) -> Bool {
        if objectClass == NSManagedObject.self { return false }
        guard let offset else { return true }
        let metadata = unsafeBitCast(objectClass, to: UnsafePointer<UInt>.self)
        let base = unsafeBitCast(NSManagedObject.self, to: UnsafePointer<UInt>.self)
        return metadata[offset] != base[offset]
    }

    /// Word offset of the one method that a probe overrides; nil when it cannot be told.
    private static func offset(of probe: NSManagedObject.Type) -> Int? {
        let plain = words(of: Plain.self)
        let overriding = words(of: probe)
        let base = words(of: NSManagedObject.self)
        let count = min(base.count, plain.count, overriding.count)
        let differing = (0..<count).filter { plain[$0] == base[$0] && overriding[$0] != base[$0] }
        return differing.count == 1 ? differing[0] : nil
    }

    /// The metadata of a class from its address point to its end, as words.
    private static func words(of objectClass: AnyClass) -> [UInt] {
        let metadata = unsafeBitCast(objectClass, to: UnsafeRawPointer.self)
        // Class metadata without Objective-C: kind, superclass, flags (4 bytes), address point of instances (4), instance
        // size (4), alignment mask (2), reserved (2), size of the metadata (4), its address point (4), descriptor, …
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        guard size > addressPoint, size < 1 << 16 else { return [] }
        let count = Int(size - addressPoint) / MemoryLayout<UInt>.size
        let words = metadata.assumingMemoryBound(to: UInt.self)
        // Word 1 is the superclass and word 5 the descriptor: they differ between any two classes.
        return (0..<count).map { $0 < 6 ? 0 : words[$0] }
    }
}
