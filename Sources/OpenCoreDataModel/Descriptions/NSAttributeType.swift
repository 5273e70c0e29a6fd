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
    /// The type's name as model editors show it.
    package var displayName: String {
        switch self {
        case .integer16AttributeType: "Integer 16"
        case .integer32AttributeType: "Integer 32"
        case .integer64AttributeType: "Integer 64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Boolean"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Binary Data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "Transformable"
        case .objectIDAttributeType: "Object ID"
        case .compositeAttributeType: "Composite"
        case .undefinedAttributeType: "Undefined"
        }
    }
}
