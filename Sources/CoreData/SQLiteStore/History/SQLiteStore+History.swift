import Foundation

/// An option for the history of stores that other parts of this package open.
///
/// It is not part of Core Data's public API.
package enum HistoryTracking {
    /// With the value true, saves of a store that has history tables are recorded; a store without
    /// them gets none.
    package static let continuingOption = "OpenCoreDataContinuesHistory"
}

// Whether the saves of a store are recorded.
extension SQLiteStore {
    static func hasHistoryTables(_ columns: [String: [String]]) -> Bool {
        columns["ATRANSACTION"] != nil && columns["ACHANGE"] != nil
    }

    /// Whether transactions were recorded. Empty history tables do not count.
    static func hasHistory(_ connection: SQLiteConnection, columns: [String: [String]]) throws -> Bool {
        try hasHistoryTables(columns) && connection.integer("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
    }

    /// Warns that a store is read-only because its history would get a gap.
    ///
    /// Readers of the history would miss new saves.
    ///
    /// Core Data does the same, whether the option is missing or false
    /// (<https://mjtsai.com/blog/2023/08/15/turning-off-core-data-persistent-history-tracking/>).
    func warnOfUntrackedHistory() {
        let path = url?.path ?? ""
        Warnings.sayOnce(about: "history of \(path)") {
            "The store at \(path) has persistent history and was opened without NSPersistentHistoryTrackingKey: it "
                + "is read-only, so that "
                + "its history gets no gap. Add it with the option to save."
        }
    }
}
