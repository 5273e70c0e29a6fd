import Foundation

/// A value of a property list. Binary lists can also contain references, as in keyed archives.
package enum PropertyListValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number beyond `Int64.max`.
    case unsignedInteger(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    case data(Data)
    case string(String)
    /// A reference into a keyed archive's object table.
    case uid(Int)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
    /// The value as Foundation's own reader returns it; nil where it contains a null or a
    /// reference.
    package var foundationValue: Any? {
        switch self {
        case .null, .uid: return nil
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsignedInteger(let value): return NSNumber(value: value)
        case .real(let value): return NSNumber(value: value)
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let value): return value
        case .string(let value): return value
        case .array(let values):
            let result = values.compactMap(\.foundationValue)
            return result.count == values.count ? result : nil
        case .dictionary(let entries):
            let result = entries.compactMapValues(\.foundationValue)
            return result.count == entries.count ? result : nil
        }
    }
}
