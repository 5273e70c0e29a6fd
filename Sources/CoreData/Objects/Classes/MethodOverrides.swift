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
    // Classes are found by name, private ones too: no entity should have the name of one of these.
    private final class PlainProbe: NSManagedObject {}
    private final class ValidatingProbe: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {
            try super.validateValue(value, forKey: key)
        }
    }
    private final class ValidatingForInsertProbe: NSManagedObject {
        override func validateForInsert() throws { try super.validateForInsert() }
    }
    private final class ValidatingForUpdateProbe: NSManagedObject {
        override func validateForUpdate() throws { try super.validateForUpdate() }
    }
    private final class SettingProbe: NSManagedObject {
        override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }
    }
    private final class AwakingProbe: NSManagedObject {
        override func awakeFromFetch() { super.awakeFromFetch() }
    }
    private final class AboutToSaveProbe: NSManagedObject {
        override func willSave() { super.willSave() }
    }
    private final class SavedProbe: NSManagedObject {
        override func didSave() { super.didSave() }
    }

    static let ofValidateValue = MethodOverride(of: ValidatingProbe.self)
    static let ofValidateForInsert = MethodOverride(of: ValidatingForInsertProbe.self)
    static let ofValidateForUpdate = MethodOverride(of: ValidatingForUpdateProbe.self)
    static let ofSetValue = MethodOverride(of: SettingProbe.self)
    static let ofAwakeFromFetch = MethodOverride(of: AwakingProbe.self)
    static let ofWillSave = MethodOverride(of: AboutToSaveProbe.self)
    static let ofDidSave = MethodOverride(of: SavedProbe.self)

    private let baseClass: AnyClass
    private let wordOffset: Int?

    private init(of probe: NSManagedObject.Type) {
        self.init(of: probe, comparedWith: PlainProbe.self, in: NSManagedObject.self)
    }

    /// - Parameters:
    ///   - probe: A subclass of the base class that overrides the method and nothing else.
    ///   - plain: A subclass that overrides nothing.
    init(of probe: AnyClass, comparedWith plain: AnyClass, in baseClass: AnyClass) {
        self.baseClass = baseClass
        wordOffset = Self.offset(of: probe, comparedWith: plain, in: baseClass)
    }

    /// - Parameter objectClass: The base class or one that inherits from it.
    func exists(in objectClass: AnyClass) -> Bool {
        if objectClass == baseClass { return false }
        guard let wordOffset else { return true }
        let metadata = unsafeBitCast(objectClass, to: UnsafePointer<UInt>.self)
        let base = unsafeBitCast(baseClass, to: UnsafePointer<UInt>.self)
        return metadata[wordOffset] != base[wordOffset]
    }

    /// The word offset of the one method that a probe overrides; nil if it cannot be found.
    private static func offset(of probe: AnyClass, comparedWith plain: AnyClass, in baseClass: AnyClass) -> Int? {
        let plain = words(of: plain)
        let overriding = words(of: probe)
        let base = words(of: baseClass)
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
