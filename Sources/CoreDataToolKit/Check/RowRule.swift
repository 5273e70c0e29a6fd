/// A rule for the rows of a table: what rows break it, and what mends them.
struct RowRule {
    let kind: FindingKind
    let table: String
    var entity: String?
    var property: String?
    /// An SQL condition on the table's alias `t`, true for a row that breaks the rule.
    let condition: String
    /// Looks at a column of the rows that meet the condition, where SQL alone cannot decide.
    var test: Test?
    /// The columns that name a row.
    var key = ["Z_PK"]
    /// The fault, as the end of a sentence that begins with the property or table and the number
    /// of rows.
    let fault: String
    var mend: Mend?

    struct Test {
        let column: String
        /// Whether a value breaks the rule.
        let isBroken: (SQLiteReader.Value) -> Bool
    }

    fileprivate var source: String { "\(SQLiteReader.identifier(table)) t" }

    fileprivate func sentence(_ count: Int64, _ examples: [String]) -> String {
        let list = examples.joined(separator: ", ") + (count > Int64(examples.count) ? ", …" : "")
        if let entity, let property {
            return "\(entity).\(property) of \(count) \(count == 1 ? "object" : "objects") (\(list)) \(fault)."
        }
        return "\(count) \(count == 1 ? "row" : "rows") of \(table) (\(list)): \(fault)."
    }
}

/// Finds the rows that break rules.
struct RowRules {
    let store: CheckedStore
    private var reader: SQLiteReader { store.reader }
    /// The greatest number of rules that one statement counts.
    private static let group = 50

    init(_ store: CheckedStore) { self.store = store }

    /// Returns a finding for each rule of one table that rows break.
    ///
    /// Damaged pages give a finding in place of those of the rules.
    func findings(_ rules: [RowRule]) throws -> [StoreFinding] {
        var findings: [StoreFinding] = []
        let plain = rules.filter { $0.test == nil }
        for start in stride(from: 0, to: plain.count, by: Self.group) {
            let group = Array(plain[start..<min(start + Self.group, plain.count)])
            try guarded(group[0].table, &findings) { findings in
                for (rule, count) in zip(group, try counts(group)) where count > 0 {
                    findings.append(try finding(rule, count))
                }
            }
        }
        for rule in rules where rule.test != nil {
            try guarded(rule.table, &findings) { findings in
                if let finding = try testing(rule) { findings.append(finding) }
            }
        }
        return findings
    }

    private func guarded(
        _ table: String, _ findings: inout [StoreFinding], _ body: (inout [StoreFinding]) throws -> Void
    ) throws {
        do {
            try body(&findings)
        } catch let failure as SQLiteReader.Failure where failure.isOfPages || failure.isEndless {
            findings.append(Self.unreadable(table, failure))
        }
    }

    /// Returns the finding that a table cannot be read as a whole.
    static func unreadable(_ table: String, _ failure: SQLiteReader.Failure) -> StoreFinding {
        StoreFinding(
            kind: .integrity, table: table, count: 1, examples: [],
            sentence: "The table \(table) is damaged (\(failure.message)): not all its values can be read.")
    }

    private func counts(_ rules: [RowRule]) throws -> [Int64] {
        let list = rules.map { "count(CASE WHEN \($0.condition) THEN 1 END)" }.joined(separator: ", ")
        let row = try reader.rows("SELECT \(list) FROM \(rules[0].source)").first ?? []
        return row.map { $0.integer ?? 0 }
    }

    private func finding(_ rule: RowRule, _ count: Int64) throws -> StoreFinding {
        let rows = try reader.rows(
            "SELECT \(columns(rule)) FROM \(rule.source) WHERE \(rule.condition) ORDER BY 1 "
                + "LIMIT \(StoreFinding.exampleCount)")
        return make(rule, count, rows)
    }

    private func testing(_ rule: RowRule) throws -> StoreFinding? {
        guard let test = rule.test else { return nil }
        var (count, rows): (Int64, [[SQLiteReader.Value]]) = (0, [])
        try reader.forEachRow(
            "SELECT t.\(SQLiteReader.identifier(test.column)), \(columns(rule)) FROM \(rule.source) "
                + "WHERE \(rule.condition)"
        ) { row in
            guard test.isBroken(row[0]) else { return }
            count += 1
            if rows.count < StoreFinding.exampleCount { rows.append(Array(row.dropFirst())) }
        }
        return count == 0 ? nil : make(rule, count, rows)
    }

    /// The columns that name a row, and its entity number.
    private func columns(_ rule: RowRule) -> String {
        let isOfEntity = store.tables.contains { $0.name == rule.table }
        let names = rule.key + (isOfEntity ? ["Z_ENT"] : [])
        return names.map { "t.\(SQLiteReader.identifier($0))" }.joined(separator: ", ")
    }

    private func make(_ rule: RowRule, _ count: Int64, _ rows: [[SQLiteReader.Value]]) -> StoreFinding {
        let names = rows.map { row in
            if rule.key.count > 1 { return "(\(row.map(\.description).joined(separator: ", ")))" }
            return store.identity(row[0], number: row.dropFirst().first, in: rule.table)
        }
        let short = names.map { rule.property == nil ? $0 : ($0.split(separator: "/").last.map(String.init) ?? $0) }
        return StoreFinding(
            kind: rule.kind, table: rule.table, entity: rule.entity, property: rule.property, count: count,
            examples: names, sentence: rule.sentence(count, short), mend: rule.mend)
    }
}
