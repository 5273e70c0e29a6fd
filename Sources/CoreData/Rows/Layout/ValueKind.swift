/// The representation of one property's value in a row snapshot and in pending changes.
///
/// Scalars occupy the slot's 8-byte word itself; values of variable length keep a reference into
/// the page's byte heap. `composite`, `toMany`, `orderedToMany`, `fetched` and `undefined`
/// properties have a slot but no word in a row.
package enum ValueKind: UInt8, Sendable {
    case int16
    case int32
    case int64
    case boolean
    case double
    case float
    /// Seconds since 2001-01-01 00:00 UTC.
    case date
    /// Decimal text, as SQLite prints a DECIMAL column.
    case decimal
    case string
    case data
    /// 16 bytes.
    case uuid
    /// The absolute string of a URL.
    case uri
    /// The value transformer's bytes.
    case transformable
    /// A dictionary of element values; its elements have slots of their own.
    case composite
    /// The destination's primary key; a hidden word holds the destination's entity where that can
    /// vary.
    case toOne
    case toMany
    case orderedToMany
    case fetched
    /// A transient attribute without a type: any object, never stored.
    case undefined
    /// JSON in a database type of its own. Only columns and values computed from them have this
    /// kind. The properties are `data`, marked as JSON.
    case json

    /// Whether the value is an integer in its word.
    package var isInteger: Bool {
        switch self {
        case .int16, .int32, .int64, .boolean: true
        default: false
        }
    }

    /// Whether the value is a double in its word.
    package var isFloatingPoint: Bool {
        switch self {
        case .double, .float, .date: true
        default: false
        }
    }

    package var isNumber: Bool { isInteger || self == .double || self == .float || self == .decimal }

    /// Whether a class may have the value as a scalar rather than an object: a number or a Boolean.
    var isScalar: Bool { isNumber && self != .decimal }

    /// Whether the word refers to bytes in the page's heap.
    package var isVariableLength: Bool {
        switch self {
        case .decimal, .string, .data, .json, .uuid, .uri, .transformable: true
        default: false
        }
    }

    /// Whether a row has a word for values of this kind, unless the property is transient.
    var hasWord: Bool {
        switch self {
        case .composite, .toMany, .orderedToMany, .fetched, .undefined: false
        default: true
        }
    }

    /// Whether the property is a relationship with a set or ordered set of destinations.
    var isToMany: Bool { self == .toMany || self == .orderedToMany }

    var isRelationship: Bool { self == .toOne || isToMany }
}

extension ValueKind {
    /// Creates the kind of an expression's declared result type; nil for an undefined type.
    init?(resultOf type: NSAttributeType) {
        switch type {
        case .integer16AttributeType: self = .int16
        case .integer32AttributeType: self = .int32
        case .integer64AttributeType: self = .int64
        case .decimalAttributeType: self = .decimal
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .stringAttributeType: self = .string
        case .booleanAttributeType: self = .boolean
        case .dateAttributeType: self = .date
        case .binaryDataAttributeType: self = .data
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        default: return nil
        }
    }
}
