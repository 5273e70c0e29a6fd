import TestSupport
import Testing

// Expectations about the tables of a store. In memory there are none, and nothing is expected: what
// can be read by a context is to be compared as well.
extension StoreOwner {
    /// Expects that a statement gives some rows.
    ///
    /// - Parameter sql: with names in braces, as `StoreTables` takes it.
    func expectRows(_ sql: String, are expected: [[String?]], _ location: SourceLocation = #_sourceLocation) {
        guard let secondPath else { return }
        let rows = secondPath.rows(sql)
        #expect(rows == expected, "\(sql)", sourceLocation: location)
    }

    /// Expects that a statement gives some values in its first column.
    func expectColumn(_ sql: String, is expected: [String?], _ location: SourceLocation = #_sourceLocation) {
        guard let secondPath else { return }
        let column = secondPath.column(sql)
        #expect(column == expected, "\(sql)", sourceLocation: location)
    }
}
