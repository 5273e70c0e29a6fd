import Foundation
import Synchronization

/// The name of a value transformer.
///
/// ```swift
/// extension NSValueTransformerName {
///     static let colour = NSValueTransformerName("ColourTransformer")
/// }
/// ```
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Archives with secure coding, by `NSSecureUnarchiveFromDataTransformer`.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
    /// Archives; here also with secure coding.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Archives; here also with secure coding.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Negates a Boolean.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Returns whether there is no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Returns whether there is a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
}

/// Converts a value to another one and, if it can, back. Transformable attributes are stored this
/// way.
///
/// Foundation on Linux has no such class, so this one takes its place, with the same members. A
/// transformer is registered under its name, or found by the name of its class.
///
/// ```swift
/// final class ColourTransformer: ValueTransformer, @unchecked Sendable {
///     override func transformedValue(_ value: Any?) -> Any? {
///         (value as? Colour).map { Data($0.bytes) }
///     }
///     override func reverseTransformedValue(_ value: Any?) -> Any? {
///         (value as? Data).map { Colour(bytes: Array($0)) }
///     }
/// }
/// ValueTransformer.setValueTransformer(
///     ColourTransformer(), forName: NSValueTransformerName("ColourTransformer"))
/// ```
open class ValueTransformer: NSObject, @unchecked Sendable {
    // Sendable: transformers are registered once and must not have mutable state; subclasses
    // guarantee that.

    public required override init() { super.init() }

    private static let registered = Mutex<[String: ValueTransformer]>([:])

    /// Registers a transformer under a name; nil removes it.
    ///
    /// ```swift
    /// ValueTransformer.setValueTransformer(
    ///     ColourTransformer(), forName: NSValueTransformerName("ColourTransformer"))
    /// colour.valueTransformerName = "ColourTransformer"       // an attribute of the model
    /// ```
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registered.withLock { $0[name.rawValue] = transformer }
    }

    /// The names of the registered transformers.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
        registered.withLock { $0.keys.sorted() }.map { NSValueTransformerName($0) }
    }

    fileprivate static func find(_ name: NSValueTransformerName) -> ValueTransformer? {
        if let transformer = registered.withLock({ $0[name.rawValue] }) { return transformer }
        let made: ValueTransformer?
        switch name.rawValue {
        case "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
            "NSUnarchiveFromData",
            // The names of the constants, which also occur in models.
            "NSSecureUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromDataTransformerName",
            "NSUnarchiveFromDataTransformerName":
            made = NSSecureUnarchiveFromDataTransformer()
        case "NSNegateBoolean": made = NegateBooleanTransformer()
        case "NSIsNil": made = IsNilTransformer()
        case "NSIsNotNil": made = IsNotNilTransformer()
        default:
            guard case .found(let found) = ClassLookup.find(name.rawValue, inheritingFrom: ValueTransformer.self) else {
                return nil
            }
            made = (found as? ValueTransformer.Type)?.init()
        }
        if let made { registered.withLock { $0[name.rawValue] = made } }
        return made
    }

    /// The class of the results in the forward direction.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether the transformer has a reverse direction.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The forward direction. For a transformable attribute: from the object to the data that is
    /// stored.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The reverse direction. By default it applies the forward direction again, as for a
    /// transformer that is its own inverse.
    ///
    /// A transformer without a reverse direction returns nil, where a Mac raises an exception.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        Self.allowsReverseTransformation() ? transformedValue(value) : nil
    }
}

/// Lets `ValueTransformer(forName:)` return an instance of a subclass.
public protocol ValueTransformerFactory {}

extension ValueTransformer: ValueTransformerFactory {}

extension ValueTransformerFactory where Self: ValueTransformer {
    /// The transformer with a name: a registered one, or an instance of the class of this name; nil
    /// if there is neither.
    ///
    /// ```swift
    /// let data =
    ///     ValueTransformer(forName: NSValueTransformerName("ColourTransformer"))?
    ///     .transformedValue(red) as? Data
    /// ```
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = ValueTransformer.find(name) as? Self else { return nil }
        self = transformer
    }
}

/// Unarchives data with an allow-list of classes; the reverse direction archives.
///
/// Core Data uses the reverse direction of this transformer and its subclasses to store values.
///
/// Source:
/// <https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer>
///
/// ```swift
/// final class PathTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
///     override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSString.self] }
/// }
/// ValueTransformer.setValueTransformer(
///     PathTransformer(), forName: NSValueTransformerName("PathTransformer"))
/// ```
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.

    /// The classes that may be at the top of an archive.
    open class var allowedTopLevelClasses: [AnyClass] { ValueTransformers.allowedClasses }

    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return TransformableArchive.value(from: data, classes: Self.allowedTopLevelClasses)
    }

    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        value.flatMap { TransformableArchive.data(from: $0) }
    }
}
