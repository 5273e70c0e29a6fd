import Foundation

/// The kind of value an attribute holds, as Core Data numbers it in model files and stores.
///
/// `NSAttributeDescription.AttributeType` is the same set with Swift's spelling.
///
/// ```swift
/// stockCount.attributeType = .integer64AttributeType
/// let texts = entity.attributesByName.values.filter { $0.attributeType == .stringAttributeType }
/// ```
public enum NSAttributeType: UInt, Sendable, Hashable, CaseIterable {
    /// No type yet. Legal only for a transient attribute.
    case undefinedAttributeType = 0
    /// A 16-bit signed integer.
    case integer16AttributeType = 100
    /// A 32-bit signed integer.
    case integer32AttributeType = 200
    /// A 64-bit signed integer.
    case integer64AttributeType = 300
    /// A decimal number, held as `NSDecimalNumber`.
    case decimalAttributeType = 400
    /// A 64-bit floating-point number.
    case doubleAttributeType = 500
    /// A 32-bit floating-point number.
    case floatAttributeType = 600
    /// Text.
    case stringAttributeType = 700
    /// True or false.
    case booleanAttributeType = 800
    /// A point in time.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// A universally unique identifier.
    case UUIDAttributeType = 1100
    /// A uniform resource identifier, held as `URL`.
    case URIAttributeType = 1200
    /// A value that a value transformer turns into bytes.
    case transformableAttributeType = 1800
    /// The identity of a managed object.
    case objectIDAttributeType = 2000
    /// A structure of named attributes.
    case compositeAttributeType = 2100
}

extension NSAttributeType {
    /// The value class of this type, as model files spell it; nil where the model must name it.
    var valueClassName: String? {
        switch self {
        case .undefinedAttributeType, .transformableAttributeType: nil
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .objectIDAttributeType: "NSManagedObjectID"
        case .compositeAttributeType: "NSDictionary"
        }
    }
}

extension NSAttributeType {
    /// The types by their names in model files.
    static let byName: [String: NSAttributeType] = [
        "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
        "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType, "Decimal": .decimalAttributeType,
        "Double": .doubleAttributeType, "Float": .floatAttributeType, "String": .stringAttributeType,
        "Boolean": .booleanAttributeType, "Date": .dateAttributeType, "Binary": .binaryDataAttributeType,
        "UUID": .UUIDAttributeType, "URI": .URIAttributeType, "Transformable": .transformableAttributeType,
        "ObjectID": .objectIDAttributeType, "Composite": .compositeAttributeType,
    ]

    /// The type's name in model files.
    var name: String { Self.byName.first { $0.value == self }?.key ?? "" }

    /// The type's name as model editors show it.
    package var displayName: String {
        switch self {
        case .binaryDataAttributeType: "Binary Data"
        case .objectIDAttributeType: "Object ID"
        default: name
        }
    }
}

extension NSAttributeDescription {
    /// The kind of value an attribute holds.
    ///
    /// ```swift
    /// stockCount.type = .integer64          // the same as attributeType = .integer64AttributeType
    /// ```
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The same kind as an `NSAttributeType`.
        public let rawValue: NSAttributeType

        /// Creates a type from a case of the enumeration.
        public init(rawValue: NSAttributeType) {
            self.rawValue = rawValue
        }

        /// No type yet. Legal only for a transient attribute.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// A 16-bit signed integer.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// A 32-bit signed integer.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// A 64-bit signed integer.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// A decimal number, held as `NSDecimalNumber`.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A 64-bit floating-point number.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A 32-bit floating-point number.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// Text.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// True or false.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A point in time.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A universally unique identifier.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A uniform resource identifier, held as `URL`.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// A value that a value transformer turns into bytes.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// The identity of a managed object.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// A structure of named attributes.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}
