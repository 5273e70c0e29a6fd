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
