import Foundation

/// A value of a binary property list, as keyed archives use it.
indirect enum PropertyListValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
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
