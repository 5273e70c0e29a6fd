import Foundation

extension Sequence<UInt8> {
    /// The bytes as upper case hexadecimal digits, as SQLite's `hex` gives them.
    public var hexadecimal: String { map { String(format: "%02X", $0) }.joined() }
}
