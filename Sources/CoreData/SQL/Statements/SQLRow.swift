import Foundation

/// A row of a result of any shape, whose columns are read one by one. Rows of entities have their
/// own decoders.
package protocol SQLRow {
    func isNull(_ column: Int32) -> Bool
    func int64(_ column: Int32) -> Int64
    func double(_ column: Int32) -> Double
    /// Returns the column as text; nil for NULL.
    func string(_ column: Int32) -> String?
    /// Returns the column as bytes; nil for NULL.
    func data(_ column: Int32) -> Data?
    /// Returns the column's stored value, whatever type the column was declared with.
    func storedValue(_ column: Int32) -> StoredValue
}

extension SQLRow {
    /// Returns the column as a value of a kind in the store's form; `.null` for NULL and for what
    /// is no such value.
    ///
    /// - Parameter kind: nil for a value of unknown kind, which becomes what its storage says.
    package func storedValue(_ column: Int32, as kind: ValueKind?) -> StoredValue {
        if isNull(column) { return .null }
        switch kind {
        case let kind? where kind.isInteger: return .integer(int64(column))
        case let kind? where kind.isFloatingPoint: return .double(double(column))
        case .decimal?:
            let text: String?
            if case .double(let number) = storedValue(column) {
                text = DecimalText.text(of: number)
            } else {
                text = string(column)
            }
            return text.flatMap { Decimal(string: $0, locale: .posix) }.map(StoredValue.decimal) ?? .null
        case .string?, .uri?: return string(column).map(StoredValue.string) ?? .null
        case .uuid?:
            let uuid = data(column).flatMap { data in
                data.withUnsafeBytes { UUID(bytes: $0.bindMemory(to: UInt8.self)) }
            }
            return uuid.map(StoredValue.uuid) ?? .null
        case .transformable?, .data?, .json?: return data(column).map(StoredValue.data) ?? .null
        default: return storedValue(column)
        }
    }
}
