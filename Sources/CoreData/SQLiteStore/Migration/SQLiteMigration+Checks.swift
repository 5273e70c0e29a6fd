import Foundation

// What the common steps of migrations use.
extension SQLiteMigration {
    var checks: SQLMigrationChecks {
        SQLMigrationChecks(plan: plan, store: "at \(connection.path)", userInfo: ["NSFilePath": connection.path])
    }

    func run(_ sql: String) throws { try connection.execute(sql) }

    @discardableResult
    func execute(_ statement: SQLStatement) throws -> Int {
        try connection.run(statement.sql, statement.values)
        return Int(connection.changes)
    }

    func integer(_ statement: SQLStatement) throws -> Int64? { try connection.integer(statement.sql, statement.values) }

    func texts(_ sql: String, count: Int, _ body: (Int64, [String?]) -> Void) throws {
        try connection.query(sql) { row in body(row.int64(0), (0..<count).map { row.string(Int32($0 + 1)) }) }
    }
}
