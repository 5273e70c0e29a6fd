// Whether the saves of a store are recorded.
extension SQLiteStore {
    static func hasHistoryTables(_ columns: [String: [String]]) -> Bool {
        columns["ATRANSACTION"] != nil && columns["ACHANGE"] != nil
    }

    /// Whether transactions were recorded. Empty history tables do not count.
    static func hasHistory(_ connection: SQLiteConnection, columns: [String: [String]]) throws -> Bool {
        try hasHistoryTables(columns) && connection.integer("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
    }
}
