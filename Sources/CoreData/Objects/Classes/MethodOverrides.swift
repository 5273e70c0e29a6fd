/// Methods that the framework need not call for objects of a class that does not override them.
struct ObjectHooks: OptionSet {
    let rawValue: UInt8
    static let awakeFromFetch = ObjectHooks(rawValue: 1 << 0)
    static let willSave = ObjectHooks(rawValue: 1 << 1)
    static let didSave = ObjectHooks(rawValue: 1 << 2)
    /// A validation method is overridden, or the entity has rules that a value can break.
    static let validation = ObjectHooks(rawValue: 1 << 3)
    static let all: ObjectHooks = [.awakeFromFetch, .willSave, .didSave, .validation]

    static func overridden(by objectClass: NSManagedObject.Type) -> ObjectHooks {
        var hooks: ObjectHooks = []
        if MethodOverride.ofAwakeFromFetch.exists(in: objectClass) { hooks.insert(.awakeFromFetch) }
        if MethodOverride.ofWillSave.exists(in: objectClass) { hooks.insert(.willSave) }
        if MethodOverride.ofDidSave.exists(in: objectClass) { hooks.insert(.didSave) }
        let validations = [MethodOverride.ofValidateValue, .ofValidateForInsert, .ofValidateForUpdate]
        if validations.contains(where: { $0.exists(in: objectClass) }) { hooks.insert(.validation) }
        return hooks
    }
}

/// Finds whether a class overrides a method, so that the framework can skip calls that would have
/// no effect.
///
/// Examples: `validateValue(_:forKey:)`, for which every value must be boxed, and `willSave()`.
///
/// A method's offset in the class metadata is the place at which a class that overrides only this
/// method differs from one that overrides nothing. If that place cannot be found, every class
/// counts as overriding.
struct MethodOverride {
    private final class Plain: NSManagedObject {}
    private final class Validating: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {
            try super.validateValue(value, forKey: key)
        }
    }
    private final class ValidatingForInsert: NSManagedObject {
        override func validateForInsert() throws { try super.validateForInsert() }
    }
    private final class ValidatingForUpdate: NSManagedObject {
        override func validateForUpdate() throws { try super.validateForUpdate() }
    }
    private final class Awaking: NSManagedObject {
        override func awakeFromFetch() { super.awakeFromFetch() }
    }
    private final class AboutToSave: NSManagedObject {
        override func willSave() { super.willSave() }
    }
    private final class Saved: NSManagedObject {
        override func didSave() { super.didSave() }
    }

    static let ofValidateValue = MethodOverride(of: Validating.self)
    static let ofValidateForInsert = MethodOverride(of: ValidatingForInsert.self)
    static let ofValidateForUpdate = MethodOverride(of: ValidatingForUpdate.self)
    static let ofAwakeFromFetch = MethodOverride(of: Awaking.self)
    static let ofWillSave = MethodOverride(of: AboutToSave.self)
    static let ofDidSave = MethodOverride(of: Saved.self)

    private let wordOffset: Int?

    private init(of probe: NSManagedObject.Type) { wordOffset = Self.offset(of: probe) }

    func exists(in objectClass: NSManagedObject.Type) -> Bool {
        if objectClass == NSManagedObject.self { return false }
        guard let wordOffset else { return true }
        let metadata = unsafeBitCast(objectClass, to: UnsafePointer<UInt>.self)
        let base = unsafeBitCast(NSManagedObject.self, to: UnsafePointer<UInt>.self)
        return metadata[wordOffset] != base[wordOffset]
    }

    /// The word offset of the one method that a probe overrides; nil if it cannot be found.
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
        // Class metadata without Objective-C: kind, superclass, flags (4 bytes), address point of
        // instances (4), instance size (4), alignment mask (2), reserved (2), size of the metadata
        // (4), its address point (4), descriptor, …
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        guard size > addressPoint, size < 1 << 16 else { return [] }
        let count = Int(size - addressPoint) / MemoryLayout<UInt>.size
        let words = metadata.assumingMemoryBound(to: UInt.self)
        // Word 1 is the superclass and word 5 the descriptor: they differ between any two classes.
        return (0..<count).map { $0 < 6 ? 0 : words[$0] }
    }
}
