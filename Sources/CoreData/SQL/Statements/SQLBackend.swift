import Synchronization

/// The parts of an open store in a database that requests use.
package protocol SQLBackend: AnyObject, Sendable {
    associatedtype Decoder: AnyObject

    var mapping: SQLMapping { get }
    /// The row caches, by layout index of the root entity.
    var rowCaches: [RowCache] { get }
    var plans: ReadingPlans<Decoder> { get }

    func makeSelectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<Decoder>
}

/// The plans for reading rows, made at first use. The locks guard the tables of plans.
package final class ReadingPlans<Decoder: AnyObject>: Sendable {
    /// By layout index, then by whether subentities are included.
    fileprivate let selects: Mutex<[[SelectPlan<Decoder>?]]>
    fileprivate let relatedRows = Mutex<[RelatedRowsKey: RelatedRowsPlan<Decoder>]>([:])
    fileprivate let fetches: FetchStatements

    package init(_ mapping: SQLMapping) {
        let count = mapping.layouts.layouts.count
        selects = Mutex(Array(repeating: [nil, nil], count: count))
        fetches = FetchStatements(layoutCount: count)
    }
}

private struct RelatedRowsKey: Hashable {
    let layoutIndex: Int
    let slot: Int
    let owners: SQLKeys.Form
    let readsTable: Bool
}

/// The plan that reads the rows related to one row, or to many, through one relationship.
package final class RelatedRowsPlan<Decoder: AnyObject>: Sendable {
    package let sql: String
    package let select: SelectPlan<Decoder>
    /// Whether the rows are found by their own foreign key, so that no row belongs to two owners.
    package let isInverse: Bool
    /// The position of the owner's key in each result row.
    package let owner: OwnerKey
    /// Measures whether reading the whole table is faster; nil where that is not measured.
    let share: ShareOfTable?
    /// The number of rows of the last owner.
    private let lastCount = Atomic<Int>(16)

    /// - Parameter share: set for a plan that reads rows by an index of their foreign key.
    init(_ statement: RelatedRowsStatement, _ select: SelectPlan<Decoder>, _ share: ShareOfTable?) {
        sql = statement.sql
        self.select = select
        self.share = share
        isInverse = statement.isInverse
        owner = statement.owner
    }

    /// The expected number of rows of one owner.
    var expectedRows: Int { lastCount.load(ordering: .relaxed) }

    func noteRows(_ count: Int) { lastCount.store(max(1, count), ordering: .relaxed) }
}

/// The SQL of a fetch for rows, references or a count, and the values to bind.
package struct SQLFetch {
    package let sql: String
    package let arguments: [SQLArgument]
    package let entity: SQLEntity
    /// Whether earlier fetches had the same SQL.
    package let isKept: Bool
}

extension SQLBackend {
    package func rowCache(of layout: EntityLayout) -> RowCache { rowCaches[layout.rootIndex] }

    package func entity(_ layout: EntityLayout) throws -> SQLEntity { try mapping.requiredEntity(layout) }

    /// Returns the result columns for whole rows of an entity.
    package func selectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<Decoder> {
        let index = entity.layout.index
        let column = includesSubentities ? 1 : 0
        if let known = plans.selects.withLock({ $0[index][column] }) { return known }
        let plan = makeSelectPlan(entity, includesSubentities: includesSubentities)
        plans.selects.withLock { $0[index][column] = plan }
        return plan
    }

    /// Returns the plan for the destination rows of some owners.
    ///
    /// - Parameter readsTable: whether to read the whole table in order.
    package func relatedRowsPlan(
        _ slot: PropertySlot, of entity: EntityLayout, _ owners: SQLKeys.Form, readsTable: Bool = false
    ) throws -> RelatedRowsPlan<Decoder> {
        let key = RelatedRowsKey(layoutIndex: entity.index, slot: slot.index, owners: owners, readsTable: readsTable)
        if let known = plans.relatedRows.withLock({ $0[key] }) { return known }
        let owner = try self.entity(entity)
        let select = selectPlan(try mapping.destination(of: slot, of: entity), includesSubentities: true)
        let statement = try mapping.relatedRows(
            slot, of: owner, to: select.columns, owners: owners, readsTable: readsTable)
        let plan = RelatedRowsPlan(statement, select, readsTable ? nil : ShareOfTable(statement, owners, mapping))
        plans.relatedRows.withLock { $0[key] = plan }
        return plan
    }

    /// Returns the statement of a fetch: that of an earlier fetch of the same shape, if there is
    /// one.
    package func statement(for fetch: StoreFetch, in store: AnyObject) throws -> SQLFetch {
        let generator = SQLGenerator(mapping: mapping, store: store)
        if let (kept, arguments) = plans.fetches.statement(for: fetch, generator) {
            return SQLFetch(sql: kept.sql, arguments: arguments, entity: kept.entity, isKept: true)
        }
        let entity = try generator.entity(fetch.entity)
        let text = try generator.fetch(fetch, entity) {
            selectPlan(entity, includesSubentities: fetch.includesSubentities).columns
        }
        let made = text.statement(mapping.dialect)
        if let kept = FetchStatement(fetch, entity: entity, statement: made) { plans.fetches.keep(kept) }
        return SQLFetch(sql: made.sql, arguments: made.arguments, entity: entity, isKept: false)
    }
}
