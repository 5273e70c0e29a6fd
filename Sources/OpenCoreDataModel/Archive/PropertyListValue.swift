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
    /// The value as Foundation's own reader returns it: text, number, date, data, array or
    /// dictionary.
    ///
    /// nil where it contains a null or a reference, which no property list of values contains.
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
            var result: [Any] = []
            result.reserveCapacity(values.count)
            for value in values {
                guard let value = value.foundationValue else { return nil }
                result.append(value)
            }
            return result
        case .dictionary(let entries):
            var result: [String: Any] = [:]
            for (key, value) in entries {
                guard let value = value.foundationValue else { return nil }
                result[key] = value
            }
            return result
        }
    }
}
