import Foundation

/// A row of a result, whose columns are read one by one. For results of any shape; rows of entities have decoders of their own.
package protocol SQLRow {
    func isNull(_ column: Int32) -> Bool
    func int64(_ column: Int32) -> Int64
    func double(_ column: Int32) -> Double
    /// The column as text; nil for NULL.
    func string(_ column: Int32) -> String?
    /// The column as bytes; nil for NULL.
    func data(_ column: Int32) -> Data?
    /// The column as it lies in the row, whatever it was declared as.
    func storedValue(_ column: Int32) -> StoredValue
}
