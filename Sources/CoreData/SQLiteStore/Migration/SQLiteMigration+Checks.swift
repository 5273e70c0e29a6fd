import Foundation

// Checks that depend on the rows: whether they fit the new model.
extension SQLiteMigration {
    var checks: SQLMigrationChecks {
        SQLMigrationChecks(plan: plan, store: "at \(connection.path)", userInfo: ["NSFilePath": connection.path])
    }

    /// Returns the error that names the entity and the values that several rows share; nil when
    /// there are none.
    func constraintViolation() throws -> NSError? {
        for check in checks.uniqueness() {
            var examples: [String] = []
            try connection.query(check.statement) { row in
                let values = (0..<check.columnCount).map { row.string(Int32($0 + 1)) }
                examples.append(SQLMigrationChecks.example(values, count: row.int64(0)))
            }
            if !examples.isEmpty { return check.error(examples.joined(separator: "; ")) }
        }
        return nil
    }

    /// - Throws: the error of the first count that is not 0.
    func require(_ counts: [SQLMigrationChecks.Count]) throws {
        for check in counts {
            let count = try connection.integer(check.statement.sql, check.statement.values)
            if let count, count > 0 { throw check.error(count) }
        }
    }
}
