/// The rules for the tables of the persistent history.
struct HistoryRules {
    let store: CheckedStore

    /// The tables of the history with their numbers and names in `Z_PRIMARYKEY`.
    static let tables = [
        (table: "ACHANGE", number: 16_001, name: "CHANGE"),
        (table: "ATRANSACTION", number: 16_002, name: "TRANSACTION"),
        (table: "ATRANSACTIONSTRING", number: 16_003, name: "TRANSACTIONSTRING"),
    ]

    private func has(_ table: String, _ columns: String...) -> Bool {
        store.contents.tables[table] != nil && columns.allSatisfy { store.hasColumn($0, in: table) }
    }

    func rules(of table: String) -> [RowRule] {
        switch table {
        case "ACHANGE": changes
        case "ATRANSACTION": texts
        default: []
        }
    }

    private var changes: [RowRule] {
        guard has("ACHANGE", "Z_PK") else { return [] }
        var rules: [RowRule] = []
        func add(_ condition: String, _ fault: String) {
            rules.append(
                RowRule(
                    kind: .history, table: "ACHANGE", condition: condition, fault: fault,
                    mend: Mend("deletes the change", sql: "DELETE FROM ACHANGE AS t WHERE \(condition)")))
        }
        if has("ACHANGE", "ZTRANSACTIONID"), has("ATRANSACTION", "Z_PK") {
            add(
                "NOT EXISTS (SELECT 1 FROM ATRANSACTION d WHERE d.Z_PK = t.ZTRANSACTIONID)",
                "the change belongs to no transaction")
        }
        if has("ACHANGE", "ZENTITY"), has("Z_PRIMARYKEY", "Z_ENT") {
            add(
                "NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY d WHERE d.Z_ENT = t.ZENTITY)",
                "the change is of an entity that the store does not have")
        }
        return rules
    }

    /// Texts of transactions are in a table of their own.
    private var texts: [RowRule] {
        guard has("ATRANSACTION", "Z_PK"), has("ATRANSACTIONSTRING", "Z_PK") else { return [] }
        return ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"].filter {
            has("ATRANSACTION", $0)
        }.map { column in
            let condition =
                "t.\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ATRANSACTIONSTRING d WHERE d.Z_PK = t.\(column))"
            return RowRule(
                kind: .history, table: "ATRANSACTION", condition: condition,
                fault: "\(column) leads to a text that is not there",
                mend: Mend(
                    "clears it", sql: "UPDATE ATRANSACTION AS t SET \(column) = NULL WHERE \(condition)"))
        }
    }
}
