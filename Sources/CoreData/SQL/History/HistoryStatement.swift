import Foundation

/// The statements of one fetch of a store's history, and the conversion of their rows.
///
/// They read the tables of `HistoryNaming`, which the store puts before each of them as common table
/// expressions.
struct HistoryStatement {
    /// Selects transactions; nil where the fetch needs none.
    let transactions: SQLText?
    /// Selects changes; nil where the fetch needs none.
    let changes: SQLText?

    private static let transactionColumns = [
        HistoryModel.number, HistoryModel.date, "author", "contextName", "bundleID", "processID",
    ]
    private static let changeColumns = [
        HistoryModel.changeNumber, HistoryModel.number, "changeType", HistoryModel.changedEntity,
        HistoryModel.changedKey, HistoryNaming.changedProperties,
    ]

    /// - Parameter tombstones: the number of columns for preserved values.
    init(_ fetch: HistoryFetch, _ generator: SQLGenerator, tombstones: Int) throws {
        let changeColumns = Self.changeColumns + (0..<tombstones).map(HistoryNaming.tombstone)
        switch fetch.subject {
        case .transactions:
            transactions = try Self.select(Self.transactionColumns, fetch.rows, generator)
            changes =
                fetch.wantsChanges ? try Self.select(changeColumns, .changes, with: fetch, generator) : nil
        case .changes:
            changes = try Self.select(changeColumns, fetch.rows, generator)
            transactions = try Self.select(Self.transactionColumns, .transactions, with: fetch, generator)
        }
    }

    /// Returns the statement that counts the rows that a fetch is about.
    static func count(_ fetch: HistoryFetch, _ generator: SQLGenerator) throws -> SQLText {
        var rows = fetch.rows
        rows.sortDescriptors = []
        return "SELECT COUNT(*) FROM " + generator.dialect.table(of: try select([HistoryModel.number], rows, generator))
    }

    private static func select(_ columns: [String], _ fetch: StoreFetch, _ generator: SQLGenerator) throws -> SQLText {
        let scope = generator.newScope(try generator.entity(fetch.entity))
        let condition = try fetch.predicate.map { try generator.condition($0, in: SQLEnvironment(scope: scope)) }
        let order = try generator.order(fetch.sortDescriptors, in: scope)
        return "SELECT " + columns.map { generator.column(scope.alias, $0) }.joined(separator: ", ")
            + generator.source(scope, where: [condition], includesSubentities: true) + order
            + generator.dialect.limits(fetch.limit, offset: fetch.offset)
    }

    /// Returns the statement for the rows of one kind that belong to the rows of the other kind that
    /// a fetch is about.
    private static func select(
        _ columns: [String], _ subject: HistoryFetch.Subject, with fetch: HistoryFetch, _ generator: SQLGenerator
    ) throws -> SQLText {
        let scope = generator.newScope(try generator.entity(subject.entity))
        var others = fetch.rows
        // Without a limit the order makes no difference.
        if others.limit == 0, others.offset == 0 { others.sortDescriptors = [] }
        let belongs =
            generator.column(scope.alias, HistoryModel.number) + " IN ("
            + (try select([HistoryModel.number], others, generator)) + ")"
        let order = try generator.order(HistoryFetch(subject).rows.sortDescriptors, in: scope)
        return "SELECT " + columns.map { generator.column(scope.alias, $0) }.joined(separator: ", ")
            + generator.source(scope, where: [belongs], includesSubentities: true) + order
    }

    // MARK: Rows

    static func transaction(_ row: some SQLRow) -> HistoryTransaction {
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
    ///   - tombstones: the number of columns for preserved values.
    ///   - changedSlots: reads the properties that an update changed from a column.
    static func change(
        _ row: some SQLRow, _ mapping: SQLMapping, tombstones: Int,
        changedSlots: (_ column: Int32, EntityLayout) throws -> [Int]
    ) rethrows -> HistoryChange? {
        guard let kind = HistoryChange.Kind(rawValue: row.int64(2)),
            let index = mapping.layoutIndex(forNumber: row.int64(3))
        else { return nil }
        let layout = mapping.layouts.layouts[index]
        var change = HistoryChange(
            number: row.int64(0), transaction: row.int64(1), kind: kind,
            row: RowReference(key: row.int64(4), layoutIndex: index))
        switch kind {
        case .insert: break
        case .update: change.slots = try changedSlots(5, layout)
        case .delete:
            change.preserved = layout.preservedSlots.prefix(tombstones).enumerated().map { place, slot in
                row.storedValue(Int32(6 + place), as: layout.slots[slot].kind)
            }
        }
        return change
    }
}
