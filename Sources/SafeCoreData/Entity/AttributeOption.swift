/// An option of an attribute of an `@Entity` class, for `@Attribute`.
///
/// ```swift
/// @Attribute(.unique, .length(1...40)) var code: String
/// @Attribute(.externalStorage) var photo: Data?
/// ```
public struct AttributeOption: Sendable {
    enum Content {
        case unique
        case externalStorage
        case transformable(String)
        case preservedOnDeletion
        case range(_AttributeBoundValue?, _AttributeBoundValue?)
        case length(Int?, Int?)
        case pattern(String)
        case spotlight
        case cloudEncryption
    }

    let content: Content

    /// No two objects have the same value.
    ///
    /// ```swift
    /// @Attribute(.unique) var code: String   // a save with a second one of the code throws 133021
    /// ```
    public static let unique = AttributeOption(content: .unique)

    /// Large values are kept in files beside the store. Binary attributes only.
    ///
    /// ```swift
    /// @Attribute(.externalStorage) var photo: Data?
    /// ```
    public static let externalStorage = AttributeOption(content: .externalStorage)

    /// The history keeps the value of a deleted object.
    public static let preservedOnDeletion = AttributeOption(content: .preservedOnDeletion)

    /// Spotlight indexes the value on Apple's systems.
    public static let spotlight = AttributeOption(content: .spotlight)

    /// CloudKit encrypts the value on Apple's systems.
    public static let cloudEncryption = AttributeOption(content: .cloudEncryption)

    /// A registered value transformer converts the value to bytes and back.
    ///
    /// ```swift
    /// @Attribute(.transformable(by: "ColourTransformer")) var colour: Colour?
    /// ```
    public static func transformable(by transformerName: String) -> AttributeOption {
        AttributeOption(content: .transformable(transformerName))
    }

    /// The value of a number or date must be in a range, ends included; saving another value fails.
    ///
    /// ```swift
    /// @Attribute(.range(0...100)) var discount: Int = 0       // a save with 120 throws 1610
    /// ```
    public static func range<Bound: AttributeBound>(_ range: ClosedRange<Bound>) -> AttributeOption {
        AttributeOption(content: .range(range.lowerBound._boundValue, range.upperBound._boundValue))
    }

    /// The value of a number or date must not be below a limit.
    public static func range<Bound: AttributeBound>(_ range: PartialRangeFrom<Bound>) -> AttributeOption {
        AttributeOption(content: .range(range.lowerBound._boundValue, nil))
    }

    /// The value of a number or date must not be above a limit.
    public static func range<Bound: AttributeBound>(_ range: PartialRangeThrough<Bound>) -> AttributeOption {
        AttributeOption(content: .range(nil, range.upperBound._boundValue))
    }

    /// The number of characters of a text must be in a range, ends included.
    ///
    /// ```swift
    /// @Attribute(.length(3...20)) var name: String          // a save with two letters throws 1670
    /// ```
    public static func length(_ range: ClosedRange<Int>) -> AttributeOption {
        AttributeOption(content: .length(range.lowerBound, range.upperBound))
    }

    /// A text must have at least a number of characters.
    public static func length(_ range: PartialRangeFrom<Int>) -> AttributeOption {
        AttributeOption(content: .length(range.lowerBound, nil))
    }

    /// A text must have at most a number of characters.
    public static func length(_ range: PartialRangeThrough<Int>) -> AttributeOption {
        AttributeOption(content: .length(nil, range.upperBound))
    }

    /// The whole text must match a regular expression.
    ///
    /// ```swift
    /// // a save with another text throws 1680
    /// @Attribute(.pattern("[A-Z]{2}[0-9]+")) var code: String
    /// ```
    public static func pattern(_ regularExpression: String) -> AttributeOption {
        AttributeOption(content: .pattern(regularExpression))
    }
}

/// A type whose values can be limits of an attribute.
///
/// ```swift
/// // Double is an AttributeBound, as are Int, Decimal and Date
/// @Attribute(.range(0.5...2.5)) var factor: Double = 1
/// ```
public protocol AttributeBound: Comparable, Sendable {
    var _boundValue: _AttributeBoundValue { get }
}

/// A limit of an attribute, independent of the type in which it was written.
public enum _AttributeBoundValue: Sendable {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case date(Date)

    /// Returns the limit in the number type of an attribute; nil for a date.
    func number(for type: NSAttributeType) -> NSNumber? {
        switch (self, type) {
        case (.date, _): nil
        case (.integer(let value), .doubleAttributeType): NSNumber(value: Double(value))
        case (.integer(let value), .floatAttributeType): NSNumber(value: Float(value))
        case (.integer(let value), .decimalAttributeType): NSDecimalNumber(decimal: Decimal(value))
        case (.integer(let value), _): NSNumber(value: value)
        case (.double(let value), .floatAttributeType): NSNumber(value: Float(value))
        // Converted through its shortest text, so that 0.1 stays 0.1.
        case (.double(let value), .decimalAttributeType): NSDecimalNumber(string: "\(value)")
        case (.double(let value), _): NSNumber(value: value)
        case (.decimal(let value), .doubleAttributeType): NSNumber(value: NSDecimalNumber(decimal: value).doubleValue)
        case (.decimal(let value), .floatAttributeType): NSNumber(value: NSDecimalNumber(decimal: value).floatValue)
        case (.decimal(let value), _): NSDecimalNumber(decimal: value)
        }
    }

    /// The limit as a date; nil for a number.
    var date: Date? {
        if case .date(let date) = self { return date }
        return nil
    }
}

extension Int: AttributeBound { public var _boundValue: _AttributeBoundValue { .integer(Int64(self)) } }
extension Int16: AttributeBound { public var _boundValue: _AttributeBoundValue { .integer(Int64(self)) } }
extension Int32: AttributeBound { public var _boundValue: _AttributeBoundValue { .integer(Int64(self)) } }
extension Int64: AttributeBound { public var _boundValue: _AttributeBoundValue { .integer(self) } }
extension Double: AttributeBound { public var _boundValue: _AttributeBoundValue { .double(self) } }
extension Float: AttributeBound { public var _boundValue: _AttributeBoundValue { .double(Double(self)) } }
extension Decimal: AttributeBound { public var _boundValue: _AttributeBoundValue { .decimal(self) } }
extension Date: AttributeBound { public var _boundValue: _AttributeBoundValue { .date(self) } }
