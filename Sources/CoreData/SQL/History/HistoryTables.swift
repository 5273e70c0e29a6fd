/// The tables of `HistoryNaming`, as common table expressions over a store's own tables.
///
/// The values of its properties and arguments are SQL.
package struct HistoryTables {
    /// The beginning of each statement.
    let sql: SQLText
    /// The columns of preserved values.
    let tombstones: [String]

    /// The transactions: `a` is the alias of the store's table.
    package struct Transactions {
        let source: String
        let columns: [(name: String, value: String)]

        package init(
            from source: String, number: String, date: String, author: String, contextName: String, bundleID: String,
            processID: String
        ) {
            self.source = source
            columns = [
                (HistoryNaming().key, number), (HistoryModel.number, number), (HistoryModel.token, number),
                (HistoryModel.date, date), ("author", author), ("contextName", contextName), ("bundleID", bundleID),
                ("processID", processID),
            ]
        }
    }

    /// The changes of the transactions.
    package struct Changes {
        let source: String
        let columns: [(name: String, value: String)]
        let tombstones: [String]

        /// - Parameters:
        ///   - properties: what the store keeps of the properties that an update changed.
        ///   - tombstones: what it keeps of the values that a deletion preserves.
        package init(
            from source: String, number: String, transaction: String, kind: String, entity: String, key: String,
            properties: String, tombstones: [String]
        ) {
            self.source = source
            self.tombstones = tombstones.indices.map(HistoryNaming.tombstone)
            columns =
                [
                    (HistoryNaming().key, number), (HistoryModel.changeNumber, number),
                    (HistoryNaming.transactionKey, transaction), (HistoryModel.number, transaction),
                    (HistoryModel.token, transaction), ("changeType", kind), (HistoryModel.changedEntity, entity),
                    (HistoryModel.changedKey, key), (HistoryNaming.changedProperties, properties),
                ] + Array(zip(self.tombstones, tombstones))
        }
    }

    package init(_ transactions: Transactions, _ changes: Changes, _ dialect: some SQLDialect) {
        func table(_ name: String, _ source: String, _ columns: [(name: String, value: String)]) -> String {
            let list = columns.map { "\($0.value) AS \(dialect.identifier($0.name))" }.joined(separator: ", ")
            // A statement may read a table several times, each time few of its rows.
            return "\(name) AS NOT MATERIALIZED (SELECT \(list) FROM \(source))"
        }
        tombstones = changes.tombstones
        sql = SQLText(
            "WITH \(table(HistoryNaming.transactions, transactions.source, transactions.columns)), "
                + "\(table(HistoryNaming.changes, changes.source, changes.columns)) ")
    }

    /// Returns the mapping of the history's model to the tables.
    package static func mapping(_ dialect: any SQLDialect) throws -> SQLMapping {
        try SQLMapping(layouts: HistoryModel.layouts, dialect, HistoryNaming()) { _ in true }
    }
}
