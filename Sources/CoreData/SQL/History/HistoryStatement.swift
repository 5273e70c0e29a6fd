import Foundation

/// The statements of one fetch of a store's history, and the conversion of their rows.
///
/// They read `HistoryTables`.
package struct HistoryStatement {
    /// Selects transactions.
    package let transactions: SQLStatement
    /// Selects changes; nil where the fetch needs none.
    package let changes: SQLStatement?

    private static let transactionColumns = [
        HistoryModel.number, HistoryModel.date, "author", "contextName", "bundleID", "processID",
    ]
    private static let changeColumns = [
        HistoryModel.changeNumber, HistoryModel.number, "changeType", HistoryModel.changedEntity,
        HistoryModel.changedKey, HistoryNaming.changedProperties,
    ]

    /// - Parameter generator: has the mapping of `HistoryTables`.
    package init(_ fetch: HistoryFetch, of tables: HistoryTables, _ generator: SQLGenerator) throws {
        let changeColumns = Self.changeColumns + tables.tombstones
        let transactions: SQLText
        let changes: SQLText?
        switch fetch.subject {
        case .transactions:
            transactions = try Self.select(Self.transactionColumns, fetch.rows, generator)
            changes =
                fetch.wantsChanges
                ? try Self.select(changeColumns, HistoryFetch(.changes).rows, of: fetch, generator) : nil
        case .changes:
            changes = try Self.select(changeColumns, fetch.rows, generator)
            transactions = try Self.select(
                Self.transactionColumns, HistoryFetch(.transactions).rows, of: fetch, generator)
        }
        self.transactions = (tables.sql + transactions).statement(generator.dialect)
        self.changes = changes.map { (tables.sql + $0).statement(generator.dialect) }
    }

    /// Returns the statement that counts the rows that a fetch is about.
    package static func count(
        _ fetch: HistoryFetch, of tables: HistoryTables, _ generator: SQLGenerator
    ) throws -> SQLStatement {
        var rows = fetch.rows
        rows.sortDescriptors = []
        let counted = generator.dialect.table(of: try select([HistoryModel.number], rows, generator))
        return (tables.sql + "SELECT COUNT(*) FROM " + counted).statement(generator.dialect)
    }

    /// - Parameter other: selects only rows that belong to those of the other kind that this fetch
    ///   is about.
    private static func select(
        _ columns: [String], _ fetch: StoreFetch, of other: HistoryFetch? = nil, _ generator: SQLGenerator
    ) throws -> SQLText {
        let scope = generator.newScope(try generator.entity(fetch.entity))
        var conditions = [try fetch.predicate.map { try generator.condition($0, in: SQLEnvironment(scope: scope)) }]
        if var others = other?.rows {
            // Without a limit the order makes no difference.
            if others.limit == 0, others.offset == 0 { others.sortDescriptors = [] }
            let numbers = try select([HistoryModel.number], others, generator)
            conditions.append(generator.column(scope.alias, HistoryModel.number) + " IN (" + numbers + ")")
        }
        let order = try generator.order(fetch.sortDescriptors, in: scope)
        return "SELECT " + columns.map { generator.column(scope.alias, $0) }.joined(separator: ", ")
            + generator.source(scope, where: conditions, includesSubentities: true) + order
            + generator.dialect.limits(fetch.limit, offset: fetch.offset)
    }

    // MARK: Rows

    package static func transaction(_ row: some SQLRow) -> HistoryTransaction {
        var transaction = HistoryTransaction(
            number: row.int64(0), date: Date(timeIntervalSinceReferenceDate: row.double(1)))
        transaction.author = row.string(2)
        transaction.contextName = row.string(3)
        transaction.bundleID = row.string(4) ?? ""
        transaction.processID = row.string(5) ?? ""
        return transaction
    }

    /// Returns a change; nil for one of an entity that the model does not have.
    ///
    /// - Parameters:
    ///   - changedSlots: reads the properties that an update changed from a column.
    ///   - preserved: reads the values that a deletion preserved from the columns that begin with
    ///     one.
    package static func change(
        _ row: some SQLRow, _ mapping: SQLMapping,
        changedSlots: (_ column: Int32, EntityLayout) throws -> [Int],
        preserved: (_ column: Int32, EntityLayout) throws -> [StoredValue]
    ) rethrows -> HistoryChange? {
        guard let kind = NSPersistentHistoryChangeType(rawValue: Int(row.int64(2))),
            let index = mapping.layoutIndex(forNumber: row.int64(3))
        else { return nil }
        let layout = mapping.layouts.layouts[index]
        var change = HistoryChange(
            number: row.int64(0), transaction: row.int64(1), kind: kind,
            row: RowReference(key: row.int64(4), layoutIndex: index))
        switch kind {
        case .insert: break
        case .update: change.slots = try changedSlots(5, layout)
        case .delete: change.preserved = try preserved(6, layout)
        }
        return change
    }
}
