/// The result of a query: rows of values under columns.
protocol ResultRows {
    var columns: [QueryColumn] { get }

    /// Passes each row to `body`, in order.
    func forEach(_ body: ([CellValue]) throws -> Void) throws -> ResultOutcome
}

/// The end of a result.
struct ResultOutcome {
    var count = 0
    /// The faults of values in these rows, in sentences.
    var problems: [String] = []
}

extension ResultRows {
    /// The greatest number of measured rows that are kept rather than read again.
    private static var keptRows: Int { 2000 }

    /// Writes all rows in a format, and warnings about their values.
    func write(_ format: RowFormats, isSafe: Bool, to console: Console) throws {
        var writer = format.make(columns, width: console.columns, isSafe: isSafe)
        var measured: (rows: [[CellValue]], outcome: ResultOutcome)?
        if writer.needsAllRows {
            var rows: [[CellValue]] = []
            let outcome = try forEach { row in
                writer.measure(row)
                if rows.count <= Self.keptRows { rows.append(row) }
            }
            if rows.count <= Self.keptRows { measured = (rows, outcome) }
        }
        let outcome: ResultOutcome
        if let measured {
            for row in measured.rows { try writer.write(row, to: console.output) }
            outcome = measured.outcome
        } else {
            outcome = try forEach { try writer.write($0, to: console.output) }
        }
        try writer.finish(rowCount: outcome.count, to: console.output)
        for problem in outcome.problems { try console.warn(problem) }
    }
}
