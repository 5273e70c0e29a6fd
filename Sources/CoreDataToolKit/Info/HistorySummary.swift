import Foundation

/// The persistent history of a store: its tables, and the span of its transactions.
struct HistorySummary {
    struct Table {
        let name: String
        let rows: Int64
    }

    private(set) var tables: [Table] = []
    private(set) var first: Date?
    private(set) var last: Date?
    /// The number of the last transaction, which a history token names.
    private(set) var lastToken: Int64?
    private(set) var problems: [String]

    init(_ contents: StoreCatalog, reader: SQLiteReader) throws {
        problems = contents.historyProblems
        for table in contents.historyTables {
            let (rows, failure) = try reader.readableRows("SELECT count(*) FROM \(table)")
            if let failure { problems.append("The table \(table) is damaged (\(failure.message)).") }
            tables.append(Table(name: table, rows: rows.first?.first?.integer ?? 0))
        }
        let columns = Set(contents.columns(of: "ATRANSACTION").map(\.name))
        guard Set(["Z_PK", "ZTIMESTAMP"]).isSubset(of: columns) else { return }
        // Two queries, so that each end is found through an index.
        let row = try? reader.rows(
            "SELECT (SELECT min(ZTIMESTAMP) FROM ATRANSACTION), (SELECT max(ZTIMESTAMP) FROM ATRANSACTION), "
                + "(SELECT max(Z_PK) FROM ATRANSACTION)"
        ).first
        first = Self.date(row?[0])
        last = Self.date(row?[1])
        lastToken = row?[2].integer
    }

    private static func date(_ value: SQLiteReader.Value?) -> Date? {
        switch value {
        case .real(let seconds)?: Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds)?: Date(timeIntervalSinceReferenceDate: Double(seconds))
        default: nil
        }
    }

    var text: String {
        if tables.isEmpty { return "none" }
        var text = tables.map { "\($0.name) (\($0.rows) \($0.rows == 1 ? "row" : "rows"))" }.joined(separator: ", ")
        if let first, let last { text += "; \(DateText.text(of: first)) to \(DateText.text(of: last))" }
        if let lastToken { text += "; last transaction \(lastToken)" }
        return text
    }
}
