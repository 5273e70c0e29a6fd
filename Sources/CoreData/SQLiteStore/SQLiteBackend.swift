import Foundation
import Synchronization

/// Everything an open store needs for requests: connections, mapping, caches and prepared plans.
final class SQLiteBackend: Sendable {
    let pool: SQLiteConnectionPool
    let mapping: SQLMapping
    /// The columns of each table.
    let columns: [String: [String]]
    /// Whether saves write history.
    let tracksHistory: Bool
    /// The plans by layout index, then by whether subentities are included. The lock guards the
    /// plans.
    private let plans: Mutex<[[SelectPlan<RowDecoder>?]]>
    /// Guards the table of plans for relationships.
    let relatedRowsPlans = Mutex<[RelatedRowsPlanKey: RelatedRowsPlan]>([:])
    /// The statements of earlier fetches.
    let fetchStatements: FetchStatements
    /// The tables whose `Z_MAX` was compared with the real keys, by layout index of the root. The
    /// lock guards the set.
    private let checkedKeys = Mutex<Set<Int>>([])
    /// The row caches, by layout index of the root entity.
    let rowCaches: [RowCache]

    init(
        pool: SQLiteConnectionPool, mapping: SQLMapping, columns: [String: [String]], tracksHistory: Bool, rowCaches: [RowCache]
    ) {
        self.pool = pool
        self.mapping = mapping
        self.columns = columns
        self.tracksHistory = tracksHistory
        self.rowCaches = rowCaches
        fetchStatements = FetchStatements(layoutCount: mapping.layouts.layouts.count)
        plans = Mutex(Array(repeating: [nil, nil], count: mapping.layouts.layouts.count))
    }

    /// Returns the same store pinned to its current state, with its own row caches.
    ///
    /// A connection with an open read transaction keeps the state.
    func pinned() throws -> SQLiteBackend {
        SQLiteBackend(
            pool: try SQLiteConnectionPool(pinning: pool), mapping: mapping, columns: columns, tracksHistory: tracksHistory,
            rowCaches: rowCaches.map { _ in RowCache() })
    }

    func hasCheckedKeys(of root: SQLEntity) -> Bool { checkedKeys.withLock { $0.contains(root.layout.index) } }

    /// Records that a table's `Z_MAX` is not below its real keys.
    ///
    /// Call only after the commit: a rollback also restores `Z_MAX`.
    func noteCheckedKeys(of root: SQLEntity) { _ = checkedKeys.withLock { $0.insert(root.layout.index) } }

    /// The store's external files; nil for a store in memory.
    var externalFiles: ExternalFiles? { pool.supersededFiles?.files }

    /// The result columns for whole rows of an entity.
    func selectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<RowDecoder> {
        let index = entity.layout.index
        let column = includesSubentities ? 1 : 0
        if let known = plans.withLock({ $0[index][column] }) { return known }
        let selected = SelectColumns(
            entity, includesSubentities: includesSubentities, in: mapping, present: columns[entity.table.name].map(Set.init))
        let plan = SelectPlan(selected, mapping: mapping) { entity in
            RowDecoder(entity: entity, mapping: mapping, externalFiles: externalFiles, columnIndex: selected.positions)
        }
        plans.withLock { $0[index][column] = plan }
        return plan
    }

    func rowCache(of layout: EntityLayout) -> RowCache { rowCaches[layout.rootIndex] }

    /// The mapping of an entity.
    func entity(_ layout: EntityLayout) throws -> SQLEntity { try mapping.requiredEntity(layout) }
}
