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
