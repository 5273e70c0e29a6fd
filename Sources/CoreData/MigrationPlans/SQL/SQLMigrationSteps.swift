/// The steps of a migration that are the same in every database. They run in one transaction.
package protocol SQLMigrationSteps {
    var plan: SQLMigrationPlan { get }
    var checks: SQLMigrationChecks { get }
    var progress: MigrationProgress { get }

    /// Runs a statement without arguments or results.
    func run(_ sql: String) throws

    /// - Returns: the number of rows that the statement wrote.
    @discardableResult
    func execute(_ statement: SQLStatement) throws -> Int

    /// Returns the number in the first column of the first row.
    func integer(_ statement: SQLStatement) throws -> Int64?

    /// Runs a query and passes each row to a block: its first column as a number, the others as
    /// texts.
    func texts(_ sql: String, count: Int, _ body: (Int64, [String?]) -> Void) throws
}

extension SQLMigrationSteps {
    /// Checks before any change that no row would be lost, and that each fits the new model.
    package func checkFormerRows() throws {
        let checks = checks
        try require(checks.unknownEntities())
        try require(checks.unfittingObjects())
    }

    /// Checks at the end that objects have the objects that a relationship requires now.
    package func checkRequiredRelationships() throws { try require(checks.requiredRelationships()) }

    /// - Throws: the error of the first count that is not 0.
    private func require(_ counts: [SQLMigrationChecks.Count]) throws {
        for check in counts {
            let count = try integer(check.statement)
            if let count, count > 0 { throw check.error(count) }
        }
    }

    /// Returns the error that names the entity and the values that several rows share; nil when
    /// there are none.
    package func constraintViolation() throws -> (any Error)? {
        for check in checks.uniqueness() {
            var examples: [String] = []
            try texts(check.statement, count: check.columnCount) { count, values in
                examples.append("\(values.map { "'\($0 ?? "")'" }.joined(separator: ", ")) (\(count) objects)")
            }
            if !examples.isEmpty { return check.error(examples.joined(separator: "; ")) }
        }
        return nil
    }

    /// Copies the rows of former tables, in steps that report progress.
    package func copyRows() throws {
        let dialect = plan.dialect
        let counts = try plan.copies.map { copy in
            try integer(SQLStatement(sql: "SELECT count(*) FROM \(dialect.identifier(copy.sourceName))", arguments: []))
                ?? 0
        }
        let total = max(1, counts.reduce(0, +))
        var done: Int64 = 0
        for (copy, count) in zip(plan.copies, counts) {
            let statement = copy.statement
            let arguments = Array(statement.arguments.dropLast(2))
            let number = copy.rowNumber
            var last = Int64.min
            var copied: Int64 = 0
            while copied < count {
                let next =
                    "SELECT \(number) FROM \(dialect.identifier(copy.sourceName)) WHERE \(number) > "
                    + SQLText(value: .integer(last), kind: .int64) + " ORDER BY \(number) LIMIT 1 OFFSET "
                    + SQLText(value: .integer(copy.rowsPerStep - 1), kind: .int64)
                let end = try integer(next.statement(dialect)) ?? Int64.max
                let range = [last, end].map { SQLArgument(.integer($0), kind: .int64) }
                try execute(SQLStatement(sql: statement.sql, arguments: arguments + range))
                copied += copy.rowsPerStep
                last = end
                progress.report(0.7 * Double(done + min(copied, count)) / Double(total))
                if end == Int64.max { break }
            }
            done += count
        }
    }

    /// Sets hidden keys and positions that rows did not have before.
    package func setKeysAndPositions() throws {
        for copy in plan.hiddenKeys {
            try require([checks.owners(copy)].compactMap { $0 })
            try execute(copy.statement)
        }
        for links in plan.oneWayLinks {
            // A database may refuse to remove a required one, without its name.
            if let check = checks.required(links) { try require([check]) } else { try execute(links.removal) }
        }
        for positions in plan.positions {
            let statements = plan.dialect.numberRows(
                of: positions.table, by: positions.owner, inOrderOf: positions.key, in: positions.position,
                step: SQLPositions.step)
            for statement in statements { try run(statement) }
        }
    }

    package func deriveAttributes() throws {
        let statements = try SQLSchema(mapping: plan.target).derivations().compactMap { try $0.recomputation() }
        // Repeated for values derived from derived values, until nothing changes.
        for _ in statements.indices {
            var changes = 0
            for statement in statements { changes += try execute(SQLStatement(sql: statement, arguments: [])) }
            if changes == 0 { break }
        }
    }
}
